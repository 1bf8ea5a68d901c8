// Eigenvalues of a small symmetric matrix.
#pragma once

#include <cmath>

#include "engine/core/vec3.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// matrix = axes diag(values) axes^T, 3 x 3 by rows, by Jacobi's rotations; axes are columns. Rounding.
ISOCLOTH_HD void symmetric_eigen(const double (&matrix)[9], double (&values)[3], double (&axes)[9]) {
  double m[3][3];
  for (int i = 0; i < 9; ++i) {
    m[i / 3][i % 3] = matrix[i];
    axes[i] = i % 4 == 0 ? 1 : 0;
  }
  for (int rotation = 0; rotation < 24; ++rotation) {  // eight sweeps: convergence is quadratic
    const int p = rotation % 3 == 2 ? 1 : 0, q = rotation % 3 == 0 ? 1 : 2;
    if (m[p][q] == 0) continue;
    const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
    const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
    const double c = 1 / std::sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; ++k) {
      const double a = m[k][p], b = m[k][q];
      m[k][p] = c * a - s * b;
      m[k][q] = s * a + c * b;
    }
    for (int k = 0; k < 3; ++k) {
      const double a = m[p][k], b = m[q][k];
      m[p][k] = c * a - s * b;
      m[q][k] = s * a + c * b;
      const double x = axes[3 * k + p], y = axes[3 * k + q];
      axes[3 * k + p] = c * x - s * y;
      axes[3 * k + q] = s * x + c * y;
    }
  }
  for (int i = 0; i < 3; ++i) values[i] = m[i][i];
}

}  // namespace isocloth::ISOCLOTH_BACKEND

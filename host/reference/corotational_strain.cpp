#include "host/reference/corotational_strain.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace isocloth::reference {
namespace {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Principal stretches and axes of a point whose rows of F^T F - I are `green`.
struct PrincipalStretches {
  Eigen::Vector2d values;
  Matrix2d axes;
  explicit PrincipalStretches(const Vector3d& green) {
    Matrix2d squared;
    squared << 1 + green[0], green[1], green[1], 1 + green[2];
    const Eigen::SelfAdjointEigenSolver<Matrix2d> found(squared);
    values = found.eigenvalues().cwiseMax(1e-12).cwiseSqrt();
    axes = found.eigenvectors();
  }
};

Vector3d rows_of(const Matrix2d& symmetric) {
  return {2 * symmetric(0, 0), 2 * symmetric(0, 1), 2 * symmetric(1, 1)};
}

/// Adds a times the third row to the first.
Matrix3d coupling_of(double a) {
  Matrix3d matrix = Matrix3d::Identity();
  matrix(0, 2) = a;
  return matrix;
}

}  // namespace

VectorXd CorotationalStrain::of(const VectorXd& quadratic) const {
  VectorXd strains = quadratic;
  for (Eigen::Index point = 0; point < point_count_; ++point) {
    const PrincipalStretches s(coupling_of(-coupling_) * quadratic.segment<3>(3 * point));
    const Matrix2d strain = s.axes * (s.values.array() - 1).matrix().asDiagonal() * s.axes.transpose();
    strains.segment<3>(3 * point) = coupling_of(coupling_) * rows_of(strain);
  }
  return strains;
}

SparseMatrix CorotationalStrain::derivative(const VectorXd& quadratic) const {
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index point = 0; point < point_count_; ++point) {
    const PrincipalStretches s(coupling_of(-coupling_) * quadratic.segment<3>(3 * point));
    Matrix3d block;
    for (int w = 0; w < 3; ++w) {
      Matrix2d change = Matrix2d::Zero();
      change(w / 2, (w + 1) / 2) = change((w + 1) / 2, w / 2) = 1;
      change = s.axes.transpose() * change * s.axes;
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) change(i, j) /= s.values[i] + s.values[j];
      block.col(w) = rows_of(s.axes * change * s.axes.transpose());
    }
    block = coupling_of(coupling_) * block * coupling_of(-coupling_);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        entries.emplace_back(static_cast<int>(3 * point + i), static_cast<int>(3 * point + j), block(i, j));
  }
  for (Eigen::Index row = 3 * point_count_; row < quadratic.size(); ++row)
    entries.emplace_back(static_cast<int>(row), static_cast<int>(row), 1.0);
  SparseMatrix result(quadratic.size(), quadratic.size());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace isocloth::reference

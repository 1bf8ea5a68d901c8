// Systems that are not symmetric, near one that is: on vectors of the host.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace isocloth {

/// What gmres() returns: b = A x to the tolerance, or after the last iteration.
struct GmresSolution {
  std::vector<double> x;
  int iterations = 0;
  bool is_met = false;
};

/// x of A x = b by generalised minimal residuals (Saad and Schultz 1986), in the norm r . P^-1 r of a
/// symmetric positive definite P near A: |b - A x| <= rtol |b|. multiply(z) is A z, inverse(r) P^-1 r; all
/// vectors are flat. It keeps two vectors for each of its at most `most` iterations.
template <class Multiply, class Precondition>
GmresSolution gmres(const Multiply& multiply, const Precondition& inverse, const std::vector<double>& b,
                    double rtol, int most) {
  using Vector = std::vector<double>;
  const auto dot_of = [](const Vector& u, const Vector& v) {
    double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
    return sum;
  };
  const auto add = [](double factor, const Vector& from, Vector& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
  };
  const auto scale = [](double factor, Vector& v) {
    for (double& x : v) x *= factor;
  };
  GmresSolution found{.x = Vector(b.size())};
  // Orthonormal v in the product u . P^-1 v, with z = P^-1 v; A z_j = sum_i h_ij v_i.
  std::vector<Vector> v{b}, z{inverse(b)};
  const double size = std::sqrt(dot_of(v[0], z[0]));
  if (!(size > 0)) {
    found.is_met = size == 0;
    return found;
  }
  scale(1 / size, v[0]);
  scale(1 / size, z[0]);
  std::vector<Vector> triangle;  // h after its rotations, column by column
  std::vector<std::pair<double, double>> rotations;
  Vector side{size};
  while (found.iterations < most && !found.is_met) {
    const std::size_t j = static_cast<std::size_t>(found.iterations++);
    Vector next = multiply(z[j]), column(j + 2);
    // Twice: what is left of rounding the second time is rounding.
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t i = 0; i <= j; ++i) {
        const double h = dot_of(next, z[i]);
        column[i] += h;
        add(-h, v[i], next);
      }
    Vector solved = inverse(next);
    const double left = std::sqrt(std::fmax(dot_of(next, solved), 0));
    column[j + 1] = left;
    for (std::size_t i = 0; i < j; ++i) {
      const auto [c, s] = rotations[i];
      const double above = column[i], below = column[i + 1];
      column[i] = c * above + s * below;
      column[i + 1] = c * below - s * above;
    }
    const double length = std::hypot(column[j], column[j + 1]);
    if (!(length > 0)) break;  // singular, or not finite
    rotations.emplace_back(column[j] / length, column[j + 1] / length);
    column[j] = length;
    side.push_back(-rotations[j].second * side[j]);
    side[j] *= rotations[j].first;
    column.pop_back();
    triangle.push_back(std::move(column));
    found.is_met = std::abs(side[j + 1]) <= rtol * size;
    if (found.is_met || !(left > 0)) break;
    scale(1 / left, next);
    scale(1 / left, solved);
    v.push_back(std::move(next));
    z.push_back(std::move(solved));
  }
  for (std::size_t j = triangle.size(); j-- > 0;) {
    for (std::size_t k = j + 1; k < triangle.size(); ++k) side[j] -= triangle[k][j] * side[k];
    side[j] /= triangle[j][j];
    add(side[j], z[j], found.x);
  }
  return found;
}

}  // namespace isocloth

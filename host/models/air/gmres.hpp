// Generalised minimal residuals for an operator that is a function.
#pragma once

#include <Eigen/Core>
#include <Eigen/Jacobi>
#include <cmath>
#include <vector>

namespace isocloth {

struct GmresResult {
  Eigen::VectorXd x;
  int products = 0;
  bool is_solved = false;
};

/// x with |A x - b| <= tolerance |b| (Saad, Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986), preconditioned
/// from the right so that the residual is that of the system itself; without restarts, `most` directions.
/// product(v) = A v; precondition(v): about A^-1 v.
template <class Product, class Precondition>
GmresResult gmres(const Product& product, const Precondition& precondition, const Eigen::VectorXd& b,
                  const Eigen::VectorXd& start, double tolerance, int most) {
  const double least = tolerance * b.norm();
  GmresResult result{start, 1, false};
  const Eigen::VectorXd residual = b - product(start);
  const double first = residual.norm();
  result.is_solved = first <= least;
  if (result.is_solved || !std::isfinite(first)) return result;

  std::vector<Eigen::VectorXd> basis{residual / first}, preconditioned;
  Eigen::MatrixXd triangle = Eigen::MatrixXd::Zero(most + 1, most);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(most + 1);
  right(0) = first;
  std::vector<Eigen::JacobiRotation<double>> rotations;
  int k = 0;
  while (k < most && !result.is_solved) {
    preconditioned.push_back(precondition(basis.back()));
    Eigen::VectorXd next = product(preconditioned.back());
    ++result.products;
    for (int i = 0; i <= k; ++i) {
      triangle(i, k) = basis[static_cast<std::size_t>(i)].dot(next);
      next -= triangle(i, k) * basis[static_cast<std::size_t>(i)];
    }
    const double length = next.norm();
    triangle(k + 1, k) = length;
    if (!std::isfinite(length)) break;
    for (int i = 0; i < k; ++i)
      triangle.col(k).applyOnTheLeft(i, i + 1, rotations[static_cast<std::size_t>(i)].adjoint());
    Eigen::JacobiRotation<double> rotation;
    rotation.makeGivens(triangle(k, k), length);
    triangle.col(k).applyOnTheLeft(k, k + 1, rotation.adjoint());
    right.applyOnTheLeft(k, k + 1, rotation.adjoint());
    rotations.push_back(rotation);
    ++k;
    result.is_solved = std::fabs(right(k)) <= least;
    if (!(length > 0)) break;
    basis.push_back(next / length);
  }
  const Eigen::VectorXd weights =
      triangle.topLeftCorner(k, k).triangularView<Eigen::Upper>().solve(right.head(k));
  for (int i = 0; i < k; ++i) result.x += weights(i) * preconditioned[static_cast<std::size_t>(i)];
  return result;
}

}  // namespace isocloth

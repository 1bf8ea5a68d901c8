#include "host/reference/impulse_system.hpp"

#include <Eigen/Dense>
#include <limits>

namespace isocloth::reference {

ImpulseSystem::ImpulseSystem(std::vector<DistanceConstraint> constraints, VectorXd inverse_masses)
    : constraints_(std::move(constraints)), inverse_masses_(std::move(inverse_masses)) {}

bool ImpulseSystem::linearise(const MatrixX3d& positions, double relative_diagonal) {
  const auto count = static_cast<Eigen::Index>(constraints_.size());
  directions_ = MatrixX3d::Zero(count, 3);
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index i = 0; i < count; ++i) {
    const DistanceConstraint& pair = constraints_[static_cast<std::size_t>(i)];
    const Eigen::RowVector3d d = positions.row(pair.b) - positions.row(pair.a);
    const double distance = d.norm();
    if (!has_direction(pair, distance)) continue;
    directions_.row(i) = d / distance;
    for (int c = 0; c < 3; ++c) {
      entries.emplace_back(i, 3 * pair.a + c, -directions_(i, c));
      entries.emplace_back(i, 3 * pair.b + c, directions_(i, c));
    }
  }
  SparseMatrix jacobian(count, 3 * inverse_masses_.size());
  jacobian.setFromTriplets(entries.begin(), entries.end());
  const VectorXd weights = inverse_masses_.replicate(1, 3).transpose().reshaped();
  matrix_ = jacobian * weights.asDiagonal() * SparseMatrix(jacobian.transpose());

  SparseMatrix diagonal(count, count);
  diagonal.setIdentity();
  double largest = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    const double entry = matrix_.coeff(i, i);
    largest = std::max(largest, entry);
    // Without a direction: an equation of its own, p = 0.
    const DistanceConstraint& pair = constraints_[static_cast<std::size_t>(i)];
    const bool is_alive = directions_.row(i).squaredNorm() > 0;
    diagonal.coeffRef(i, i) =
        is_alive ? relative_diagonal * entry : inverse_masses_[pair.a] + inverse_masses_[pair.b];
  }
  factor_.compute(matrix_ + diagonal);
  if (count == 0) return true;
  const double rounding = static_cast<double>(count) * std::numeric_limits<double>::epsilon() * largest;
  return factor_.info() == Eigen::Success && factor_.vectorD().minCoeff() > rounding;
}

Eigen::Index ImpulseSystem::rank() const {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factor{Eigen::MatrixXd(matrix_)};
  factor.setThreshold(1e-10);
  return factor.rank();
}

VectorXd ImpulseSystem::errors(const MatrixX3d& positions) const {
  VectorXd errors(directions_.rows());
  for (Eigen::Index i = 0; i < errors.size(); ++i) {
    const DistanceConstraint& pair = constraints_[static_cast<std::size_t>(i)];
    const bool is_alive = directions_.row(i).squaredNorm() > 0;
    errors[i] = is_alive ? (positions.row(pair.b) - positions.row(pair.a)).norm() - pair.length : 0;
  }
  return errors;
}

VectorXd ImpulseSystem::rates(const MatrixX3d& velocities) const {
  VectorXd rates(directions_.rows());
  for (Eigen::Index i = 0; i < rates.size(); ++i) {
    const DistanceConstraint& pair = constraints_[static_cast<std::size_t>(i)];
    rates[i] = (velocities.row(pair.b) - velocities.row(pair.a)).dot(directions_.row(i));
  }
  return rates;
}

void ImpulseSystem::apply(const VectorXd& side, MatrixX3d& displacements) const {
  if (side.size() == 0) return;
  const VectorXd impulses = factor_.solve(side);
  for (Eigen::Index i = 0; i < impulses.size(); ++i) {
    const DistanceConstraint& pair = constraints_[static_cast<std::size_t>(i)];
    displacements.row(pair.a) += inverse_masses_[pair.a] * impulses[i] * directions_.row(i);
    displacements.row(pair.b) -= inverse_masses_[pair.b] * impulses[i] * directions_.row(i);
  }
}

}  // namespace isocloth::reference

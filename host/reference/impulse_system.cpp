#include "host/reference/impulse_system.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace isocloth::reference {

ImpulseSystem::ImpulseSystem(std::vector<DistanceConstraint> constraints, VectorXd inverse_masses,
                             double unit_rounding)
    : constraints_(std::move(constraints)),
      inverse_masses_(std::move(inverse_masses)),
      shortest_(VectorXd::Constant(inverse_masses_.size(), std::numeric_limits<double>::infinity())),
      unit_rounding_(unit_rounding) {
  for (const DistanceConstraint& pair : constraints_)
    for (const Index node : {pair.a, pair.b}) shortest_[node] = std::min(shortest_[node], pair.length);
}

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
  scale_ = VectorXd(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const double entry = matrix_.coeff(i, i);
    // Without a direction: an equation of its own, p = 0.
    const DistanceConstraint& pair = constraints_[static_cast<std::size_t>(i)];
    const bool is_alive = directions_.row(i).squaredNorm() > 0;
    const double whole = inverse_masses_[pair.a] + inverse_masses_[pair.b];
    diagonal.coeffRef(i, i) = is_alive ? relative_diagonal * entry : whole;
    scale_[i] = std::sqrt(whole);
  }
  factor_.compute(matrix_ + diagonal);
  if (count == 0) return true;
  if (factor_.info() != Eigen::Success) return false;
  const VectorXd permuted = factor_.permutationP() * scale_;
  return factor_.vectorD().cwiseQuotient(permuted.cwiseAbs2()).minCoeff() > least_regular_pivot();
}

double ImpulseSystem::least_regular_pivot() const {
  return static_cast<double>(constraints_.size()) * unit_rounding_;
}

double ImpulseSystem::least_eigenvalue() const {
  if (constraints_.empty()) return std::numeric_limits<double>::infinity();
  if (factor_.info() != Eigen::Success) return 0;
  // Of no symmetry that an eigenvector might not share.
  VectorXd vector = VectorXd::LinSpaced(scale_.size(), 1, 2).array().square().sin();
  double inverse = 0;
  for (int i = 0; i < 20; ++i) {
    vector.normalize();
    vector = scale_.cwiseProduct(factor_.solve(scale_.cwiseProduct(vector)));
    inverse = vector.norm();
    if (!std::isfinite(inverse)) return 0;
  }
  return 1 / inverse;
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

double ImpulseSystem::apply(const VectorXd& side, MatrixX3d& displacements) const {
  if (side.size() == 0) return 0;
  const VectorXd impulses = factor_.solve(side);
  const MatrixX3d before = displacements;
  for (Eigen::Index i = 0; i < impulses.size(); ++i) {
    const DistanceConstraint& pair = constraints_[static_cast<std::size_t>(i)];
    displacements.row(pair.a) += inverse_masses_[pair.a] * impulses[i] * directions_.row(i);
    displacements.row(pair.b) -= inverse_masses_[pair.b] * impulses[i] * directions_.row(i);
  }
  if (!displacements.allFinite()) return std::numeric_limits<double>::infinity();
  return (displacements - before).rowwise().norm().cwiseQuotient(shortest_).maxCoeff();
}

}  // namespace isocloth::reference

#include "host/reference/impulse_rows.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace isocloth::reference {

std::vector<DistanceConstraint> distance_constraints(const Mesh& mesh, const Topology& topology,
                                                     const VectorXd& inverse_masses) {
  const MatrixX3d rest = to_matrix(mesh.positions);
  std::vector<DistanceConstraint> constraints;
  for (const auto& [a, b] : topology.edges) {
    const double sum = inverse_masses[a] + inverse_masses[b];
    if (sum == 0) continue;
    constraints.push_back(
        {a, b, (rest.row(b) - rest.row(a)).norm(), inverse_masses[a] / sum, inverse_masses[b] / sum});
  }
  return constraints;
}

DistanceRows distance_rows(std::vector<DistanceConstraint> constraints, const Recipe& recipe,
                           const Fabric& fabric) {
  constexpr double any = 1e20;
  if (recipe.limits_edges())
    for (DistanceConstraint& edge : constraints)
      edge.length *= fabric.strain_limit > 0 ? 1 + fabric.strain_limit : any;
  return DistanceRows(std::move(constraints), recipe.limits_edges());
}

bool has_direction(const DistanceConstraint& constraint, double distance) {
  return distance >= 1e-6 * constraint.length;
}

Visit DistanceRows::correct_position(Index i, const MatrixX3d& positions, double relaxation, double threshold,
                                     MatrixX3d& displacements) const {
  const DistanceConstraint& pair = constraints_[i];
  const Eigen::RowVector3d d = (positions.row(pair.b) - positions.row(pair.a)) +
                               (displacements.row(pair.b) - displacements.row(pair.a));
  const double distance = d.norm(), error = distance - pair.length;
  Visit visit{violation(error) / pair.length, violation(error) > threshold * pair.length};
  visit.corrected = visit.corrected && has_direction(pair, distance);
  if (visit.corrected) {
    const double impulse = relaxation * error / distance;
    displacements.row(pair.a) += pair.share_a * impulse * d;
    displacements.row(pair.b) -= pair.share_b * impulse * d;
    visit.change = violation(error) / distance;
  }
  return visit;
}

Visit DistanceRows::correct_velocity(Index i, const MatrixX3d& positions, double relaxation,
                                     double rate_threshold, MatrixX3d& velocities) const {
  const DistanceConstraint& pair = constraints_[i];
  const Eigen::RowVector3d d = positions.row(pair.b) - positions.row(pair.a);
  const double distance = d.norm();
  if (!has_direction(pair, distance) || (are_bounds_ && distance <= 0.999 * pair.length)) return {};
  const Eigen::RowVector3d direction = d / distance;
  const double rate = (velocities.row(pair.b) - velocities.row(pair.a)).dot(direction);
  const Visit visit{violation(rate) / pair.length, violation(rate) > rate_threshold * pair.length};
  if (visit.corrected) {
    velocities.row(pair.a) += relaxation * pair.share_a * rate * direction;
    velocities.row(pair.b) -= relaxation * pair.share_b * rate * direction;
  }
  return visit;
}

double DistanceRows::residual(const MatrixX3d& positions) const {
  double largest = 0;
  for (const DistanceConstraint& pair : constraints_)
    largest = std::max(largest,
                       violation((positions.row(pair.b) - positions.row(pair.a)).norm() / pair.length - 1));
  return largest;
}

namespace {

using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// Rows `first` to `first + count - 1` as one block.
class BlockMaker {
 public:
  explicit BlockMaker(const QuadraticRows& rows)
      : left_(rows.left), right_(rows.right), weights_(rows.weights), rest_(rows.rest) {}

  RowBlock block(Eigen::Index first, Eigen::Index count) const {
    RowBlock block;
    for (Eigen::Index row = first; row < first + count; ++row)
      for (RowMajor::InnerIterator sample(weights_, row); sample; ++sample)
        for (const RowMajor* form : {&left_, &right_})
          for (RowMajor::InnerIterator entry(*form, sample.col()); entry; ++entry)
            block.nodes.push_back(static_cast<Index>(entry.col()));
    std::sort(block.nodes.begin(), block.nodes.end());
    block.nodes.erase(std::unique(block.nodes.begin(), block.nodes.end()), block.nodes.end());
    for (Eigen::Index row = first; row < first + count; ++row) {
      block.tensors.push_back(tensor(row, block.nodes));
      block.rest.push_back(rest_[row]);
    }
    return block;
  }

 private:
  /// The tensor of a row, 1/2 sum_s weight_s (left_s^T right_s + right_s^T left_s).
  Eigen::MatrixXd tensor(Eigen::Index row, const std::vector<Index>& nodes) const {
    const auto size = static_cast<Eigen::Index>(nodes.size());
    const auto local = [&](Eigen::Index node) {
      return std::lower_bound(nodes.begin(), nodes.end(), static_cast<Index>(node)) - nodes.begin();
    };
    Eigen::MatrixXd product = Eigen::MatrixXd::Zero(size, size);
    for (RowMajor::InnerIterator sample(weights_, row); sample; ++sample)
      for (RowMajor::InnerIterator left(left_, sample.col()); left; ++left)
        for (RowMajor::InnerIterator right(right_, sample.col()); right; ++right)
          product(local(left.col()), local(right.col())) += sample.value() * left.value() * right.value();
    return (product + product.transpose()) / 2;
  }

  RowMajor left_, right_, weights_;
  VectorXd rest_;
};

/// Rows of a block at given positions with what their impulses need.
struct Linearisation {
  VectorXd values;           ///< C, 0 of rows without an impulse, shape [row_count]
  Eigen::MatrixXd jacobian;  ///< J [1/m], 0 in rows without an impulse, shape [row_count, 3 stencil_size]
  VectorXd inverse_masses;   ///< W [1/kg], shape [3 stencil_size]

  /// W J^T p with (J W J^T + 1e-3 diag) p = side; p = 0 in rows that move no free node.
  VectorXd correction(const VectorXd& side) const {
    constexpr double softness = 1e-3;
    Eigen::MatrixXd matrix = jacobian * inverse_masses.asDiagonal() * jacobian.transpose();
    for (Eigen::Index row = 0; row < side.size(); ++row)
      matrix(row, row) = matrix(row, row) > 0 ? (1 + softness) * matrix(row, row) : 1;
    const VectorXd impulses = matrix.ldlt().solve(side);
    return inverse_masses.cwiseProduct(jacobian.transpose() * impulses);
  }
};

MatrixX3d rows_of(const MatrixX3d& matrix, const std::vector<Index>& nodes) {
  MatrixX3d picked(static_cast<Eigen::Index>(nodes.size()), 3);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    picked.row(static_cast<Eigen::Index>(i)) = matrix.row(nodes[i]);
  return picked;
}

Linearisation linearise(const RowBlock& block, const MatrixX3d& stencil, const VectorXd& inverse_masses) {
  const auto row_count = static_cast<Eigen::Index>(block.rest.size()), size = stencil.rows();
  Linearisation result{VectorXd::Zero(row_count), Eigen::MatrixXd::Zero(row_count, 3 * size),
                       VectorXd::Zero(3 * size)};
  for (Eigen::Index i = 0; i < size; ++i)
    result.inverse_masses.segment<3>(3 * i).setConstant(
        inverse_masses[block.nodes[static_cast<std::size_t>(i)]]);
  for (Eigen::Index row = 0; row < row_count; ++row) {
    const auto r = static_cast<std::size_t>(row);
    const MatrixX3d gradient = 2 * block.tensors[r] * stencil;
    double of_free = 0;
    for (Eigen::Index i = 0; i < size; ++i)
      if (result.inverse_masses[3 * i] > 0) of_free += gradient.row(i).squaredNorm();
    if (std::sqrt(of_free) <= 1e-12 * gradient.norm()) continue;
    result.values[row] = gradient.cwiseProduct(stencil).sum() / 2 - block.rest[r];
    for (Eigen::Index i = 0; i < size; ++i) result.jacobian.block<1, 3>(row, 3 * i) = gradient.row(i);
  }
  return result;
}

/// Where a row is a squared length, l^2 / l0^2 - 1: what Newton's method for l / l0 - 1 asks of it, 2 l / l0
/// (l / l0 - 1).
VectorXd of_lengths(const RowBlock& block, const VectorXd& values) {
  VectorXd result = values;
  for (Eigen::Index row = 0; row < values.size(); ++row) {
    const double rest = block.rest[static_cast<std::size_t>(row)];
    if (rest <= 0.5) continue;
    const double ratio = std::sqrt(std::max(0.0, values[row] / rest + 1));
    result[row] = rest * 2 * ratio * (ratio - 1);
  }
  return result;
}

void subtract(const VectorXd& correction, double factor, const std::vector<Index>& nodes, MatrixX3d& from) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    from.row(nodes[i]) -= factor * correction.segment<3>(3 * static_cast<Eigen::Index>(i)).transpose();
}

}  // namespace

std::vector<RowBlock> row_blocks(const QuadraticRows& rows) {
  const BlockMaker maker(rows);
  const auto metric_rows = static_cast<Eigen::Index>(3 * rows.interior_nodes.size());
  std::vector<RowBlock> blocks;
  for (Eigen::Index row = 0; row < metric_rows; row += 3) blocks.push_back(maker.block(row, 3));
  for (Eigen::Index row = metric_rows; row < rows.row_count(); ++row) blocks.push_back(maker.block(row, 1));
  return blocks;
}

BlockRows::BlockRows(QuadraticRows rows, VectorXd inverse_masses)
    : rows_(std::move(rows)), inverse_masses_(std::move(inverse_masses)), blocks_(row_blocks(rows_)) {}

Visit BlockRows::correct_position(Index i, const MatrixX3d& positions, double relaxation, double threshold,
                                  MatrixX3d& displacements) const {
  const RowBlock& block = blocks_[i];
  const MatrixX3d stencil = rows_of(positions, block.nodes) + rows_of(displacements, block.nodes);
  const Linearisation at = linearise(block, stencil, inverse_masses_);
  const double error = at.values.lpNorm<Eigen::Infinity>();
  const Visit visit{error, error > threshold, error > threshold ? error : 0};
  if (visit.corrected)
    subtract(at.correction(of_lengths(block, at.values)), relaxation, block.nodes, displacements);
  return visit;
}

Visit BlockRows::correct_velocity(Index i, const MatrixX3d& positions, double relaxation,
                                  double rate_threshold, MatrixX3d& velocities) const {
  const RowBlock& block = blocks_[i];
  const Linearisation at = linearise(block, rows_of(positions, block.nodes), inverse_masses_);
  VectorXd flat(3 * static_cast<Eigen::Index>(block.nodes.size()));
  for (std::size_t k = 0; k < block.nodes.size(); ++k)
    flat.segment<3>(3 * static_cast<Eigen::Index>(k)) = velocities.row(block.nodes[k]);
  const VectorXd rates = at.jacobian * flat;
  const double rate = rates.lpNorm<Eigen::Infinity>();
  const Visit visit{rate, rate > rate_threshold};
  if (visit.corrected) subtract(at.correction(rates), relaxation, block.nodes, velocities);
  return visit;
}

double BlockRows::residual(const MatrixX3d& positions) const {
  const VectorXd values = rows_.values(positions);
  return values.size() == 0 ? 0 : values.lpNorm<Eigen::Infinity>();
}

}  // namespace isocloth::reference

#include "host/validation/rounding.hpp"

#include <Eigen/SparseCholesky>
#include <cmath>
#include <random>
#include <vector>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

using reference::MatrixX3d;
using reference::SparseMatrix;
using reference::VectorXd;
using Solver = Eigen::SimplicialLDLT<SparseMatrix>;

/// Uniform in [-u, u], the same on every run.
class Roundings {
 public:
  explicit Roundings(double u) : u_(u) {}
  double next() { return u_ * (2 * (static_cast<double>(generator_()) / 4294967295.0) - 1); }
  VectorXd next(Eigen::Index count) {
    return VectorXd::NullaryExpr(count, [this] { return next(); });
  }

 private:
  double u_;
  std::mt19937 generator_{7};
};

/// E with E_ij = rounding sqrt(H_ii H_jj) on the pattern of H, symmetric.
SparseMatrix factorisation_error(const SparseMatrix& matrix, Roundings& roundings) {
  const VectorXd diagonal = matrix.diagonal();
  std::vector<Eigen::Triplet<double>> entries;
  for (int column = 0; column < matrix.outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry)
      if (entry.row() >= column) {
        const double error = roundings.next() * std::sqrt(diagonal[entry.row()] * diagonal[column]);
        entries.emplace_back(entry.row(), column, error);
        if (entry.row() != column) entries.emplace_back(column, entry.row(), error);
      }
  SparseMatrix error(matrix.rows(), matrix.cols());
  error.setFromTriplets(entries.begin(), entries.end());
  return error;
}

SparseMatrix selection(const std::vector<Index>& nodes, Eigen::Index node_count, int components) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (int c = 0; c < components; ++c)
      entries.emplace_back(components * static_cast<int>(i) + c, components * nodes[i] + c, 1);
  SparseMatrix select(components * static_cast<Eigen::Index>(nodes.size()), components * node_count);
  select.setFromTriplets(entries.begin(), entries.end());
  return select;
}

SparseMatrix on_coordinates(const SparseMatrix& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int column = 0; column < matrix.outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry)
      for (int c = 0; c < 3; ++c)
        entries.emplace_back(3 * static_cast<int>(entry.row()) + c, 3 * column + c, entry.value());
  SparseMatrix expanded(3 * matrix.rows(), 3 * matrix.cols());
  expanded.setFromTriplets(entries.begin(), entries.end());
  return expanded;
}

double largest_of(const VectorXd& values) { return values.size() == 0 ? 0 : values.cwiseAbs().maxCoeff(); }

VectorXd flatten(const MatrixX3d& matrix) {
  VectorXd vector(matrix.size());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) vector.segment<3>(3 * i) = matrix.row(i).transpose();
  return vector;
}

MatrixX3d unflatten(const VectorXd& vector) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>(vector.data(),
                                                                                     vector.size() / 3, 3);
}

void require_factor(const Solver& solver, const char* name) {
  if (solver.info() != Eigen::Success)
    throw NumericalError(
        std::string(name) +
        ": found a pivot that is zero, expected a positive definite matrix; raise projection.eps");
}

}  // namespace

double rounded_prediction(const reference::ReferenceCloth& cloth, const Fabric& fabric,
                          const MatrixX3d& predicted, double step, double u) {
  Roundings roundings(u);
  const MatrixX3d& positions = cloth.positions();
  const MatrixX3d velocity = (predicted - positions) / step;
  const SparseMatrix implicit = cloth.implicit_matrix(step);
  const double coupling = step * fabric.stiffness_damping + step * step * fabric.bending_stiffness;
  const SparseMatrix& bending = cloth.bending_matrix();
  // The force of bending is a sum of large terms that nearly cancel; each is rounded by itself.
  MatrixX3d side = MatrixX3d::Zero(positions.rows(), 3);
  for (int j = 0; j < bending.outerSize(); ++j)
    for (SparseMatrix::InnerIterator entry(bending, j); entry; ++entry) {
      const Eigen::Index i = entry.row();
      const auto relative = positions.row(j) - positions.row(i);
      side.row(i) += roundings.next() * entry.value() *
                     (step * fabric.bending_stiffness * relative + coupling * velocity.row(j));
    }
  const SparseMatrix select = selection(cloth.free_nodes(), positions.rows(), 1);
  const SparseMatrix free_block = select * implicit * select.transpose();
  const Solver solver(free_block);
  require_factor(solver, "unconstrained step");
  const MatrixX3d free_side =
      select * side - factorisation_error(free_block, roundings) * MatrixX3d(select * velocity);
  return free_side.rows() == 0 ? 0 : step * MatrixX3d(solver.solve(free_side)).cwiseAbs().maxCoeff();
}

RoundingChange rounded_iteration(const reference::ReferenceCloth& cloth, const IterationCase& at, double step,
                                 double u) {
  const MatrixX3d& positions = at.positions;
  Roundings roundings(u);
  const SparseMatrix select = selection(cloth.free_nodes(), positions.rows(), 1);
  const SparseMatrix select_coordinates = selection(cloth.free_nodes(), positions.rows(), 3);
  const SparseMatrix jacobian = cloth.row_jacobian(positions) * select_coordinates.transpose();
  const VectorXd d_of_rows = cloth.row_scale_d(positions, step);
  const VectorXd inverse = (d_of_rows.array() > 0).select(1 / (cloth.settings().eps * d_of_rows.array()), 0);
  SparseMatrix node_block = cloth.metric_matrix(step);
  VectorXd force = cloth.row_values(positions, step).cwiseProduct(inverse);
  const bool newton = cloth.settings().method == ProjectionMethod::proximal_newton;
  const auto threads = cloth.threads(step);
  if (newton) {
    node_block += cloth.geometric_stiffness(at.multipliers, positions) + threads.laplacian;
    force += at.multipliers;
  }
  const SparseMatrix matrix = on_coordinates(select * node_block * select.transpose()) +
                              SparseMatrix(jacobian.transpose() * inverse.asDiagonal() * jacobian);
  const Solver solver(matrix);
  require_factor(solver, "projection");

  const double lengths = positions.cwiseAbs().maxCoeff() / std::sqrt(cloth.masses().mean());
  const VectorXd of_values = lengths * roundings.next(force.size());
  const VectorXd of_force =
      of_values.cwiseProduct(inverse) + roundings.next(force.size()).cwiseProduct(force);
  const SparseMatrix magnitude = jacobian.cwiseAbs();
  const VectorXd sums = magnitude.transpose() * force.cwiseAbs();
  VectorXd side = -(jacobian.transpose() * of_force) - roundings.next(sums.size()).cwiseProduct(sums);
  if (newton) {
    const MatrixX3d inertia =
        select * (cloth.metric_matrix(step).cwiseAbs() * (positions - at.unconstrained).cwiseAbs() +
                  threads.laplacian.cwiseAbs() * positions.cwiseAbs() + threads.of_rests.cwiseAbs());
    side += roundings.next(side.size()).cwiseProduct(flatten(inertia));
  }
  const VectorXd d = flatten(select * at.displacement);
  side -= factorisation_error(matrix, roundings) * d;
  const VectorXd change = solver.solve(side);
  const VectorXd products = magnitude * d.cwiseAbs();
  const VectorXd rows =
      (of_values + jacobian * change + roundings.next(products.size()).cwiseProduct(products)).cwiseAbs();
  return {select.transpose() * unflatten(change), largest_of(rows), largest_of(rows.cwiseProduct(inverse))};
}

}  // namespace isocloth

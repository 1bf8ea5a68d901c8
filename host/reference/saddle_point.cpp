#include "host/reference/saddle_point.hpp"

#include <Eigen/SparseCholesky>
#include <string>
#include <vector>

#include "engine/core/errors.hpp"

namespace isocloth::reference {

SaddlePointSolution solve_saddle_point(const SparseMatrix& block, const SparseMatrix& jacobian,
                                       const VectorXd& compliance, const VectorXd& primal_side,
                                       const VectorXd& dual_side) {
  const auto primal_count = static_cast<int>(block.rows()), dual_count = static_cast<int>(jacobian.rows());
  std::vector<Eigen::Triplet<double>> entries;
  for (int column = 0; column < block.outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(block, column); entry; ++entry)
      entries.emplace_back(entry.row(), column, entry.value());
  for (int column = 0; column < jacobian.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator entry(jacobian, column); entry; ++entry) {
      const auto row = primal_count + static_cast<int>(entry.row());
      entries.emplace_back(row, column, entry.value());
      entries.emplace_back(column, row, entry.value());
    }
  }
  for (int row = 0; row < dual_count; ++row)
    entries.emplace_back(primal_count + row, primal_count + row, -compliance[row]);
  SparseMatrix matrix(primal_count + dual_count, primal_count + dual_count);
  matrix.setFromTriplets(entries.begin(), entries.end());

  const Eigen::SimplicialLDLT<SparseMatrix> factor(matrix);
  if (factor.info() != Eigen::Success)
    throw NumericalError(
        "saddle-point system of " + std::to_string(matrix.rows()) +
        " unknowns: found a zero pivot, expected a quasi-definite matrix; raise projection.eps");
  VectorXd side(primal_count + dual_count);
  side << primal_side, dual_side;
  VectorXd solution = factor.solve(side);
  for (int refinement = 0; refinement < 2; ++refinement)
    solution += factor.solve(VectorXd(side - matrix * solution));
  return {solution.head(primal_count), solution.tail(dual_count)};
}

}  // namespace isocloth::reference

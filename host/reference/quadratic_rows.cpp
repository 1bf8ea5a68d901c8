#include "host/reference/rows.hpp"

namespace isocloth::reference {
namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

}  // namespace

VectorXd QuadraticRows::values(const MatrixX3d& positions) const {
  const MatrixX3d along_left = left * positions, along_right = right * positions;
  return weights * along_left.cwiseProduct(along_right).rowwise().sum() - rest;
}

SparseMatrix QuadraticRows::jacobian(const MatrixX3d& positions) const {
  const MatrixX3d along_left = left * positions, along_right = right * positions;
  Triplets entries;
  for (int component = 0; component < 3; ++component) {
    const SparseMatrix of_left = weights * VectorXd(along_right.col(component)).asDiagonal() * left;
    const SparseMatrix of_right = weights * VectorXd(along_left.col(component)).asDiagonal() * right;
    const SparseMatrix block = of_left + of_right;
    for (int node = 0; node < block.outerSize(); ++node)
      for (SparseMatrix::InnerIterator entry(block, node); entry; ++entry)
        entries.emplace_back(entry.row(), 3 * node + component, entry.value());
  }
  SparseMatrix jacobian(row_count(), 3 * left.cols());
  jacobian.setFromTriplets(entries.begin(), entries.end());
  return jacobian;
}

SparseMatrix QuadraticRows::hessian(const VectorXd& multipliers) const {
  const VectorXd sample_weights = weights.transpose() * multipliers;
  const SparseMatrix half = left.transpose() * sample_weights.asDiagonal() * right;
  return half + SparseMatrix(half.transpose());
}

}  // namespace isocloth::reference

// Quadratic rows of the reference, sample by sample.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "host/reference/rows.hpp"

namespace isocloth::reference {

using Triplets = std::vector<Eigen::Triplet<double>>;

/// A linear form in the positions of a few nodes.
struct Form {
  std::vector<Index> nodes;
  VectorXd coefficients;
  Eigen::Vector3d apply(const MatrixX3d& positions) const {
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (std::size_t i = 0; i < nodes.size(); ++i)
      sum += coefficients[static_cast<Eigen::Index>(i)] * positions.row(nodes[i]).transpose();
    return sum;
  }
};

/// Rows C = sum over samples of weight (left form) . (right form) - rest, one after another.
class RowBuilder {
 public:
  /// The row of the samples that follow.
  void add_row(double rest) { rest_.push_back(rest); }
  void add_sample(double weight, const Form& left, const Form& right) {
    weights_.emplace_back(static_cast<int>(rest_.size()) - 1, sample_count_, weight);
    for (std::size_t i = 0; i < left.nodes.size(); ++i) {
      left_.emplace_back(sample_count_, left.nodes[i], left.coefficients[static_cast<Eigen::Index>(i)]);
      right_.emplace_back(sample_count_, right.nodes[i], right.coefficients[static_cast<Eigen::Index>(i)]);
    }
    ++sample_count_;
  }
  void finish(Index node_count, QuadraticRows& rows) const {
    const auto row_count = static_cast<Eigen::Index>(rest_.size());
    rows.left.resize(sample_count_, node_count);
    rows.right.resize(sample_count_, node_count);
    rows.weights.resize(row_count, sample_count_);
    rows.left.setFromTriplets(left_.begin(), left_.end());
    rows.right.setFromTriplets(right_.begin(), right_.end());
    rows.weights.setFromTriplets(weights_.begin(), weights_.end());
    rows.rest = Eigen::Map<const VectorXd>(rest_.data(), row_count);
  }

 private:
  Triplets left_, right_, weights_;
  std::vector<double> rest_;
  int sample_count_ = 0;
};

/// Whether a face has a corner that is free.
inline bool has_free_corner(const Mesh& mesh, Index face, const std::vector<char>& is_free) {
  const auto nodes = mesh.face(face);
  return std::any_of(nodes.begin(), nodes.end(), [&](Index node) { return is_free[node] != 0; });
}

/// Rows of the lengths of edges with a free end.
inline void add_edge_rows(RowBuilder& builder, const std::vector<std::array<Index, 2>>& edges,
                          const MatrixX3d& rest, const std::vector<char>& is_free, QuadraticRows& rows) {
  for (const auto& [a, b] : edges) {
    if (!is_free[a] && !is_free[b]) continue;
    const Form difference{{a, b}, Eigen::Vector2d(1, -1)};
    builder.add_row(1);
    builder.add_sample(1 / difference.apply(rest).squaredNorm(), difference, difference);
    rows.edges.push_back({a, b});
  }
}

}  // namespace isocloth::reference

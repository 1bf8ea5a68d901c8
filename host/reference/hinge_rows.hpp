// Angles between triangles that share an edge.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// Rows theta - theta_0 of edges between two triangles with a free node, in the order of their nodes: the
/// angle by which the normal of the second is turned about the edge out of that of the first.
class HingeRows {
 public:
  HingeRows() = default;  ///< none
  HingeRows(const Mesh& mesh, const std::vector<char>& is_free);

  Eigen::Index count() const { return static_cast<Eigen::Index>(hinges_.size()); }
  /// |e|^2 / (A_1 + A_2) of the rest shape, shape [count()].
  const VectorXd& stiffness() const { return stiffness_; }
  /// Curvature over angle |e| / (A_1 + A_2) [1/m], shape [count()].
  const VectorXd& curvature() const { return curvature_; }
  /// Shape [count()].
  VectorXd values(const MatrixX3d& positions) const;
  /// [1/m], the last of `row_count` rows, shape [row_count, 3 node_count].
  SparseMatrix jacobian(const MatrixX3d& positions, Eigen::Index row_count) const;

 private:
  std::vector<std::array<Index, 4>> hinges_;  ///< ends of the edge, nodes of the two triangles beside it
  VectorXd rest_, stiffness_, curvature_;
};

}  // namespace isocloth::reference

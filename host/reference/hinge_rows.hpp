// Angles between triangles that share an edge.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh/topology.hpp"
#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// Rows of edges between two triangles with a free node but folds, quads cut, in the order of their nodes;
/// theta is the angle by which the normal of the second is turned about the edge out of that of the first.
/// Angles at rest are subtracted; large angles are 2 tan(theta / 2) sin(theta / 2), straight on where
/// tan(theta / 2) is beyond 2.
class HingeRows {
 public:
  HingeRows() = default;  ///< no rows
  HingeRows(const Mesh& mesh, const std::vector<char>& is_free);
  /// Rows of large angles; ratio: stiffness along weft over that along warp.
  HingeRows(const Mesh& mesh, const std::vector<char>& is_free, const Topology& topology, double ratio);
  /// Rows of Mesh::folds that do not turn freely, each with its own angle at rest; kappa: bending stiffness
  /// of the fabric. stiffness() is K over kappa.
  static HingeRows of_folds(const Mesh& mesh, const std::vector<char>& is_free, double kappa);
  /// Adds the rows of another after these.
  void append(const HingeRows& more);

  Eigen::Index count() const { return static_cast<Eigen::Index>(hinges_.size()); }
  /// |e|^2 / (A_1 + A_2) of the rest shape, A_i of triangles with a free node; of large angles 2/3 of it
  /// times (cos^2 t + sqrt(ratio) sin^2 t)^2, t the angle of the edge's normal to the warp. Shape [count()].
  const VectorXd& stiffness() const { return stiffness_; }
  /// Curvature over angle |e| / (A_1 + A_2) [1/m], shape [count()].
  const VectorXd& curvature() const { return curvature_; }
  /// Angles less those at rest, or what stands for large ones; shape [count()].
  VectorXd values(const MatrixX3d& positions) const;
  /// Derivatives of values() [1/m], the last of `row_count` rows, shape [row_count, 3 node_count].
  SparseMatrix jacobian(const MatrixX3d& positions, Eigen::Index row_count) const;

 private:
  VectorXd angles(const MatrixX3d& positions) const;

  enum class Kind { from_rest, large, fold };
  std::vector<Kind> kinds_;                   ///< shape [count()]
  std::vector<std::array<Index, 4>> hinges_;  ///< ends of the edge, nodes of the two triangles beside it
  VectorXd rest_, stiffness_, curvature_;
};

}  // namespace isocloth::reference

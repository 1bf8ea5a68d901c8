// The mesh that bends: cut along folds.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"
#include "host/garment/nodal_pattern.hpp"

namespace isocloth {

/// A mesh whose nodes along folds are there once for each part that meets there; a matrix of bending is made
/// of it, and what the nodes of one origin have is added together.
struct BentMesh {
  Mesh mesh;                    ///< the mesh itself, if nothing is to be cut
  std::vector<Index> origin;    ///< node of each; empty: itself
  std::vector<char> is_pinned;  ///< shape [nodes of mesh]
  std::size_t node_count = 0;   ///< of the whole

  BentMesh(const Mesh& whole, const std::vector<char>& pinned);
  bool is_cut() const { return mesh.positions.size() != node_count; }
  /// A pattern of this mesh's nodes as one of the whole's.
  NodeMatrixPattern together(const NodeMatrixPattern& own) const;
  /// Values of such a pattern as those of together().
  std::vector<double> together(const NodeMatrixPattern& own, const std::vector<double>& values,
                               const NodeMatrixPattern& whole) const;
};

}  // namespace isocloth

// Free and pinned nodes of a garment and the state it starts from.
#pragma once

#include <vector>

#include "engine/model/scene.hpp"
#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// Which nodes the solver moves and which a pin moves.
struct NodeKinds {
  std::vector<char> is_free;        ///< whether each node is free, shape [node_count]
  std::vector<Index> free, pinned;  ///< free nodes, and nodes of all pins together, ascending
};

/// Throws ShapeError when a pinned node is out of range.
NodeKinds node_kinds(const Garment& garment);

/// Where the garment's nodes begin [m], and how fast [m/s], shape [node_count, 3]. Each throws ShapeError
/// when the garment's array does not fit its mesh.
MatrixX3d initial_positions(const Garment& garment);
MatrixX3d initial_velocities(const Garment& garment);

/// Throws ShapeError naming what has `found` rows instead of `expected`.
void check_rows(const char* name, Eigen::Index found, Eigen::Index expected);

}  // namespace isocloth::reference

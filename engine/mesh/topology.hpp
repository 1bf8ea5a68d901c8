// Edges, boundary, corners and incidence of a surface mesh.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// What follows from the faces of a valid mesh alone (corners also from the rest shape).
struct Topology {
  std::vector<std::array<Index, 2>> edges;           ///< lower node first, sorted, shape [edge_count]
  std::vector<std::array<Index, 2>> boundary_edges;  ///< edges of one face only, lower node first, sorted
  std::vector<std::vector<Index>> boundary_loops;  ///< nodes of each closed boundary curve, in face direction
  std::vector<char> is_boundary;                   ///< shape [node_count]
  std::vector<Index> interior_nodes;               ///< nodes not on the boundary, ascending
  std::vector<Index>
      corner_nodes;  ///< boundary nodes whose interior rest angle is below 143 degrees, ascending
  std::vector<Index> node_corner_begin;  ///< shape [node_count + 1]
  std::vector<Index> node_corners;  ///< face corners (indices into Mesh::face_nodes) at each node, ascending
};

/// Builds the topology of a valid mesh (see validate_mesh). Cost O(corners log corners).
/// A corner is a boundary node whose interior angle (sum of the rest angles of its faces) is under 143
/// degrees: geometry decides, not valence (Coltraro 2022, section 5.4, fixes F there).
Topology build_topology(const Mesh& mesh);

/// Index into face_begin of the face that owns a face corner, shape [corner_count].
std::vector<Index> corner_faces(const Mesh& mesh);

}  // namespace isocloth

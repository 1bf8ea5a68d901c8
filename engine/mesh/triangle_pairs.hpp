// Pairs of triangles that share an edge: a matching of the triangles of a mesh.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/mesh/topology.hpp"

namespace isocloth {

/// Two triangles with the front on one side, (a, b, c) and (a, c, d), that share the edge a c. A triangle
/// that is left over is a pair of itself with itself, (a, b, c) twice: what is a mean over a pair is then its
/// own, and differences vanish.
struct TrianglePair {
  std::array<Index, 4> nodes{};  ///< a, b, c, d; of a triangle that is left over a, b, c, b
  std::array<Index, 2> faces{};  ///< faces of the mesh in which the triangles lie; one quad twice
  bool is_single = false;

  /// Nodes of triangle 0 or 1.
  std::array<Index, 3> triangle(int which) const {
    if (which == 0 || is_single) return {nodes[0], nodes[1], nodes[2]};
    return {nodes[0], nodes[2], nodes[3]};
  }
  bool operator==(const TrianglePair&) const = default;
};

/// Every face in one pair, in the order of the first face of each; is_left_out: faces that are in none, shape
/// [face_count].
///
/// A quad is the pair of triangles on both sides of the diagonal of cut_corners(). Triangles are matched
/// along interior edges on both sides of which threads run alike: greedily, an edge before another where the
/// quad that it would leave, unfolded, has the larger least sine of its four angles (to 1e-6; negative where
/// it is not convex), of equals the one with the lower nodes; then every triangle that was left over looks
/// for the shortest augmenting path, breadth first. Paths through odd cycles are not looked for: of a
/// connected mesh at most a few in ten thousand triangles stay over. The result depends on the mesh alone.
/// Cost O(faces log faces), and O(faces) more for each that stays over.
std::vector<TrianglePair> triangle_pairs(const Mesh& mesh, const Topology& topology,
                                         const std::vector<char>& is_left_out);

}  // namespace isocloth

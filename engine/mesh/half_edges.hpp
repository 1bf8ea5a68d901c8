// The sides of faces, grouped by edge.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// The side of a face that starts at one of its corners.
struct HalfEdge {
  Index low, high;  ///< its two nodes
  Index corner;     ///< where it starts, index into Mesh::face_nodes
  bool ascending;   ///< it runs from low to high
};

/// All half edges by low node, high node, corner: those of one edge stand together. Shape [corner_count].
inline std::vector<HalfEdge> sorted_half_edges(const Mesh& mesh) {
  std::vector<HalfEdge> half_edges;
  half_edges.reserve(mesh.face_nodes.size());
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t c = 0; c < nodes.size(); ++c) {
      const Index from = nodes[c], to = nodes[(c + 1) % nodes.size()];
      const Index corner = mesh.face_begin[f] + static_cast<Index>(c);
      half_edges.push_back({std::min(from, to), std::max(from, to), corner, from < to});
    }
  }
  std::sort(half_edges.begin(), half_edges.end(), [](const HalfEdge& a, const HalfEdge& b) {
    if (a.low != b.low) return a.low < b.low;
    return a.high != b.high ? a.high < b.high : a.corner < b.corner;
  });
  return half_edges;
}

/// End of the group of half edges that share the edge of half_edges[first].
inline std::size_t end_of_edge(const std::vector<HalfEdge>& half_edges, std::size_t first) {
  std::size_t last = first + 1;
  while (last < half_edges.size() && half_edges[last].low == half_edges[first].low &&
         half_edges[last].high == half_edges[first].high) {
    ++last;
  }
  return last;
}

}  // namespace isocloth

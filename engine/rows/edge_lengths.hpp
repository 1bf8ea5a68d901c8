// Lengths of mesh edges: C = |p_a - p_b|^2 / l^2 - 1 (Coltraro 2022, (7) divided by l^2).
#pragma once

#include "engine/rows/row_setup.hpp"

namespace isocloth {

inline void add_edges(const RowSetup& setup, const std::vector<std::array<Index, 2>>& edges,
                      StencilPattern& pattern, std::vector<Index>& places) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto [a, b] = edges[i];
    if (!setup.is_free(a) && !setup.is_free(b)) continue;
    for (const Index node : {a, b}) pattern.add_slot(node, {a, b});
    pattern.end_stencil();
    places.push_back(static_cast<Index>(i));
  }
}

ISOCLOTH_HD void set_edge_tensor(const TensorSetup& a, Index i) {
  const Index slot = a.stencils.stencil_begin[a.first_stencil + i];
  const Vec3d d =
      a.mesh.positions[a.stencils.slot_nodes[slot + 1]] - a.mesh.positions[a.stencils.slot_nodes[slot]];
  const double t = 1 / dot(d, d);
  const Index entry = a.stencils.entry_begin[slot];
  for (int e = 0; e < 4; ++e) a.tensors[entry + e] = e == 0 || e == 3 ? t : -t;
}

/// Rows of pairs of nodes, l their distance at rest.
struct LengthRows {
  static constexpr int width = 1;
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) { set_edge_tensor(a, i); }
};

struct EdgeRows : LengthRows {
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
    add_edges(setup, setup.topology.edges, pattern, places);
  }
};

struct BoundaryEdgeRows : LengthRows {
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
    add_edges(setup, setup.topology.boundary_edges, pattern, places);
  }
};

}  // namespace isocloth

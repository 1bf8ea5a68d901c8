#include "engine/rows/stencil_pattern.hpp"

#include <algorithm>
#include <set>

namespace isocloth {
namespace {

StencilPattern empty_pattern(int width) {
  StencilPattern p;
  p.width = width;
  p.stencil_begin = {0};
  p.entry_begin = {0};
  return p;
}

void append_slot(StencilPattern& p, Index node, const std::vector<Index>& neighbours) {
  p.slot_nodes.push_back(node);
  p.entry_nodes.insert(p.entry_nodes.end(), neighbours.begin(), neighbours.end());
  p.entry_begin.push_back(p.entry_count());
}

/// The stencil of node k: every node of its faces; T_ij where i and j share one of these faces.
void append_patch(StencilPattern& p, const Mesh& mesh, const Topology& topology,
                  const std::vector<Index>& faces, Index k) {
  std::vector<std::pair<Index, std::set<Index>>> patch;
  auto neighbours = [&](Index node) -> std::set<Index>& {
    auto it = std::find_if(patch.begin(), patch.end(), [&](const auto& s) { return s.first == node; });
    if (it == patch.end()) it = patch.insert(patch.end(), {node, {}});
    return it->second;
  };
  neighbours(k);  // the node itself first: positions are taken relative to it
  for (Index c = topology.node_corner_begin[k]; c < topology.node_corner_begin[k + 1]; ++c) {
    const auto face = mesh.face(faces[topology.node_corners[c]]);
    for (Index i : face) neighbours(i).insert(face.begin(), face.end());
  }
  for (const auto& [node, set] : patch) append_slot(p, node, {set.begin(), set.end()});
  p.stencil_begin.push_back(p.slot_count());
}

}  // namespace

RowPattern build_row_pattern(const Mesh& mesh, const Topology& topology, RowFamily family,
                             const std::vector<char>& is_pinned) {
  RowPattern rows{.metric = empty_pattern(3),
                  .metric_nodes = {},
                  .scalar = empty_pattern(1),
                  .corner_nodes = {},
                  .edges = {}};
  const std::vector<Index> faces = corner_faces(mesh);
  auto patch_is_free = [&](Index k) {
    for (Index c = topology.node_corner_begin[k]; c < topology.node_corner_begin[k + 1]; ++c)
      for (Index i : mesh.face(faces[topology.node_corners[c]]))
        if (!is_pinned[i]) return true;
    return false;
  };
  if (family == RowFamily::isometry) {
    for (Index k : topology.interior_nodes)
      if (patch_is_free(k)) {
        append_patch(rows.metric, mesh, topology, faces, k);
        rows.metric_nodes.push_back(k);
      }
    for (Index k : topology.corner_nodes)
      if (patch_is_free(k)) {
        append_patch(rows.scalar, mesh, topology, faces, k);
        rows.corner_nodes.push_back(k);
      }
  }
  for (const auto& edge : family == RowFamily::isometry ? topology.boundary_edges : topology.edges)
    if (!is_pinned[edge[0]] || !is_pinned[edge[1]]) {
      for (Index node : edge) append_slot(rows.scalar, node, {edge[0], edge[1]});
      rows.scalar.stencil_begin.push_back(rows.scalar.slot_count());
      rows.edges.push_back(edge);
    }
  return rows;
}

}  // namespace isocloth

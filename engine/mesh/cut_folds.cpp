#include "engine/mesh/cut_folds.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/mesh/topology.hpp"

namespace isocloth {
namespace {

std::array<Index, 2> ends_of(Index a, Index b) { return {std::min(a, b), std::max(a, b)}; }

}  // namespace

std::vector<std::array<Index, 2>> folded_edges(const Mesh& mesh) {
  std::vector<std::array<Index, 2>> all;
  if (mesh.folds.empty()) return all;
  const Topology topology = build_topology(mesh);
  for (const Fold& fold : mesh.folds) {
    const auto ends = ends_of(fold.nodes[0], fold.nodes[1]);
    if (std::ranges::binary_search(topology.edges, ends) &&
        !std::ranges::binary_search(topology.boundary_edges, ends))
      all.push_back(ends);
  }
  std::ranges::sort(all);
  return all;
}

CutFolds cut_at_folds(const Mesh& mesh) {
  CutFolds cut{.mesh = {}, .origin = std::vector<Index>(mesh.positions.size())};
  std::iota(cut.origin.begin(), cut.origin.end(), Index{0});
  cut.mesh.positions = mesh.positions;
  cut.mesh.face_begin = mesh.face_begin;
  cut.mesh.face_nodes = mesh.face_nodes;
  cut.mesh.corner_uvs = mesh.corner_uvs;
  cut.mesh.face_factors = mesh.face_factors;
  const std::vector<std::array<Index, 2>> folded = folded_edges(mesh);
  if (folded.empty()) return cut;

  // Corners at a node are of one part where their faces share an edge that is no fold.
  std::vector<Index> above(mesh.face_nodes.size());
  std::iota(above.begin(), above.end(), Index{0});
  const auto top = [&](Index c) {
    while (above[c] != c) c = above[c];
    return c;
  };
  std::map<std::array<Index, 2>, std::array<Index, 2>> sides;  // corners at the lower and the higher end
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (Index i = 0; i < mesh.face_size(f); ++i) {
      const Index c = mesh.face_begin[f] + i, next = mesh.face_begin[f] + (i + 1) % mesh.face_size(f);
      const auto ends = ends_of(mesh.face_nodes[c], mesh.face_nodes[next]);
      if (std::ranges::binary_search(folded, ends)) continue;
      const std::array<Index, 2> own =
          mesh.face_nodes[c] == ends[0] ? std::array{c, next} : std::array{next, c};
      const auto [other, is_new] = sides.emplace(ends, own);
      for (std::size_t k = 0; k < 2 && !is_new; ++k) above[top(own[k])] = top(other->second[k]);
    }
  std::map<Index, Index> node_of;  // of parts, by their top corners
  std::vector<char> is_taken(mesh.positions.size(), 0);
  for (Index c = 0; c < mesh.corner_count(); ++c) {
    const Index part = top(c), node = mesh.face_nodes[c];
    const auto [found, is_new] = node_of.emplace(part, node);
    if (is_new && is_taken[node] != 0) {
      found->second = cut.mesh.node_count();
      cut.mesh.positions.push_back(mesh.positions[node]);
      cut.origin.push_back(node);
    }
    is_taken[node] = 1;
    cut.mesh.face_nodes[c] = found->second;
  }
  return cut;
}

}  // namespace isocloth

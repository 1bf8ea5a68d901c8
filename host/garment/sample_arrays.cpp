#include "host/garment/sample_arrays.hpp"

#include <algorithm>

#include "engine/mesh/topology.hpp"

namespace isocloth {
namespace {

/// Block of two free numbers; blocks are sorted by column, then row.
std::size_t find_block(const NodalPattern& p, Index a, Index b) {
  const Index column = std::min(a, b), row = std::max(a, b);
  const auto first = std::lower_bound(p.block_columns.begin(), p.block_columns.end(), column),
             last = std::upper_bound(first, p.block_columns.end(), column);
  const auto rows = p.block_rows.begin();
  return static_cast<std::size_t>(std::lower_bound(rows + (first - p.block_columns.begin()),
                                                   rows + (last - p.block_columns.begin()), row) -
                                  rows);
}

struct GatherTerm {
  std::size_t target;
  Index first, second;
};
GatherLists gather(std::vector<GatherTerm>& terms, std::size_t target_count) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const GatherTerm& a, const GatherTerm& b) { return a.target < b.target; });
  GatherLists lists;
  lists.begin.assign(target_count + 1, 0);
  for (const GatherTerm& t : terms) {
    ++lists.begin[t.target + 1];
    lists.first.push_back(t.first);
    lists.second.push_back(t.second);
  }
  for (std::size_t i = 0; i < target_count; ++i) lists.begin[i + 1] += lists.begin[i];
  return lists;
}

}  // namespace

SampleArrays::SampleArrays(const Device& device, const Mesh& mesh, const NodalPattern& pattern,
                           const Scene& scene)
    : node_count(mesh.node_count()), eases(eases_out(scene)) {
  const std::size_t count = scene.obstacles.size() + scene.bodies.size();
  const auto at_most = [count](Index most) {
    return static_cast<Index>(std::min(count, static_cast<std::size_t>(most)));
  };
  contacts_per_node = at_most(most_contacts_per_node);
  if (count > 0) face_count = mesh.face_count();
  if (count > 0) contacts_per_element = !scene.bodies.empty() ? most_contacts_per_element : 2;
  const auto edges = build_topology(mesh).edges;
  if (count > 0) edge_count = static_cast<Index>(edges.size());
  std::vector<Index> begin{0}, nodes, samples;
  auto add = [&](const auto& corners) {
    for (const Index node : corners) {
      nodes.push_back(node);
      samples.push_back(static_cast<Index>(begin.size()) - 1);
    }
    begin.push_back(static_cast<Index>(nodes.size()));
  };
  for (Index node = 0; node < node_count; ++node) add(std::array{node});
  for (Index k = 0; k < contacts_per_element && count > 0; ++k) {
    for (const auto& edge : edges) add(edge);
    for (Index f = 0; f < face_count; ++f) add(mesh.face(f));
  }

  std::vector<GatherTerm> blocks, at_nodes;
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (Index a = begin[s]; a < begin[s + 1]; ++a) {
      const Index row = pattern.free_number[nodes[a]];
      if (row < 0) continue;
      at_nodes.push_back({static_cast<std::size_t>(row), a, static_cast<Index>(s)});
      for (Index b = begin[s]; b < begin[s + 1]; ++b) {
        const Index column = pattern.free_number[nodes[b]];
        if (column >= 0 && row >= column) blocks.push_back({find_block(pattern, row, column), a, b});
      }
    }
  block_slots = gather_buffers(device, gather(blocks, pattern.block_rows.size()));
  node_slots = gather_buffers(device, gather(at_nodes, pattern.free_nodes.size()));
  sample_begin = {device, begin};
  slot_nodes = {device, nodes};
  slot_samples = {device, samples};
}

std::size_t SampleArrays::memory_bytes() const {
  std::size_t bytes = sample_begin.bytes() + slot_nodes.bytes() + slot_samples.bytes();
  for (const GatherBuffers* g : {&block_slots, &node_slots})
    bytes += g->begin.bytes() + g->first.bytes() + g->second.bytes();
  return bytes;
}

}  // namespace isocloth

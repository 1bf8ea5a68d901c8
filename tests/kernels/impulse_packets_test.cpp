// Every edge and every stencil has one place; what is taken at once shares no node.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "engine/rows/stencil_pattern.hpp"
#include "host/impulse/pair_packets.hpp"
#include "host/impulse/stencil_packets.hpp"

namespace isocloth {
namespace {

std::vector<Mesh> meshes() {
  return {quad_grid(9, 7, 1, 1), irregular_triangles(6, 40, 1, 1, 5), ring(4, 15, 0.2, 0.5, FaceKind::quads),
          disc(3, 24, 0.5, FaceKind::triangles), tank_top(400)};
}
constexpr int widths[] = {1, 2, 4, 8, 16};

TEST(PairPackets, HoldEachEdgeOnce) {
  for (const Mesh& mesh : meshes()) {
    const NodePairs edges = build_topology(mesh).edges;
    std::vector<Index> order;
    for (const int width : widths) {
      const PacketPlan plan = plan_packets(edges, mesh.node_count(), width);
      ASSERT_EQ(plan.pairs.size() % static_cast<std::size_t>(width), 0u);
      ASSERT_EQ(plan.nodes.size(), 2 * plan.pairs.size());
      ASSERT_EQ(plan.colour_begin.back() * width, static_cast<Index>(plan.pairs.size()));
      std::vector<Index> kept;
      for (std::size_t colour = 0; colour + 1 < plan.colour_begin.size(); ++colour) {
        std::set<Index> nodes;
        int spare = 0;
        for (Index place = plan.colour_begin[colour] * width; place < plan.colour_begin[colour + 1] * width;
             ++place) {
          const Index pair = plan.pairs[place], a = plan.nodes[2 * place], b = plan.nodes[2 * place + 1];
          if (pair < 0) {
            ++spare;
            EXPECT_EQ(a, mesh.node_count());
            EXPECT_EQ(b, mesh.node_count());
            continue;
          }
          EXPECT_EQ(spare, 0) << "spare places come last";
          EXPECT_EQ(edges[pair], (std::array<Index, 2>{a, b}));
          EXPECT_TRUE(nodes.insert(a).second && nodes.insert(b).second);
          kept.push_back(pair);
        }
        EXPECT_LT(spare, width);
      }
      if (order.empty()) order = kept;
      EXPECT_EQ(kept, order) << "the order of a sweep is the same for every width";
    }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<Index>(i));
    EXPECT_EQ(order.size(), edges.size());
  }
}

/// The stencils of a plan, lane by lane, against the pattern that it was made from.
void expect_each_once(const StencilPattern& pattern, Index node_count, int width) {
  const StencilPlan plan = plan_stencils(pattern, node_count, width);
  const auto lanes = static_cast<std::size_t>(width);
  const std::size_t packets = plan.shape_of.size();
  ASSERT_EQ(plan.stencils.size(), packets * lanes);
  ASSERT_EQ(static_cast<std::size_t>(plan.colour_begin.back()), packets);
  std::vector<int> seen(static_cast<std::size_t>(pattern.stencil_count()), 0);
  for (std::size_t colour = 0; colour + 1 < plan.colour_begin.size(); ++colour) {
    std::set<Index> nodes;
    for (Index packet = plan.colour_begin[colour]; packet < plan.colour_begin[colour + 1]; ++packet) {
      const Index first_slot = plan.slot_begin[packet], slots = plan.slot_begin[packet + 1] - first_slot;
      const Index shape_slot = plan.shape_slots[plan.shape_of[packet]];
      EXPECT_EQ(plan.shape_slots[plan.shape_of[packet] + 1] - shape_slot, slots);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const Index stencil = plan.stencils[packet * lanes + lane];
        const auto node = [&](Index slot) {
          return plan.pairs[2 * (static_cast<std::size_t>(first_slot + slot) * lanes + lane) + 1];
        };
        std::multiset<Index> found;
        std::vector<Index> sources;
        Index entry = plan.entry_begin[packet];
        for (Index slot = 0; slot < slots; ++slot) {
          EXPECT_EQ(plan.pairs[2 * (static_cast<std::size_t>(first_slot + slot) * lanes + lane)], node(0));
          found.insert(node(slot));
          for (Index e = plan.slot_entries[shape_slot + slot]; e < plan.slot_entries[shape_slot + slot + 1];
               ++e, ++entry) {
            const Index source = plan.source_entries[entry * lanes + lane];
            ASSERT_EQ(source < 0, stencil < 0);
            if (source < 0) continue;
            sources.push_back(source);
            EXPECT_EQ(pattern.entry_nodes[source], node(plan.entry_slots[e]));
            const auto owner =
                std::upper_bound(pattern.entry_begin.begin(), pattern.entry_begin.end(), source) -
                pattern.entry_begin.begin() - 1;
            EXPECT_EQ(pattern.slot_nodes[owner], node(slot));
          }
        }
        EXPECT_EQ(entry, plan.entry_begin[packet + 1]);
        if (stencil < 0) {
          for (Index slot = 0; slot < slots; ++slot) {
            const auto first = 2 * static_cast<std::size_t>(first_slot + slot) * lanes + 1;
            EXPECT_EQ(node(slot), plan.pairs[first]) << "a spare place stays within its packet";
          }
          continue;
        }
        ++seen[stencil];
        const Index begin = pattern.stencil_begin[stencil], end = pattern.stencil_begin[stencil + 1];
        EXPECT_EQ(found, (std::multiset<Index>(pattern.slot_nodes.begin() + begin,
                                               pattern.slot_nodes.begin() + end)));
        for (const Index own : found) EXPECT_TRUE(nodes.insert(own).second) << "colour " << colour;
        std::sort(sources.begin(), sources.end());
        ASSERT_EQ(static_cast<Index>(sources.size()), pattern.entry_begin[end] - pattern.entry_begin[begin]);
        for (std::size_t i = 0; i < sources.size(); ++i)
          ASSERT_EQ(sources[i], pattern.entry_begin[begin] + static_cast<Index>(i));
      }
    }
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST(StencilPackets, HoldEachStencilOnceWithAllItsEntries) {
  for (const Mesh& mesh : meshes()) {
    const std::vector<char> is_pinned(mesh.positions.size(), 0);
    const RowPattern rows =
        build_row_pattern(mesh, build_topology(mesh), find_recipe("coltraro2022").rows, is_pinned);
    for (const int width : {1, 4, 16}) {
      expect_each_once(rows.triples, mesh.node_count(), width);
      expect_each_once(rows.singles, mesh.node_count(), width);
    }
  }
}

// Rings of triangles are told apart by their size alone, so that packets fill.
TEST(StencilPackets, StencilsOfTrianglesShareShapes) {
  const Mesh mesh = irregular_triangles(10, 100, 1, 1, 5);
  const std::vector<char> is_pinned(mesh.positions.size(), 0);
  const RowPattern rows =
      build_row_pattern(mesh, build_topology(mesh), find_recipe("coltraro2022").rows, is_pinned);
  std::set<Index> sizes;
  for (Index s = 0; s < rows.triples.stencil_count(); ++s)
    sizes.insert(rows.triples.stencil_begin[s + 1] - rows.triples.stencil_begin[s]);
  EXPECT_EQ(plan_stencils(rows.triples, mesh.node_count(), 8).shape_slots.size(), sizes.size() + 1);
}

}  // namespace
}  // namespace isocloth

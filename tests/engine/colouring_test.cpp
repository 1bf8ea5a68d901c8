#include "engine/mesh/colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/mesh/generators.hpp"
#include "engine/mesh/topology.hpp"

namespace isocloth {
namespace {

NodeSets edges_of(const Mesh& mesh) {
  NodeSets sets;
  for (const auto& [a, b] : build_topology(mesh).edges) sets.add({a, b});
  return sets;
}

/// Every set once, ascending within a colour, no node twice in one; greedy: an earlier colour would not do.
void expect_valid(const NodeSets& sets, const Colouring& colours) {
  std::vector<Index> colour_of(static_cast<std::size_t>(sets.count()), -1);
  ASSERT_EQ(colours.begin.front(), 0);
  ASSERT_EQ(colours.begin.back(), static_cast<Index>(colours.items.size()));
  std::vector<std::set<Index>> nodes(static_cast<std::size_t>(colours.count()));
  for (Index colour = 0; colour < colours.count(); ++colour) {
    EXPECT_LT(colours.begin[colour], colours.begin[colour + 1]);
    for (Index i = colours.begin[colour]; i < colours.begin[colour + 1]; ++i) {
      const Index item = colours.items[i];
      if (i > colours.begin[colour]) {
        EXPECT_LT(colours.items[i - 1], item);
      }
      EXPECT_EQ(colour_of[item], -1);
      colour_of[item] = colour;
      for (Index k = sets.begin[item]; k < sets.begin[item + 1]; ++k)
        EXPECT_TRUE(nodes[colour].insert(sets.nodes[k]).second) << "colour " << colour << ", item " << item;
    }
  }
  for (Index item = 0; item < sets.count(); ++item) {
    ASSERT_GE(colour_of[item], 0);
    for (Index lower = 0; lower < colour_of[item]; ++lower) {
      bool is_taken = false;
      for (Index other = 0; other < item; ++other)
        for (Index k = sets.begin[other]; colour_of[other] == lower && k < sets.begin[other + 1]; ++k)
          for (Index own = sets.begin[item]; own < sets.begin[item + 1]; ++own)
            is_taken |= sets.nodes[k] == sets.nodes[own];
      EXPECT_TRUE(is_taken) << "item " << item << " fits into colour " << lower;
    }
  }
}

TEST(Colouring, GridsGetFourColours) {
  for (const auto& [nx, ny] : {std::pair<Index, Index>{3, 3}, {9, 7}, {20, 20}, {2, 5}}) {
    const NodeSets sets = edges_of(quad_grid(nx, ny, 1, 1));
    const Colouring colours = colour_greedily(sets, nx * ny);
    EXPECT_EQ(colours.count(), std::min(nx, ny) == 2 ? 3 : 4) << nx << " x " << ny;
    expect_valid(sets, colours);
  }
}

// At most one colour more than an edge has neighbours, at least as many as edges meet at a node.
TEST(Colouring, IsValidAndGreedyOnEveryMesh) {
  for (const Mesh& mesh :
       {triangle_grid(8, 7, 1, 1, Diagonals::parallel), irregular_triangles(6, 40, 1, 1, 5),
        ring(4, 15, 0.2, 0.5, FaceKind::quads), disc(3, 24, 0.5, FaceKind::triangles), tank_top(400)}) {
    const NodeSets sets = edges_of(mesh);
    const Colouring colours = colour_greedily(sets, mesh.node_count());
    expect_valid(sets, colours);
    std::vector<Index> valence(mesh.positions.size(), 0);
    for (const Index node : sets.nodes) ++valence[node];
    const Index most = *std::max_element(valence.begin(), valence.end());
    EXPECT_GE(colours.count(), most);
    EXPECT_LE(colours.count(), 2 * most - 1);
  }
}

TEST(Colouring, TakesSetsOfAnySize) {
  NodeSets sets;
  sets.add({0, 1, 2, 3});
  sets.add({4});
  sets.add({3, 4});
  sets.add({5, 0});
  sets.add({6, 7, 8});
  const Colouring colours = colour_greedily(sets, 9);
  EXPECT_EQ(colours.begin, (std::vector<Index>{0, 3, 5}));
  EXPECT_EQ(colours.items, (std::vector<Index>{0, 1, 4, 2, 3}));
}

TEST(Colouring, OfNothingIsNothing) {
  const Colouring colours = colour_greedily(NodeSets{}, 5);
  EXPECT_EQ(colours.count(), 0);
  EXPECT_TRUE(colours.items.empty());
}

}  // namespace
}  // namespace isocloth

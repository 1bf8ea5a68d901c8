#include "engine/mesh/spring_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

NodePairs bends(const Mesh& mesh) { return bend_pairs(mesh, build_topology(mesh)); }

/// Lower node first, sorted, each once, none an edge.
void expect_ordered(const Mesh& mesh, const NodePairs& pairs) {
  const Topology topology = build_topology(mesh);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_GE(pairs[i][0], 0);
    EXPECT_LT(pairs[i][0], pairs[i][1]);
    EXPECT_LT(pairs[i][1], mesh.node_count());
    if (i > 0) {
      EXPECT_LT(pairs[i - 1], pairs[i]);
    }
    EXPECT_FALSE(std::binary_search(topology.edges.begin(), topology.edges.end(), pairs[i]));
  }
}

// Bender, section 4: 10 x 10 and 50 x 50 nodes have 241 and 7201 springs, which means one diagonal per quad.
TEST(SpringPairs, AreAsManyAsThePaperCounts) {
  for (const auto& [n, count] : {std::pair<Index, std::size_t>{10, 241}, {50, 7201}}) {
    const Mesh mesh = quad_grid(n, n, 1, 1);
    const NodePairs shear = shear_pairs(mesh, 1), bend = bends(mesh);
    EXPECT_EQ(shear.size() + bend.size(), count);
    EXPECT_EQ(bend.size(), static_cast<std::size_t>(2 * n * (n - 2)));
    EXPECT_EQ(shear_pairs(mesh, 2).size(), 2 * shear.size());
    for (const NodePairs& pairs : {shear, bend, shear_pairs(mesh, 2)}) expect_ordered(mesh, pairs);
  }
}

TEST(SpringPairs, OfAGridAreItsDiagonalsAndSecondNeighbours) {
  const Index nx = 5, ny = 4;
  const Mesh mesh = quad_grid(nx, ny, 1, 1);
  for (const auto& [a, b] : shear_pairs(mesh, 1)) EXPECT_EQ(b - a, nx + 1);
  for (const auto& [a, b] : shear_pairs(mesh, 2)) EXPECT_TRUE(b - a == nx + 1 || b - a == nx - 1);
  for (const auto& [a, b] : bends(mesh)) EXPECT_TRUE((b - a == 2 && a % nx < nx - 2) || b - a == 2 * nx);
}

// Around a ring the continuation closes; along its spokes it ends at both rims.
TEST(SpringPairs, OfARingOfQuads) {
  const Index radial = 4, around = 9;
  const Mesh mesh = ring(radial, around, 0.2, 0.5, FaceKind::quads);
  const NodePairs pairs = bends(mesh);
  EXPECT_EQ(pairs.size(), static_cast<std::size_t>(radial * around + (radial - 2) * around));
  expect_ordered(mesh, pairs);
  EXPECT_EQ(shear_pairs(mesh, 2).size(), static_cast<std::size_t>(2 * (radial - 1) * around));
  // A ring of four: each pair of opposite nodes is met twice, from either side.
  EXPECT_EQ(bends(ring(2, 4, 0.2, 0.5, FaceKind::quads)).size(), 4u);
}

/// Far corners of every two triangles with two common nodes that are no edge themselves, by comparing all.
NodePairs across_edges(const Mesh& mesh) {
  const Topology topology = build_topology(mesh);
  std::set<std::array<Index, 2>> pairs;
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (Index g = f + 1; g < mesh.face_count(); ++g) {
      const auto a = mesh.face(f), b = mesh.face(g);
      std::set<Index> first(a.begin(), a.end()), second(b.begin(), b.end()), both;
      std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                            std::inserter(both, both.end()));
      if (both.size() != 2) continue;
      for (const Index node : both) first.erase(node), second.erase(node);
      const auto [low, high] = std::minmax(*first.begin(), *second.begin());
      const std::array<Index, 2> pair{low, high};
      if (!std::binary_search(topology.edges.begin(), topology.edges.end(), pair)) pairs.insert(pair);
    }
  return {pairs.begin(), pairs.end()};
}

TEST(SpringPairs, OfTrianglesLieAcrossTheirEdges) {
  for (const Mesh& mesh :
       {triangle_grid(6, 5, 1, 1, Diagonals::parallel), irregular_triangles(6, 40, 1, 1, 5), tank_top(400)}) {
    const NodePairs pairs = bends(mesh);
    EXPECT_EQ(pairs, across_edges(mesh));
    expect_ordered(mesh, pairs);
    EXPECT_TRUE(shear_pairs(mesh, 2).empty());
  }
  Mesh tetrahedron;
  tetrahedron.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  tetrahedron.add_face({0, 2, 1});
  tetrahedron.add_face({0, 1, 3});
  tetrahedron.add_face({1, 2, 3});
  EXPECT_TRUE(bends(tetrahedron).empty());
}

// Where a triangle meets quads, a node belongs to neither rule's threads.
TEST(SpringPairs, OfMixedFacesStayAmongTheirKind) {
  const Mesh quads = quad_grid(4, 4, 1, 1);
  Mesh mesh;
  mesh.positions = quads.positions;
  for (Index f = 0; f < quads.face_count(); ++f) {
    const auto q = quads.face(f);
    if (f == 0) {
      mesh.add_face({q[0], q[1], q[2]});
      mesh.add_face({q[0], q[2], q[3]});
    } else {
      mesh.add_face({q[0], q[1], q[2], q[3]});
    }
  }
  const NodePairs pairs = bends(mesh), of_quads = bends(quads);
  expect_ordered(mesh, pairs);
  // Lost: those through nodes 0, 1, 4, 5; won: across the diagonal, 1-4.
  NodePairs expected;
  for (const auto& [a, b] : of_quads)
    if (const Index middle = (a + b) / 2; middle != 1 && middle != 4 && middle != 5)
      expected.push_back({a, b});
  expected.push_back({1, 4});
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(pairs, expected);
}

}  // namespace
}  // namespace isocloth

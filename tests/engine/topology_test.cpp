#include "engine/mesh/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/mesh/generators.hpp"
#include "tests/engine/mesh_measures.hpp"

namespace isocloth {
namespace {

using Edge = std::array<Index, 2>;

TEST(Topology, TwoQuadsByHand) {
  // 3 4 5
  // 0 1 2
  const Topology t = build_topology(quad_grid(3, 2, 2, 1));
  EXPECT_EQ(t.edges, (std::vector<Edge>{{0, 1}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {4, 5}}));
  EXPECT_EQ(t.boundary_edges, (std::vector<Edge>{{0, 1}, {0, 3}, {1, 2}, {2, 5}, {3, 4}, {4, 5}}));
  EXPECT_EQ(t.boundary_loops, (std::vector<std::vector<Index>>{{0, 1, 2, 5, 4, 3}}));
  EXPECT_EQ(t.is_boundary, std::vector<char>(6, 1));
  EXPECT_TRUE(t.interior_nodes.empty());
  EXPECT_EQ(t.corner_nodes, (std::vector<Index>{0, 2, 3, 5}));
  EXPECT_EQ(t.node_corner_begin, (std::vector<Index>{0, 1, 3, 4, 5, 7, 8}));
  EXPECT_EQ(t.node_corners, (std::vector<Index>{0, 1, 4, 5, 3, 2, 7, 6}));
}

TEST(Topology, PaperCountsIsometryRowsOfSquares) {
  // Coltraro 2022, section 5.4: nc = 3 m^2 - 8 m + 12.
  for (const Index m : {2, 3, 9, 17, 33}) {
    const Topology t = build_topology(quad_grid(m, m, 1, 1));
    EXPECT_EQ(t.corner_nodes.size(), 4u);
    EXPECT_EQ(3 * t.interior_nodes.size() + t.corner_nodes.size() + t.boundary_edges.size(),
              static_cast<std::size_t>(3 * m * m - 8 * m + 12));
  }
}

TEST(Topology, CornersFollowGeometryNotValence) {
  for (const auto& mesh : {triangle_grid(7, 5, 0.297, 0.42, Diagonals::parallel),
                           triangle_grid(7, 5, 0.297, 0.42, Diagonals::alternating)}) {
    EXPECT_EQ(build_topology(mesh).corner_nodes, (std::vector<Index>{0, 6, 28, 34}));
  }
  EXPECT_EQ(build_topology(irregular_triangles(20, 392, 1, 1, 3)).corner_nodes,
            (std::vector<Index>{0, 20, 40, 60}));
}

TEST(Topology, CornerLimitIs143Degrees) {
  // A regular polygon of k sides has interior angles of 180 - 360 / k degrees: 140 for 9 sides, 144 for 10.
  EXPECT_EQ(build_topology(disc(1, 9, 1, FaceKind::triangles)).corner_nodes.size(), 9u);
  EXPECT_TRUE(build_topology(disc(1, 10, 1, FaceKind::triangles)).corner_nodes.empty());
}

TEST(Topology, ReentrantBoundaryNodeIsNoCorner) {
  // An L of three unit squares: five right angles and one of 270 degrees at node 4.
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {0, 2, 0}, {1, 2, 0}};
  mesh.add_face({0, 1, 4, 3});
  mesh.add_face({1, 2, 5, 4});
  mesh.add_face({3, 4, 7, 6});
  EXPECT_EQ(build_topology(mesh).corner_nodes, (std::vector<Index>{0, 2, 5, 6, 7}));
}

TEST(Topology, LoopsRunInFaceDirection) {
  const Mesh mesh = ring(3, 12, 0.1, 0.3, FaceKind::triangles);
  const Topology t = build_topology(mesh);
  ASSERT_EQ(t.boundary_loops.size(), 2u);
  std::vector<double> areas;
  for (const auto& loop : t.boundary_loops) {
    EXPECT_EQ(loop.size(), 12u);
    EXPECT_EQ(loop.front(), *std::min_element(loop.begin(), loop.end()));
    double area = 0;
    for (std::size_t i = 0; i < loop.size(); ++i) {
      area += cross(mesh.positions[loop[i]], mesh.positions[loop[(i + 1) % loop.size()]]).z / 2;
    }
    areas.push_back(area);
  }
  EXPECT_LT(areas[0], 0);  // around the hole clockwise
  EXPECT_GT(areas[1], 0);
  EXPECT_TRUE(t.corner_nodes.empty());
}

TEST(Topology, IncidenceListsEveryCornerOnce) {
  const Mesh mesh = irregular_triangles(8, 60, 1, 1, 1);
  const Topology t = build_topology(mesh);
  std::vector<Index> seen;
  for (Index k = 0; k < mesh.node_count(); ++k) {
    for (Index i = t.node_corner_begin[k]; i < t.node_corner_begin[k + 1]; ++i) {
      EXPECT_EQ(mesh.face_nodes[t.node_corners[i]], k);
      seen.push_back(t.node_corners[i]);
    }
  }
  std::sort(seen.begin(), seen.end());
  for (Index c = 0; c < mesh.corner_count(); ++c) ASSERT_EQ(seen[c], c);
}

TEST(Topology, ClosedSurfaceHasNoBoundary) {
  const Mesh mesh = testing::octasphere(2);
  const Topology t = build_topology(mesh);
  EXPECT_TRUE(t.boundary_edges.empty());
  EXPECT_TRUE(t.boundary_loops.empty());
  EXPECT_EQ(t.interior_nodes.size(), mesh.positions.size());
  EXPECT_EQ(2 * t.edges.size(), mesh.face_nodes.size());
}

TEST(Topology, CornerFacesOfMixedMesh) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {2, 0.5, 0}};
  mesh.add_face({0, 1, 2, 3});
  mesh.add_face({1, 4, 2});
  EXPECT_EQ(corner_faces(mesh), (std::vector<Index>{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(build_topology(mesh).edges.size(), 6u);
}

}  // namespace
}  // namespace isocloth

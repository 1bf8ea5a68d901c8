// Meshes as other programs make them, and what becomes of them.
#include "engine/mesh/repair.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/mesh/ear_clipping.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/validate.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

double area_of(const Mesh& mesh) {
  double area = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) area += norm(area_vector(mesh, f));
  return area;
}

std::string refusal(Mesh mesh) {
  try {
    validate_mesh(mesh, "a.obj");
  } catch (const MeshError& error) {
    return error.what();
  }
  return "accepted";
}

/// Repairs it, expects a valid mesh, and returns the report.
std::string repaired(Mesh& mesh, const RepairSettings& settings = {}) {
  MeshNames names;
  const std::string report = describe(repair_mesh(mesh, names, settings));
  EXPECT_EQ(refusal(mesh), "accepted") << report;
  Mesh again = mesh;
  EXPECT_EQ(describe(repair_mesh(again, names, settings)), "") << report;
  return report;
}

Mesh grid() { return quad_grid(6, 6, 0.5, 0.5); }

TEST(EarClipping, ConcavePolygonsKeepTheirAreaAndTheirSides) {
  const auto check = [](const std::vector<Vec3d>& corners, double area) {
    const auto triangles = clip_ears(corners);
    ASSERT_EQ(triangles.size(), corners.size() - 2);
    double sum = 0;
    for (const auto& [a, b, c] : triangles) {
      const double part = norm(cross(corners[b] - corners[a], corners[c] - corners[a])) / 2;
      EXPECT_GT(part, 0);
      sum += part;
    }
    EXPECT_NEAR(sum, area, 1e-12);
  };
  check({{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}}, 3);  // an L
  check({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {2, 2, 0}, {0, 2, 0}}, 4);  // corners on sides
  check({{0, 2, 0}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 2, 0}}, 4);
  check({{0, 0, 0},
         {3, 0, 0},
         {3, 3, 0},
         {0, 3, 0},
         {0, 0, 0},
         {1, 1, 0},
         {1, 2, 0},
         {2, 2, 0},
         {2, 1, 0},
         {1, 1, 0}},
        8);  // a hole, with a cut that leads to it
  std::vector<Vec3d> star;
  for (int i = 0; i < 200; ++i) {
    const double angle = 2 * std::numbers::pi * i / 200, radius = i % 2 == 0 ? 1 : 0.3;
    star.push_back({radius * std::cos(angle), 0.2, radius * std::sin(angle)});
  }
  check(star, 100 * 0.3 * std::sin(2 * std::numbers::pi / 200));
  EXPECT_TRUE(
      clip_ears({{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}, {2, 3, 0}, {-1, 3, 0}, {2, 2, 0}}).empty());
  EXPECT_TRUE(clip_ears({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}}).empty());
}

TEST(Repair, LeavesSoundMeshesAsTheyAre) {
  for (const Mesh& sound : {grid(), triangle_grid(5, 4, 0.3, 0.2, Diagonals::alternating), tank_top(400),
                            tube(5, 8, 0.1, 0.3, FaceKind::quads), irregular_triangles(10, 60, 1, 1, 7)}) {
    Mesh mesh = sound;
    EXPECT_EQ(repaired(mesh), "");
    EXPECT_EQ(mesh.positions, sound.positions);
    EXPECT_EQ(mesh.face_nodes, sound.face_nodes);
    EXPECT_EQ(mesh.face_begin, sound.face_begin);
  }
}

TEST(Repair, CountsEveryKindOfFaultOnceAndMendsIt) {
  Mesh mesh = grid();
  mesh.corner_uvs.clear();
  mesh.positions.push_back({9, 9, 9});                                      // 36: unused
  mesh.positions.push_back(mesh.positions[5]);                              // 37: on node 5
  mesh.positions.push_back({0.6, 0, 0});                                    // 38
  mesh.positions.push_back({0.6, 0.1, 0});                                  // 39
  mesh.add_face({37, 38, 39, 11});                                          // beside the grid, not joined
  mesh.add_face({1, 2, 8, 7});                                              // repeats face 1
  mesh.add_face({0, 6, 6});                                                 // no triangle
  std::reverse(mesh.face_nodes.begin() + 8, mesh.face_nodes.begin() + 12);  // face 2
  EXPECT_EQ(
      repaired(mesh),
      "1 unused nodes (first node 36), left out; 1 faces with a corner twice (first face 27), without the "
      "second, or left out; 1 nodes on others (first node 37), united; 1 faces that repeat another (first "
      "face 26), left out; 1 faces that run against their piece (first face 2), turned");
  EXPECT_EQ(mesh.node_count(), 38);
  EXPECT_EQ(mesh.face_count(), 26);
  EXPECT_EQ(piece_count(mesh), 1);
  EXPECT_NEAR(area_of(mesh), 0.26, 1e-12);
}

TEST(Repair, NamesStayThoseOfTheFile) {
  Mesh mesh = grid();
  mesh.positions.insert(mesh.positions.begin() + 3, Vec3d{9, 9, 9});
  for (Index& node : mesh.face_nodes) node += node >= 3;
  MeshNames names{
      .of_node = "vertex", .first = 1, .nodes = {}, .faces = {}, .node_lines = {}, .face_lines = {}};
  EXPECT_EQ(describe(repair_mesh(mesh, names)), "1 unused vertices (first vertex 4), left out");
  EXPECT_EQ(names.node(2), "vertex 3");
  EXPECT_EQ(names.node(3), "vertex 5");
  EXPECT_EQ(names.face(7), "face 8");
}

TEST(Repair, PartsSurfacesThatMeetInAnEdgeOrANode) {
  Mesh fin = grid();
  fin.corner_uvs.clear();
  const Index a = fin.node_count();
  for (const Index node : {14, 15, 16}) fin.positions.push_back(fin.positions[node] + Vec3d{0, 0, 0.1});
  fin.add_face({14, 15, a + 1, a});
  fin.add_face({15, 16, a + 2, a + 1});
  Mesh mesh = fin;
  EXPECT_EQ(repaired(mesh), "2 edges of more than two faces (first edge 14 15), parted");
  EXPECT_EQ(piece_count(mesh), 2);
  EXPECT_EQ(mesh.node_count(), fin.node_count() + 3);
  // The sheet keeps its nodes; those of the fin are drawn a hundredth into it.
  EXPECT_EQ(mesh.positions[14], fin.positions[14]);
  const Vec3d moved = mesh.positions[static_cast<std::size_t>(fin.node_count())] - fin.positions[14];
  EXPECT_NEAR(moved.z, 0.01 * 0.05, 1e-12);

  Mesh bow;
  bow.positions = {{0, 0, 0}, {1, 0, 0}, {0.5, 1, 0}, {0, 2, 0}, {1, 2, 0}};
  bow.add_face({0, 1, 2});
  bow.add_face({2, 4, 3});
  EXPECT_EQ(repaired(bow), "1 nodes in which pieces meet alone (bow ties) (first node 2), parted");
  EXPECT_EQ(piece_count(bow), 2);

  // Two boxes that share an edge, and a fan of five sheets at one.
  Mesh pages;
  pages.positions = {{0, 0, 0}, {0, 0, 1}};
  for (int i = 0; i < 5; ++i) {
    const double angle = 0.9 * i;
    pages.positions.push_back({std::cos(angle), std::sin(angle), 0});
    pages.positions.push_back({std::cos(angle), std::sin(angle), 1});
    pages.add_face({0, 2 + 2 * i, 3 + 2 * i, 1});
  }
  EXPECT_EQ(repaired(pages).substr(0, 30), "1 edges of more than two faces");
  EXPECT_EQ(pages.face_count(), 5);
}

TEST(Repair, CutsPolygonsAndFoldedQuads) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0},
                    {0, 2, 0}, {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5.1, 0.4, 0}};
  mesh.add_face({0, 1, 2, 3, 4, 5});
  mesh.add_face({6, 7, 8, 9});  // an arrow head
  for (const Vec2d uv : {Vec2d{0, 0}, Vec2d{2, 0}, Vec2d{2, 1}, Vec2d{1, 1}, Vec2d{1, 2}, Vec2d{0, 2},
                         Vec2d{5, 0}, Vec2d{6, 0}, Vec2d{5, 1}, Vec2d{5.1, 0.4}})
    mesh.corner_uvs.push_back(uv);
  EXPECT_EQ(
      repaired(mesh),
      "1 faces of more than 4 corners (first face 0), cut into triangles; 1 quads that fold over or cross "
      "themselves (first face 1), cut in two, or their corners put in order");
  EXPECT_EQ(mesh.face_count(), 6);
  for (std::size_t c = 0; c < mesh.face_nodes.size(); ++c)
    EXPECT_EQ(mesh.corner_uvs[c].x, mesh.positions[mesh.face_nodes[c]].x);
}

TEST(Repair, UncrossesQuads) {
  Mesh mesh = quad_grid(3, 2, 2, 1);
  mesh.corner_uvs.clear();
  const Mesh sound = mesh;
  std::swap(mesh.face_nodes[5], mesh.face_nodes[6]);
  EXPECT_EQ(
      repaired(mesh),
      "1 quads that fold over or cross themselves (first face 1), cut in two, or their corners put in order");
  EXPECT_EQ(mesh.face_count(), 2);
  EXPECT_NEAR(area_of(mesh), 2, 1e-12);
  EXPECT_EQ(mesh.face_nodes, sound.face_nodes);
}

TEST(Repair, CollapsesNeedlesAndFlipsCaps) {
  // A grid whose node 14 was moved next to node 15, so that two sides are nearly of no length.
  Mesh mesh = triangle_grid(6, 6, 0.5, 0.5, Diagonals::parallel);
  mesh.positions[14] = mesh.positions[15] + Vec3d{-0.001, 0.0003, 0};
  for (std::size_t c = 0; c < mesh.face_nodes.size(); ++c)
    mesh.corner_uvs[c] = {mesh.positions[mesh.face_nodes[c]].x, mesh.positions[mesh.face_nodes[c]].y};
  EXPECT_EQ(repaired(mesh).substr(0, 53), "2 needles and faces without area (first face 15), col");
  EXPECT_EQ(mesh.node_count(), 35);
  EXPECT_NEAR(area_of(mesh), 0.25, 1e-9);
  for (std::size_t c = 0; c < mesh.face_nodes.size(); ++c)
    EXPECT_EQ(mesh.corner_uvs[c].x, mesh.positions[mesh.face_nodes[c]].x);

  // A node on the middle of an edge, with a triangle of no area over the edge.
  Mesh cap;
  cap.positions = {{0, 0, 0}, {2, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, -1, 0}};
  cap.add_face({0, 1, 3});
  cap.add_face({0, 2, 1});
  cap.add_face({0, 4, 2});
  cap.add_face({2, 4, 1});
  EXPECT_EQ(repaired(cap), "1 needles and faces without area (first face 1), collapsed or flipped");
  EXPECT_EQ(cap.face_count(), 4);
  EXPECT_NEAR(area_of(cap), 2, 1e-12);
}

TEST(Repair, TextureCutsKeepTheirCourse) {
  // Two islands along x = 1; a needle lies on the cut.
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 0.01, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}};
  const auto add = [&](Index a, Index b, Index c, double shift) {
    mesh.add_face({a, b, c});
    for (const Index node : {a, b, c})
      mesh.corner_uvs.push_back({mesh.positions[node].x + shift, mesh.positions[node].y});
  };
  add(0, 1, 3, 0);
  add(0, 3, 4, 0);
  add(4, 3, 5, 0);
  add(1, 2, 3, 5);
  add(3, 2, 6, 5);
  add(3, 6, 5, 5);
  EXPECT_EQ(repaired(mesh), "2 needles and faces without area (first face 0), collapsed or flipped");
  EXPECT_EQ(mesh.face_count(), 4);
  EXPECT_NEAR(area_of(mesh), 2, 0.02);
  for (Index f = 0; f < 4; ++f)
    for (Index c = 3 * f; c < 3 * f + 3; ++c) {
      const double shift = f < 2 ? 0 : 5;
      EXPECT_EQ(mesh.corner_uvs[c],
                (Vec2d{mesh.positions[mesh.face_nodes[c]].x + shift, mesh.positions[mesh.face_nodes[c]].y}));
    }
}

TEST(Repair, DropsTinyPiecesAndLeavesWhatIsAChoice) {
  Mesh mesh = grid();
  mesh.corner_uvs.clear();
  const Index n = mesh.node_count();
  mesh.positions.insert(mesh.positions.end(), {{1, 1, 1}, {1.001, 1, 1}, {1, 1.001, 1}});
  mesh.add_face({n, n + 1, n + 2});
  Mesh kept = mesh;
  EXPECT_EQ(repaired(mesh), "1 tiny pieces (first face 25), left out");
  EXPECT_EQ(repaired(kept, {.least_piece = 0}), "");

  MeshNames names;
  Mesh strip;
  for (Index i = 0; i < 6; ++i) {
    const double angle = std::numbers::pi * i / 6;
    const Vec3d at{std::cos(2 * angle), std::sin(2 * angle), 0};
    strip.positions.push_back((1 + 0.2 * std::cos(angle)) * at + Vec3d{0, 0, 0.2 * std::sin(angle)});
    strip.positions.push_back((1 - 0.2 * std::cos(angle)) * at - Vec3d{0, 0, 0.2 * std::sin(angle)});
  }
  for (Index i = 0; i < 5; ++i) strip.add_face({2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1});
  strip.add_face({10, 1, 0, 11});
  std::vector<MeshFault> faults = repair_mesh(strip, names);
  EXPECT_TRUE(has_left(faults)) << describe(faults);

  Mesh broken = grid();
  broken.corner_uvs.clear();
  broken.face_nodes[5] = 77;
  broken.positions[35].y = std::numeric_limits<double>::quiet_NaN();
  names = {};
  faults = repair_mesh(broken, names);
  EXPECT_EQ(describe(faults).substr(0, 70),
            "2 faces at nodes that do not exist or are nowhere (first face 1), repa");
  EXPECT_TRUE(has_left(faults));
}

TEST(Repair, NothingIsLeftOfNothing) {
  Mesh empty;
  MeshNames names;
  EXPECT_TRUE(repair_mesh(empty, names).empty());
  Mesh point;
  point.positions = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  point.add_face({0, 1, 2});
  EXPECT_FALSE(repair_mesh(point, names).empty());
  EXPECT_EQ(point.face_count(), 0);
}

}  // namespace
}  // namespace isocloth

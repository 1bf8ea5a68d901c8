#include "engine/mesh/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "engine/core/errors.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/validate.hpp"
#include "tests/engine/mesh_measures.hpp"

namespace isocloth {
namespace {

using testing::euler_characteristic;
using testing::face_area;
using testing::least_angle;
using testing::total_area;
using testing::uv_area;

struct Expected {
  const char* name;
  std::function<Mesh()> make;
  Index euler;
  std::size_t loops, corners;
  bool flat;  ///< in z = 0 with +z in front
};

class Generators : public ::testing::TestWithParam<Expected> {};

TEST_P(Generators, MakesValidSurface) {
  const Expected& expected = GetParam();
  Mesh mesh = expected.make();
  EXPECT_EQ(validate_mesh(mesh, expected.name), 0) << "orientation was not consistent";
  EXPECT_EQ(euler_characteristic(mesh), expected.euler);
  const Topology t = build_topology(mesh);
  EXPECT_EQ(t.boundary_loops.size(), expected.loops);
  EXPECT_EQ(t.corner_nodes.size(), expected.corners);
}

TEST_P(Generators, FrontIsWhereItShouldBe) {
  const Mesh mesh = GetParam().make();
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const Vec3d normal = area_vector(mesh, f);
    EXPECT_GT(face_area(mesh, f), 0);
    if (GetParam().flat) {
      EXPECT_GT(normal.z, 0) << "face " << f;
    } else {
      Vec3d centre{};
      for (const Index node : mesh.face(f)) centre += mesh.positions[node];
      centre.z = 0;  // tube and tank-top stand around the z axis
      EXPECT_GT(dot(normal, centre), 0) << "face " << f;
    }
  }
}

TEST_P(Generators, UvAreasAreRestAreas) {
  const Mesh mesh = GetParam().make();
  ASSERT_EQ(mesh.corner_uvs.size(), mesh.face_nodes.size());
  // The tank-top's panels are not exactly developable: its docstring grants 5 % of width.
  const double tolerance = std::string(GetParam().name) == "tank_top" ? 0.05 : 1e-9;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    EXPECT_NEAR(uv_area(mesh, f) / face_area(mesh, f), 1, tolerance) << "face " << f;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Generators,
    ::testing::Values(
        Expected{"quad_grid", [] { return quad_grid(9, 6, 0.297, 0.42); }, 1, 1, 4, true},
        Expected{"triangle_grid_parallel", [] { return triangle_grid(9, 6, 1, 2, Diagonals::parallel); }, 1,
                 1, 4, true},
        Expected{"triangle_grid_alternating",
                 [] { return triangle_grid(2, 2, 1, 2, Diagonals::alternating); }, 1, 1, 4, true},
        Expected{"irregular_triangles", [] { return irregular_triangles(20, 392, 1, 1, 7); }, 1, 1, 4, true},
        Expected{"irregular_rectangle", [] { return irregular_triangles(12, 140, 0.297, 0.42, 7); }, 1, 1, 4,
                 true},
        Expected{"ring_quads", [] { return ring(5, 21, 0.09, 0.15, FaceKind::quads, 0.3); }, 0, 2, 0, true},
        Expected{"ring_triangles", [] { return ring(2, 20, 0.09, 0.15, FaceKind::triangles); }, 0, 2, 0,
                 true},
        Expected{"disc_quads", [] { return disc(5, 20, 0.15, FaceKind::quads); }, 1, 1, 0, true},
        Expected{"disc_triangles", [] { return disc(5, 21, 0.15, FaceKind::triangles); }, 1, 1, 0, true},
        Expected{"tube_quads", [] { return tube(6, 12, 0.1, 0.5, FaceKind::quads); }, 0, 2, 0, false},
        Expected{"tube_triangles", [] { return tube(6, 3, 0.1, 0.5, FaceKind::triangles); }, 0, 2, 0, false},
        Expected{"tank_top", [] { return tank_top(); }, -2, 4, 0, false}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(QuadGrid, NodeOrder) {
  const Mesh mesh = quad_grid(4, 3, 3, 4);
  EXPECT_EQ(mesh.positions[0], (Vec3d{0, 0, 0}));
  EXPECT_EQ(mesh.positions[2 * 4 + 3], (Vec3d{3, 4, 0}));
  EXPECT_EQ(mesh.positions[1 * 4 + 2], (Vec3d{2, 2, 0}));
  EXPECT_DOUBLE_EQ(total_area(mesh), 12);
}

TEST(TriangleGrid, DiagonalDirections) {
  const auto has_edge = [](const Topology& t, Index a, Index b) {
    return std::find(t.edges.begin(), t.edges.end(), std::array{a, b}) != t.edges.end();
  };
  const Topology parallel = build_topology(triangle_grid(3, 2, 2, 1, Diagonals::parallel));
  EXPECT_TRUE(has_edge(parallel, 0, 4) && has_edge(parallel, 1, 5));
  const Topology alternating = build_topology(triangle_grid(3, 2, 2, 1, Diagonals::alternating));
  EXPECT_TRUE(has_edge(alternating, 0, 4) && has_edge(alternating, 2, 4));
}

TEST(IrregularTriangles, PaperMeshes) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    for (const auto& [segments, interior, nodes] : {std::array{20, 392, 472}, std::array{28, 829, 941}}) {
      const Mesh mesh = irregular_triangles(segments, interior, 1, 1, seed);
      EXPECT_EQ(mesh.node_count(), nodes);
      EXPECT_EQ(mesh.face_count(), 2 * nodes - 4 * segments - 2);
      EXPECT_NEAR(total_area(mesh), 1, 1e-12);
      EXPECT_GT(least_angle(mesh), 15) << "seed " << seed;
    }
  }
}

TEST(IrregularTriangles, SeedDecides) {
  const Mesh a = irregular_triangles(10, 90, 1, 1, 5), b = irregular_triangles(10, 90, 1, 1, 5);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.face_nodes, b.face_nodes);
  EXPECT_NE(a.positions, irregular_triangles(10, 90, 1, 1, 6).positions);
}

TEST(IrregularTriangles, BoundaryFirstCounterClockwise) {
  const Mesh mesh = irregular_triangles(10, 90, 2, 1, 0);
  const Topology t = build_topology(mesh);
  ASSERT_EQ(t.boundary_loops.size(), 1u);
  ASSERT_EQ(t.boundary_loops[0].size(), 40u);
  for (Index k = 0; k < 40; ++k) EXPECT_EQ(t.boundary_loops[0][k], k);
  EXPECT_EQ(mesh.positions[10], (Vec3d{2, 0, 0}));
  EXPECT_EQ(mesh.positions[30], (Vec3d{0, 1, 0}));
}

TEST(Ring, AreaAndPhase) {
  // A regular polygon of k sides and circumradius r has area k/2 r^2 sin(2 pi / k).
  const double share = 11 * std::sin(2 * std::numbers::pi / 22);
  EXPECT_NEAR(total_area(ring(4, 22, 0.09, 0.15, FaceKind::quads)), share * (0.15 * 0.15 - 0.09 * 0.09),
              1e-15);
  EXPECT_NEAR(total_area(disc(4, 22, 0.15, FaceKind::triangles)), share * 0.15 * 0.15, 1e-15);
  const Mesh turned = ring(2, 22, 1, 2, FaceKind::quads, std::numbers::pi / 2);
  EXPECT_NEAR(turned.positions[22].y, 2, 1e-15);
}

TEST(Tube, UnrollsWithoutStretching) {
  const Mesh mesh = tube(5, 9, 0.1, 0.4, FaceKind::triangles);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const Index begin = mesh.face_begin[f];
    for (Index c = 0; c < 3; ++c) {
      const Index next = (c + 1) % 3;
      const Vec2d uv = mesh.corner_uvs[begin + next] - mesh.corner_uvs[begin + c];
      const Vec3d x = mesh.positions[mesh.face(f)[next]] - mesh.positions[mesh.face(f)[c]];
      EXPECT_NEAR(std::hypot(uv.x, uv.y), norm(x), 1e-15);
    }
  }
}

TEST(Generators, RefuseWhatIsTooLarge) {
  EXPECT_THROW(quad_grid(65536, 65536, 1, 1), MeshError);
  EXPECT_THROW(triangle_grid(100'000, 100'000, 1, 1, Diagonals::parallel), MeshError);
  EXPECT_THROW(ring(65536, 65536, 1, 2, FaceKind::quads), MeshError);
  EXPECT_THROW(tube(65536, 65536, 1, 2, FaceKind::quads), MeshError);
  EXPECT_THROW(disc(3, 1001, 1, FaceKind::quads), MeshError);
  Mesh most = disc(1, 1000, 1, FaceKind::quads);
  EXPECT_NO_THROW(validate_mesh(most, "disc"));
  try {
    irregular_triangles(2, 1000, 1, 1, 1);
    FAIL();
  } catch (const MeshError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("irregular_triangles: ", 0), 0u) << error.what();
  }
}

TEST(TankTop, MeetsTargetAndQuality) {
  for (const Index target : {300, 1000, 1700, 6000}) {
    const Mesh mesh = tank_top(target);
    EXPECT_NEAR(static_cast<double>(mesh.face_count()) / target, 1, 0.15);
    EXPECT_GT(least_angle(mesh), 15) << target;
  }
  for (const Index target : {0, 299, 10'000'001}) EXPECT_THROW(tank_top(target), MeshError) << target;
}

TEST(TankTop, HasTheSizeOfAGarment) {
  const Mesh mesh = tank_top();
  double low = 1, high = 0, front = 0, back = 0;
  for (const Vec2d& uv : mesh.corner_uvs) {
    low = std::min(low, uv.x);
    high = std::max(high, uv.x);
  }
  for (const Vec3d& x : mesh.positions) {
    front = std::max(front, x.y);
    back = std::min(back, x.y);
    EXPECT_GE(x.z, 0);
    EXPECT_LE(x.z, 0.6);
  }
  EXPECT_NEAR(high - low, 0.45, 1e-12);
  EXPECT_GT(front, 0.03);
  EXPECT_LT(back, -0.03);
}

TEST(TankTop, EdgesKeepPatternLengths) {
  const Mesh mesh = tank_top();
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const Index begin = mesh.face_begin[f];
    for (Index c = 0; c < 3; ++c) {
      const Index next = (c + 1) % 3;
      const Vec2d uv = mesh.corner_uvs[begin + next] - mesh.corner_uvs[begin + c];
      const double length = norm(mesh.positions[mesh.face(f)[next]] - mesh.positions[mesh.face(f)[c]]);
      EXPECT_NEAR(length / std::hypot(uv.x, uv.y), 1, 0.05) << "face " << f;
    }
  }
}

TEST(TankTop, PanelsMeetOnlyAtSeams) {
  const Mesh mesh = tank_top();
  double least = 1;
  for (std::size_t a = 0; a < mesh.positions.size(); ++a) {
    for (std::size_t b = a + 1; b < mesh.positions.size(); ++b) {
      least = std::min(least, norm(mesh.positions[a] - mesh.positions[b]));
    }
  }
  EXPECT_GT(least, 0.005);
}

TEST(GeneratorArguments, AreRefusedByName) {
  const auto message = [](const std::function<Mesh()>& make) -> std::string {
    try {
      make();
    } catch (const MeshError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message([] { return quad_grid(1, 5, 1, 1); }),
            "quad_grid: found 1 x 5 nodes, expected at least 2 x 2; add nodes");
  EXPECT_EQ(message([] { return triangle_grid(3, 3, 0, 1, Diagonals::parallel); }),
            "triangle_grid: found size 0 x 1 m, expected numbers > 0");
  EXPECT_NE(message([] { return irregular_triangles(1, 5, 1, 1, 0); }).find("1 boundary segments"),
            std::string::npos);
  EXPECT_NE(message([] { return ring(1, 9, 1, 2, FaceKind::quads); }).find("ring: found 1 circles"),
            std::string::npos);
  EXPECT_NE(message([] { return ring(2, 9, 2, 1, FaceKind::quads); }).find("outer_radius 1 m"),
            std::string::npos);
  EXPECT_NE(message([] { return disc(2, 2, 1, FaceKind::quads); }).find("disc: found"), std::string::npos);
  EXPECT_NE(message([] { return tube(2, 9, -1, 1, FaceKind::quads); }).find("radius -1 m"),
            std::string::npos);
  EXPECT_NE(message([] { return tank_top(10); }).find("triangle_target 10"), std::string::npos);
}

}  // namespace
}  // namespace isocloth

// Garments of the islands of a mesh's texture coordinates.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/panels.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/validate.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

double area(const Mesh& mesh) {
  double sum = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) sum += norm(area_vector(mesh, f));
  return sum;
}

TEST(Islands, OfAPatternAreThePanelsOfItsGarment) {
  const Mesh top = tank_top(800);  // of two panels, whose pattern is in its texture coordinates
  SewnPanels sewn = sew_islands(top, 1, 0, "mesh");
  EXPECT_EQ(validate_mesh(sewn.mesh, "mesh"), 0);
  EXPECT_EQ(piece_count(sewn.mesh), 1);
  std::vector<Stitch> stitches = std::move(sewn.mesh.stitches);
  sewn.mesh.stitches.clear();
  EXPECT_EQ(piece_count(sewn.mesh), 2);
  EXPECT_EQ(sewn.mesh.node_count(), top.node_count() + static_cast<Index>(stitches.size()));
  for (const Stitch& stitch : stitches) EXPECT_EQ(sewn.placed[stitch.a], sewn.placed[stitch.b]);
  double pattern = 0;
  for (Index f = 0; f < top.face_count(); ++f) {
    const Index c = top.face_begin[f];
    const Vec2d a = top.corner_uvs[c + 1] - top.corner_uvs[c], b = top.corner_uvs[c + 2] - top.corner_uvs[c];
    pattern += std::abs(a.x * b.y - a.y * b.x) / 2;
  }
  EXPECT_NEAR(area(sewn.mesh), pattern, 1e-12);
  // Islands lie apart: nothing of one is within the other's box.
  double end_of_first = -1, begin_of_second = 1e30;
  const std::vector<Index> sides = [&] {
    Mesh joined = sewn.mesh;
    for (Index f = 0; f < joined.face_count(); ++f)
      for (const Index node : joined.face(f)) joined.stitches.push_back({joined.face(f)[0], node, 1});
    return sewn_nodes(joined);
  }();
  for (Index node = 0; node < sewn.mesh.node_count(); ++node) {
    const double x = sewn.mesh.positions[node].x;
    if (sides[node] == sides[0])
      end_of_first = std::max(end_of_first, x);
    else
      begin_of_second = std::min(begin_of_second, x);
  }
  EXPECT_GT(begin_of_second, end_of_first);
  // Twice as large, with seams twice as long.
  const SewnPanels twice = sew_islands(top, 2, 0, "mesh");
  EXPECT_NEAR(area(twice.mesh), 4 * pattern, 1e-12);
  for (std::size_t i = 0; i < stitches.size(); ++i)
    EXPECT_NEAR(twice.mesh.stitches[i].length, 2 * stitches[i].length, 1e-12);
}

/// Two quads side by side, cut at the middle edge where `gap` > 0.
Mesh two_quads(double gap) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {2, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}};
  mesh.add_face({2, 1, 5, 4});
  mesh.add_face({0, 2, 4, 3});
  mesh.corner_uvs = {{1 + gap, 0}, {2 + gap, 0}, {2 + gap, 1}, {1 + gap, 1}, {0, 0}, {1, 0}, {1, 1}, {0, 1}};
  return mesh;
}

TEST(Islands, KeepTheNumbersOfTheFile) {
  for (const double gap : {0.0, 0.005, 0.5}) {
    const Mesh mesh = two_quads(gap);
    const SewnPanels sewn = sew_islands(mesh, 1, 0, "mesh");
    const std::size_t cut = gap > 0.1 ? 2 : 0;  // what is nearer is rounding
    ASSERT_EQ(sewn.placed.size(), mesh.positions.size() + cut);
    EXPECT_EQ(sewn.mesh.stitches.size(), cut);
    for (std::size_t node = 0; node < mesh.positions.size(); ++node)
      EXPECT_EQ(sewn.placed[node], mesh.positions[node]) << node;
    EXPECT_NEAR(sewn.stretch, 1, 0.01);
  }
}

/// Four quads around node 4 of a square of 2 m; the upper two are an island whose corner there lies `gap`
/// [m] above that of the lower one, and whose other corners lie farther above.
Mesh touching_islands(double gap) {
  Mesh mesh = quad_grid(3, 3, 2, 2);
  mesh.corner_uvs.clear();
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const Index node : mesh.face(f)) {
      const Vec3d p = mesh.positions[node];
      const double lift = f < 2 ? 0 : node == 4 ? gap : 0.1;
      mesh.corner_uvs.push_back({p.x, p.y + lift});
    }
  return mesh;
}

TEST(Islands, ThatTouchInAPointAreSewnThereToo) {
  for (const double gap : {0.0, 1e-3, 0.05}) {
    const Mesh mesh = touching_islands(gap);
    SewnPanels sewn = sew_islands(mesh, 1, 0, "mesh");
    EXPECT_EQ(sewn.mesh.node_count(), 12) << gap;
    EXPECT_EQ(sewn.mesh.stitches.size(), 3u) << gap;
    EXPECT_EQ(validate_mesh(sewn.mesh, "mesh"), 0);
  }
}

TEST(Islands, ThatNearlyTouchAlongAnEdgeAreApart) {
  for (const double gap : {0.0, 1e-3, 0.005}) {
    Mesh mesh = quad_grid(9, 9, 8, 8);  // the upper half of the pattern is drawn away by a gap
    mesh.corner_uvs.clear();
    for (Index f = 0; f < mesh.face_count(); ++f)
      for (const Index node : mesh.face(f)) {
        const Vec3d p = mesh.positions[node];
        mesh.corner_uvs.push_back({p.x, p.y + (f < 32 ? 0 : gap)});
      }
    EXPECT_EQ(sew_islands(mesh, 1, 0, "mesh").mesh.node_count(), gap > 0 ? 90 : 81) << gap;
  }
}

TEST(Islands, AreMeasuredByTheirMedianEdge) {
  // A strip of ten quads, one of which is drawn out to thirty times its length in the pattern.
  Mesh mesh = quad_grid(11, 2, 10, 1);
  mesh.corner_uvs.clear();
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const Index node : mesh.face(f)) {
      const Vec3d p = mesh.positions[node];
      mesh.corner_uvs.push_back({p.x > 9.5 ? p.x + 29 : p.x, p.y});
    }
  EXPECT_DOUBLE_EQ(sew_islands(mesh, 1, 0, "mesh").stretch, 1);
  EXPECT_DOUBLE_EQ(sew_islands(mesh, 2, 0, "mesh").stretch, 2);
}

TEST(Islands, HaveTheirGrain) {
  const Mesh mesh = two_quads(0.5);
  for (const double grain : {0.0, 90.0, 30.0}) {
    const SewnPanels sewn = sew_islands(mesh, 1, grain, "mesh");
    const double angle = std::numbers::pi / 180 * grain;
    for (const Vec3d& warp : face_warp_directions(sewn.mesh, build_topology(sewn.mesh)))
      EXPECT_NEAR(norm(warp - Vec3d{std::cos(angle), std::sin(angle), 0}), 0, 1e-12) << grain;
  }
}

TEST(Islands, LieFlatAndHaveArea) {
  const auto refusal_of = [](const Mesh& mesh) {
    try {
      sew_islands(mesh, 1, 0, "mesh.uv_scale");
    } catch (const MeshError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Mesh folded = two_quads(0);  // the second on the first
  for (Vec2d& uv : folded.corner_uvs) uv.x = std::abs(uv.x - 1);
  EXPECT_NE(
      refusal_of(folded).find("mesh.uv_scale: found a pattern that is folded, as of mirrored halves: face "
                              "0 and face 1 of it lie on the same side of the edge between node 2 and node "
                              "4"),
      std::string::npos)
      << refusal_of(folded);
  Mesh mirrored = two_quads(0.5);  // an island of its own
  for (std::size_t c = 4; c < 8; ++c) mirrored.corner_uvs[c].x *= -1;
  EXPECT_EQ(refusal_of(mirrored), "");
  Mesh thin = two_quads(0);
  for (std::size_t c = 4; c < 8; ++c) thin.corner_uvs[c].y = 0;
  EXPECT_NE(refusal_of(thin).find("mesh.uv_scale: found no area of face 1 in the pattern"), std::string::npos)
      << refusal_of(thin);
}

TEST(Islands, NeedAPatternOfTheRightSize) {
  Mesh top = tank_top(800);
  const auto refusal_of = [&](double scale) {
    try {
      sew_islands(top, scale, 0, "mesh.uv_scale");
    } catch (const MeshError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal_of(0.01).find("mesh.uv_scale: found edges 0.01"), std::string::npos) << refusal_of(0.01);
  top.corner_uvs.clear();
  EXPECT_EQ(refusal_of(1),
            "mesh.uv_scale: found a mesh without texture coordinates at every corner of its faces, "
            "expected a pattern in them");
}

}  // namespace
}  // namespace isocloth

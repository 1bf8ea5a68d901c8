#include "engine/mesh/material_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/generators.hpp"
#include "tests/engine/mesh_measures.hpp"

namespace isocloth {
namespace {

constexpr double rounding = 1e-12;

struct Frames {
  explicit Frames(const Mesh& of) : mesh(of), topology(build_topology(of)), faces(corner_faces(of)) {
    warps = material_warp_directions(mesh, topology);
  }
  Vec3d normal(Index corner) const { return normalized(area_vector(mesh, faces[corner])); }
  bool at_corner(Index corner) const {
    const auto& nodes = topology.corner_nodes;
    return std::find(nodes.begin(), nodes.end(), mesh.face_nodes[corner]) != nodes.end();
  }

  const Mesh& mesh;
  Topology topology;
  std::vector<Index> faces;
  std::vector<Vec3d> warps;
};

void expect_unit_and_tangent(const Mesh& mesh) {
  const Frames frames(mesh);
  ASSERT_EQ(frames.warps.size(), mesh.face_nodes.size());
  for (Index c = 0; c < mesh.corner_count(); ++c) {
    EXPECT_NEAR(norm(frames.warps[c]), 1, rounding) << "corner " << c;
    EXPECT_NEAR(dot(frames.warps[c], frames.normal(c)), 0, rounding) << "corner " << c;
  }
}

Mesh without_uvs(Mesh mesh) {
  mesh.corner_uvs.clear();
  return mesh;
}

Mesh noisy(Mesh mesh, double amplitude) {
  Random random(3);
  for (Vec3d& x : mesh.positions) x.z += random.uniform(-amplitude, amplitude);
  return mesh;
}

/// Turned by 30 degrees about z, then by 50 degrees about y.
Vec3d turned(Vec3d x) {
  const double a = std::numbers::pi / 6, b = 50 * std::numbers::pi / 180;
  const Vec3d y{std::cos(a) * x.x - std::sin(a) * x.y, std::sin(a) * x.x + std::cos(a) * x.y, x.z};
  return {std::cos(b) * y.x + std::sin(b) * y.z, y.y, -std::sin(b) * y.x + std::cos(b) * y.z};
}

TEST(MaterialFrame, FlatRectangleIsMeasuredAlongX) {
  for (const Mesh& flat :
       {quad_grid(6, 5, 0.3, 0.4), triangle_grid(6, 5, 0.3, 0.4, Diagonals::parallel),
        triangle_grid(6, 5, 0.3, 0.4, Diagonals::alternating), irregular_triangles(8, 60, 1, 1, 2)}) {
    for (const Mesh& mesh : {flat, without_uvs(flat)}) {
      const Frames frames(mesh);
      for (Index c = 0; c < mesh.corner_count(); ++c) {
        const Vec3d warp = frames.warps[c];
        if (frames.at_corner(c)) {
          // Along one of the two sides: both sides of a right angle are axes.
          EXPECT_NEAR(std::max(std::abs(warp.x), std::abs(warp.y)), 1, rounding) << "corner " << c;
        } else {
          EXPECT_NEAR(std::abs(warp.x), 1, rounding) << "corner " << c;
        }
      }
    }
  }
}

TEST(MaterialFrame, CornerWarpFollowsTheNextBoundaryEdge) {
  const Mesh mesh = quad_grid(4, 4, 1, 1);
  const Frames frames(mesh);
  const auto warp_at = [&](Index node) {
    return frames.warps[frames.topology.node_corners[frames.topology.node_corner_begin[node]]];
  };
  EXPECT_NEAR(dot(warp_at(0), {1, 0, 0}), 1, rounding);
  EXPECT_NEAR(dot(warp_at(3), {0, 1, 0}), 1, rounding);
  EXPECT_NEAR(dot(warp_at(15), {-1, 0, 0}), 1, rounding);
  EXPECT_NEAR(dot(warp_at(12), {0, -1, 0}), 1, rounding);
}

TEST(MaterialFrame, ObliqueCornerIsHalvedAtFortyFiveDegrees) {
  // A parallelogram with angles of 60 and 120 degrees: four corners, none of them right.
  Mesh mesh = triangle_grid(5, 5, 1, 1, Diagonals::parallel);
  for (Vec3d& x : mesh.positions) x = turned({x.x + 0.5 * x.y, std::sqrt(0.75) * x.y, 0});
  const Frames frames(mesh);
  ASSERT_EQ(frames.topology.corner_nodes.size(), 4u);
  const auto& loop = frames.topology.boundary_loops[0];
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const Vec3d x = mesh.positions[loop[i]];
    const Vec3d after = normalized(mesh.positions[loop[(i + 1) % loop.size()]] - x);
    const Vec3d before = normalized(mesh.positions[loop[(i + loop.size() - 1) % loop.size()]] - x);
    for (Index k = frames.topology.node_corner_begin[loop[i]];
         k < frames.topology.node_corner_begin[loop[i] + 1]; ++k) {
      const Index c = frames.topology.node_corners[k];
      if (!frames.at_corner(c)) continue;
      const Vec3d warp = frames.warps[c], weft = cross(frames.normal(c), warp);
      // warp and weft lie at -45 and +45 degrees of the bisector: each edge lies as far from one as from the
      // other.
      EXPECT_NEAR(dot(warp, after), dot(weft, before), rounding);
      EXPECT_NEAR(dot(warp, after + before), dot(weft, after + before), rounding);
      EXPECT_GT(dot(warp, after + before), 0);
    }
  }
}

TEST(MaterialFrame, TextureDecidesWhereThereIsOne) {
  Mesh mesh = irregular_triangles(6, 30, 1, 1, 1);
  // u = x + y / 2, v = y: warp threads (v constant) run along x whatever the shear; rotated in space with the
  // sheet.
  for (Vec2d& uv : mesh.corner_uvs) uv = {uv.x + 0.5 * uv.y, uv.y};
  for (Vec3d& x : mesh.positions) x = turned(x);
  const Frames frames(mesh);
  const Vec3d thread = turned({1, 0, 0});
  for (Index c = 0; c < mesh.corner_count(); ++c) {
    if (frames.at_corner(c)) continue;
    EXPECT_NEAR(dot(frames.warps[c], thread), 1, rounding);
  }
}

TEST(MaterialFrame, MirroredTextureKeepsTheSenseOfItsThreads) {
  Mesh mesh = quad_grid(4, 4, 1, 1);
  for (Vec2d& uv : mesh.corner_uvs) uv = {-uv.y, -uv.x};
  const Frames frames(mesh);
  for (Index c = 0; c < mesh.corner_count(); ++c) {
    if (frames.at_corner(c)) continue;
    EXPECT_NEAR(dot(frames.warps[c], {0, -1, 0}), 1, rounding);
  }
}

TEST(MaterialFrame, TubeTextureRunsAround) {
  const Mesh mesh = tube(4, 16, 0.1, 0.3, FaceKind::quads);
  expect_unit_and_tangent(mesh);
  for (const Vec3d& warp : Frames(mesh).warps) EXPECT_NEAR(warp.z, 0, rounding);
}

TEST(MaterialFrame, UnitAndTangentOnCurvedSurfaces) {
  expect_unit_and_tangent(without_uvs(tube(5, 7, 0.1, 0.3, FaceKind::triangles)));
  expect_unit_and_tangent(without_uvs(tube(5, 7, 0.1, 0.3, FaceKind::quads)));
  expect_unit_and_tangent(testing::octasphere(0));
  expect_unit_and_tangent(testing::octasphere(3));
  expect_unit_and_tangent(tank_top(300));
  expect_unit_and_tangent(without_uvs(tank_top(300)));
  for (const double amplitude : {0.003, 0.1}) {
    expect_unit_and_tangent(without_uvs(noisy(quad_grid(9, 9, 1, 1), amplitude)));
    expect_unit_and_tangent(without_uvs(noisy(irregular_triangles(8, 60, 1, 1, 2), amplitude)));
  }
}

TEST(MaterialFrame, OneFramePerNodeAcrossCreases) {
  // A sheet folded by 120 degrees along a slanted line: unfolded, every frame around a node is the same one,
  // so the angle from the crease to the warp agrees on both sides of it.
  Mesh mesh = without_uvs(triangle_grid(2, 3, 1, 2, Diagonals::parallel));
  for (Vec3d& x : mesh.positions) x.y += 0.3 * x.x;  // the crease joins nodes 2 and 3
  const Vec3d origin = mesh.positions[2], crease = normalized(mesh.positions[3] - origin);
  const double fold = 2 * std::numbers::pi / 3;
  for (const Index k : {4, 5}) {
    const Vec3d r = mesh.positions[k] - origin;
    mesh.positions[k] = origin + std::cos(fold) * r + std::sin(fold) * cross(crease, r) +
                        (1 - std::cos(fold)) * dot(crease, r) * crease;
  }
  const Frames frames(mesh);
  for (const Index node : {2, 3}) {
    std::vector<double> angles;
    for (Index k = frames.topology.node_corner_begin[node]; k < frames.topology.node_corner_begin[node + 1];
         ++k) {
      const Index c = frames.topology.node_corners[k];
      ASSERT_FALSE(frames.at_corner(c));
      const Vec3d warp = frames.warps[c];
      angles.push_back(std::atan2(dot(cross(crease, warp), frames.normal(c)), dot(crease, warp)));
    }
    ASSERT_EQ(angles.size(), 3u);
    // The node's normal is an area-weighted mean and need not halve the fold, but stays across the crease.
    EXPECT_NEAR(angles[0], angles[1], rounding);
    EXPECT_NEAR(angles[0], angles[2], rounding);
  }
}

TEST(MaterialFrame, TakesTheAxisWhereTextureHasNoArea) {
  Mesh mesh = quad_grid(3, 3, 1, 1);
  for (Index c = mesh.face_begin[2]; c < mesh.face_begin[3]; ++c) mesh.corner_uvs[c].y = mesh.corner_uvs[c].x;
  EXPECT_EQ(count_without_texture_area(mesh), 1);
  for (const Vec3d& warp : face_warp_directions(mesh, build_topology(mesh)))
    EXPECT_EQ(warp, (Vec3d{1, 0, 0}));
  // However small the texture is.
  mesh = quad_grid(3, 3, 1, 1);
  for (Vec2d& uv : mesh.corner_uvs) uv = 1e-7 * Vec2d{uv.y, -uv.x};
  EXPECT_EQ(count_without_texture_area(mesh), 0);
  for (const Vec3d& warp : face_warp_directions(mesh, build_topology(mesh)))
    EXPECT_NEAR(norm(warp - Vec3d{0, 1, 0}), 0, rounding);
}

}  // namespace
}  // namespace isocloth

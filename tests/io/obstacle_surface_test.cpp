// Pictures of obstacles: closed, outside out, on the true surface; and their packed poses.
#include "host/results/obstacle_surface.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>

#include "host/results/obstacle_poses.hpp"

namespace isocloth {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

double volume(const ObstacleSurface& surface) {
  double sum = 0;
  for (const auto& [a, b, c] : surface.triangles)
    sum += dot(surface.vertices[a], cross(surface.vertices[b], surface.vertices[c])) / 6;
  return sum;
}

/// Every edge belongs to two triangles that run along it in opposite directions.
void expect_closed(const ObstacleSurface& surface) {
  std::map<std::pair<Index, Index>, int> edges;
  for (const auto& corners : surface.triangles) {
    for (std::size_t c = 0; c < 3; ++c) {
      const Index a = corners[c], b = corners[(c + 1) % 3];
      EXPECT_EQ(++edges[std::pair(a, b)], 1) << a << " to " << b << " twice";
    }
  }
  for (const auto& [edge, count] : edges) EXPECT_EQ(edges.count({edge.second, edge.first}), 1u);
}

/// Closed, its vertices at no distance, and of a volume below the true one by what chords of 12 (`round`) or
/// 4 pieces per quarter turn cut off: less than 1 - (sin(a) / a)^3 of it, a the largest angle of a piece.
void expect_solid(const ObstacleShape& shape, double true_volume, int pieces,
                  const std::function<double(const Vec3d&)>& distance) {
  const ObstacleSurface surface = obstacle_surface(shape);
  SCOPED_TRACE(shape_name(shape));
  expect_closed(surface);
  for (const Vec3d& p : surface.vertices) EXPECT_NEAR(distance(p), 0, 16 * eps);
  const double angle = std::numbers::pi / 2 / pieces;
  EXPECT_LE(volume(surface), true_volume * (1 + 1e-12));
  EXPECT_GE(volume(surface), true_volume * std::pow(std::sin(angle) / angle, 3));
}

double outside(double x) { return std::max(x, 0.0); }

TEST(ObstacleSurface, SolidsAreClosedAndOnTheirTrueSurface) {
  const double pi = std::numbers::pi;
  expect_solid(SphereShape{.radius = 2}, 4. / 3 * pi * 8, 12, [](const Vec3d& p) { return norm(p) - 2; });
  expect_solid(CapsuleShape{.radius = 0.5, .length = 3}, 4. / 3 * pi * 0.125 + pi * 0.25 * 3, 12,
               [](const Vec3d& p) {
                 return norm(Vec3d{p.x, p.y, outside(std::abs(p.z) - 1.5)}) - 0.5;
               });
  const auto cylinder = [](double radius, double half, double r) {
    return [=](const Vec3d& p) {
      const double side = std::hypot(p.x, p.y) - (radius - r), above = std::abs(p.z) - (half - r);
      return std::hypot(outside(side), outside(above)) + std::min(std::max(side, above), 0.0) - r;
    };
  };
  expect_solid(CylinderShape{.radius = 1, .height = 3, .rounding = 0}, 3 * pi, 12, cylinder(1, 1.5, 0));
  // Pappus: a disc's area times the way of its centroid, over the four parts of the profile.
  const double r = 0.25, core = 1 - r;
  const double rounded = pi * core * core * 3 + 2 * pi * (core + r / 2) * r * (3 - 2 * r) +
                         2 * 2 * pi * (core + 4 * r / (3 * pi)) * pi * r * r / 4;
  expect_solid(CylinderShape{.radius = 1, .height = 3, .rounding = r}, rounded, 4, cylinder(1, 1.5, r));
  const auto box = [](double r0) {
    return [=](const Vec3d& p) {
      const Vec3d q{std::abs(p.x) - (0.5 - r0), std::abs(p.y) - (1 - r0), std::abs(p.z) - (1.5 - r0)};
      return norm(Vec3d{outside(q.x), outside(q.y), outside(q.z)}) +
             std::min(std::max({q.x, q.y, q.z}), 0.0) - r0;
    };
  };
  expect_solid(BoxShape{.size = {1, 2, 3}, .rounding = 0}, 6, 12, box(0));
  // Steiner: core, faces, edges and corners.
  const double a = 1 - 2 * r, b = 2 - 2 * r, c = 3 - 2 * r;
  expect_solid(
      BoxShape{.size = {1, 2, 3}, .rounding = r},
      a * b * c + 2 * r * (a * b + b * c + c * a) + pi * r * r * (a + b + c) + 4. / 3 * pi * r * r * r, 4,
      box(r));
  EXPECT_EQ(obstacle_surface(BoxShape{.size = {1, 2, 3}, .rounding = 0}).vertices.size(), 8u);
}

HeightFieldShape waves(Index along_x, Index along_y) {
  HeightFieldShape field{.samples = {along_x, along_y}, .spacing = 0.5, .heights = {}};
  for (Index y = 0; y < along_y; ++y)
    for (Index x = 0; x < along_x; ++x) field.heights.push_back(std::sin(0.1 * x) * std::cos(0.2 * y));
  return field;
}

TEST(ObstacleSurface, HeightFieldsShowTheirSamplesUpToABound) {
  const ObstacleSurface small = obstacle_surface(waves(5, 4));
  ASSERT_EQ(small.vertices.size(), 20u + 14u);
  EXPECT_EQ(small.vertices[7], (Vec3d{1, 0.5, std::sin(0.2) * std::cos(0.2)}));
  EXPECT_EQ(small.triangles.size(), 2u * (12 + 14));
  // Closed but for the bottom: of the rim of the foot only.
  std::map<std::pair<Index, Index>, int> edges;
  for (const auto& t : small.triangles)
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(++edges[std::pair(t[c], t[(c + 1) % 3])], 1);
  for (const auto& [edge, count] : edges)
    EXPECT_EQ(edges.count({edge.second, edge.first}), edge.first >= 20 && edge.second >= 20 ? 0u : 1u);
  const Vec3d& a = small.vertices[static_cast<std::size_t>(small.triangles[0][0])];
  const Vec3d& b = small.vertices[static_cast<std::size_t>(small.triangles[0][1])];
  const Vec3d& c = small.vertices[static_cast<std::size_t>(small.triangles[0][2])];
  EXPECT_GT(cross(b - a, c - a).z, 0) << "seen from above";

  const ObstacleSurface large = obstacle_surface(waves(1000, 3));
  EXPECT_EQ(large.vertices.size(), 201u * 3 + 2 * (200 + 2));
  EXPECT_EQ(large.vertices[200].x, 0.5 * 999);
}

TEST(ObstacleSurface, LargeMeshesAreMadeCoarse) {
  // A torus of 300 x 200 quads.
  MeshShape shape;
  const Index around = 300, across = 200;
  for (Index i = 0; i < around; ++i) {
    for (Index k = 0; k < across; ++k) {
      const double u = 2 * std::numbers::pi * i / around, v = 2 * std::numbers::pi * k / across;
      const double radius = 1 + 0.4 * std::cos(v);
      shape.surface.positions.push_back({radius * std::cos(u), radius * std::sin(u), 0.4 * std::sin(v)});
      const Index next = (i + 1) % around, up = (k + 1) % across;
      shape.surface.add_face({i * across + k, next * across + k, next * across + up, i * across + up});
    }
  }
  const ObstacleSurface coarse = obstacle_surface(shape);
  EXPECT_LE(coarse.triangles.size(), 60'000u);
  EXPECT_GE(coarse.triangles.size(), 10'000u);
  // No vertex has left its cell, of which the diagonal is sqrt(3) times 1 / 40 of that of the box, or less.
  const double diagonal = std::sqrt(2 * 2.8 * 2.8 + 0.8 * 0.8);
  for (const Vec3d& p : coarse.vertices)
    EXPECT_NEAR(std::hypot(std::hypot(p.x, p.y) - 1, p.z), 0.4, std::sqrt(3) * diagonal / 40);
  shape.surface.face_begin.resize(101);
  shape.surface.face_nodes.resize(400);
  EXPECT_EQ(obstacle_surface(shape).triangles.size(), 200u) << "small ones stay as they are";
  EXPECT_EQ(obstacle_surface(shape).vertices, shape.surface.positions);
}

TEST(PackedPose, GivesTheAxesBack) {
  for (const Vec3d& rotation : {Vec3d{},
                                {0.3, -0.8, 0.5},
                                {3.1, 0.1, 0},
                                {0, -3.1, 0.2},
                                {0.1, 0, 3.14},
                                {1.8, 1.8, -1.8},
                                {5, 1, 2}}) {
    Pose pose{.center = {1, -2, 3}, .axes = {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
    for (Vec3d& axis : pose.axes) axis = rotated(rotation, axis);
    const PackedPose packed = packed_pose(pose);
    EXPECT_EQ(packed[1], -2);
    const Vec3d v{packed[3], packed[4], packed[5]};
    const double w = packed[6];
    EXPECT_GE(w, 0);
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec3d unit{i == 0 ? 1. : 0, i == 1 ? 1. : 0, i == 2 ? 1. : 0};
      const Vec3d turned = unit + 2 * cross(v, cross(v, unit) + w * unit);
      // Four components of float: 4 times half a unit in the last place, doubled by the square.
      EXPECT_LT(norm(turned - pose.axes[i]), 8 * std::numeric_limits<float>::epsilon());
    }
  }
}

}  // namespace
}  // namespace isocloth

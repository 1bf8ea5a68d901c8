// Signed distances of the kernels, and those of the reference, from which contact is judged.
#include "kernels/contact/signed_distance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/geometry/distance_grid.hpp"
#include "engine/mesh/generators.hpp"
#include "host/reference/obstacle_distance.hpp"
#include "host/surroundings/obstacle_table.hpp"
#include "kernels/contact/deepest_point.hpp"
#include "kernels/contact/lane_distance.hpp"
#include "tests/engine/closed_meshes.hpp"
#include "tests/engine/mesh_measures.hpp"
#include "tests/support/nasty_bodies.hpp"

namespace isocloth {
namespace {

using reference::ShapeDistance;
using reference::SignedDistance;

template <class Real>
class SignedDistanceTest : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SignedDistanceTest, Precisions);

/// Sizes are floats, so that both precisions know the same shapes; one of each kind, with sharp and with
/// round edges.
struct Case {
  std::string name;
  ObstacleShape shape;
  Vec3d half;       ///< of its box [m]
  Vec3d core;       ///< half lengths of its core [m]
  double rounding;  ///< [m]
};
std::vector<Case> solids() {
  return {
      {"plane", PlaneShape{}, {1, 1, 0}, {}, 0},
      {"sphere", SphereShape{0.375}, {0.375, 0.375, 0.375}, {}, 0.375},
      {"capsule", CapsuleShape{0.125, 0.5}, {0.125, 0.125, 0.375}, {0, 0, 0.25}, 0.125},
      {"cylinder", CylinderShape{0.25, 0.75, 0}, {0.25, 0.25, 0.375}, {0.25, 0, 0.375}, 0},
      {"round cylinder", CylinderShape{0.25, 0.75, 0.0625}, {0.25, 0.25, 0.375}, {0.1875, 0, 0.3125}, 0.0625},
      {"pill", CylinderShape{0.25, 0.25, 0.125}, {0.25, 0.25, 0.125}, {0.125, 0, 0}, 0.125},
      {"box", BoxShape{{0.5, 0.75, 0.25}, 0}, {0.25, 0.375, 0.125}, {0.25, 0.375, 0.125}, 0},
      {"round box",
       BoxShape{{0.5, 0.75, 0.25}, 0.0625},
       {0.25, 0.375, 0.125},
       {0.1875, 0.3125, 0.0625},
       0.0625},
      {"rod", BoxShape{{0.25, 0.25, 0.5}, 0.125}, {0.125, 0.125, 0.25}, {0, 0, 0.125}, 0.125}};
}

/// Largest u . x over the points x of a solid.
double support(const Case& c, Vec3d u) {
  if (std::holds_alternative<PlaneShape>(c.shape)) return u.z == 1 ? 0 : INFINITY;
  if (std::holds_alternative<CylinderShape>(c.shape))
    return c.core.x * std::hypot(u.x, u.y) + c.core.z * std::abs(u.z) + c.rounding;
  return c.core.x * std::abs(u.x) + c.core.y * std::abs(u.y) + c.core.z * std::abs(u.z) + c.rounding;
}

Vec3d random_in(Random& random, Vec3d half) {
  const double x = random.uniform(-half.x, half.x), y = random.uniform(-half.y, half.y);
  return {x, y, random.uniform(-half.z, half.z)};
}
Vec3d random_direction(Random& random) {
  Vec3d v;
  do v = random_in(random, {1, 1, 1});
  while (dot(v, v) > 1 || dot(v, v) < 0.01);
  return normalized(v);
}
Vec3d as_float(Vec3d p) {
  return {static_cast<double>(static_cast<float>(p.x)), static_cast<double>(static_cast<float>(p.y)),
          static_cast<double>(static_cast<float>(p.z))};
}

/// All around and within, where distances have their kinks (centre, axes, planes of symmetry, faces, edges,
/// corners, of the solid and of its core), and close to those.
std::vector<Vec3d> places(const Case& c, Random& random) {
  std::vector<Vec3d> result;
  for (int n = 0; n < 400; ++n) result.push_back(random_in(random, 2 * c.half + Vec3d{0.1, 0.1, 0.1}));
  for (int n = 0; n < 400; ++n) result.push_back(random_in(random, c.half));
  for (const Vec3d& h : {c.half, c.core})
    for (int n = 0; n < 27; ++n) {
      const Vec3d kink{(n % 3 - 1) * h.x, (n / 3 % 3 - 1) * h.y, (n / 9 - 1) * h.z};
      result.push_back(kink);
      for (const double near : {1e-2, 1e-5, 1e-12}) result.push_back(kink + near * random_direction(random));
    }
  for (const double z : {0.01, 0.2, 3.0}) result.insert(result.end(), {{0, 0, z}, {z, 0, 0}, {0, -z, 0}});
  for (Vec3d& p : result) p = as_float(p);
  return result;
}

template <class Real>
Vec3<Real> narrow(Vec3d p) {
  return {static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z)};
}
template <class Real>
Vec3d widen(Vec3<Real> p) {
  return {p.x, p.y, p.z};
}

Obstacle obstacle_of(const ObstacleShape& shape) {
  return {.name = "solid", .shape = shape, .position = {}, .rotation = {}, .motion = {}, .friction = {}};
}

/// A shape as the kernels see it.
template <class Real>
struct Compiled {
  Scene scene;
  Device device{ExecutionOptions{.threads = 1}};
  std::unique_ptr<ObstacleShapes<Real>> shapes;
  explicit Compiled(const ObstacleShape& shape) {
    scene.obstacles.push_back(obstacle_of(shape));
    shapes = std::make_unique<ObstacleShapes<Real>>(device, scene);
  }
  SignedDistance at(Vec3d p) const {
    const auto& shape = shapes->shapes.view()[0];
    const auto found = cpu::signed_distance(shape, narrow<Real>(p));
    EXPECT_EQ(cpu::distance_value(shape, narrow<Real>(p)), found.value);
    expect_same_in_lanes(shape, p, found);
    return {static_cast<double>(found.value), widen(found.normal)};
  }
  /// In a lane beside another point.
  static void expect_same_in_lanes(const ShapeView<Real>& shape, Vec3d p, cpu::Distance<Real> found) {
    using S = cpu::Pack<Real>;
    for (int lane = 0; lane < S::width; lane += S::width - 1) {
      const Vec3<Real> own = narrow<Real>(p), other = narrow<Real>(Vec3d{0.03, -p.x, 2 * p.z});
      Vec3<S> all{S(other.x), S(other.y), S(other.z)};
      all.x.v[lane] = own.x;
      all.y.v[lane] = own.y;
      all.z.v[lane] = own.z;
      const cpu::Distance<S> in_lanes = cpu::lane_distance(shape, all);
      EXPECT_EQ(lane_value(in_lanes.value, lane), found.value);
      EXPECT_EQ(lane_value(in_lanes.normal.x, lane), found.normal.x);
      EXPECT_EQ(lane_value(in_lanes.normal.y, lane), found.normal.y);
      EXPECT_EQ(lane_value(in_lanes.normal.z, lane), found.normal.z);
    }
  }
};

/// A dozen operations on numbers of this size.
template <class Real>
double rounding(double size) {
  return 12 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * size;
}
double size_at(const Case& c, Vec3d p) { return norm(p) + norm(c.half); }

// Convex solids: the distance is the largest of u . p - support(u) over all directions u, taken at the
// gradient, inside as well as outside.
TEST(ReferenceDistance, OfConvexSolidsByTheirSupports) {
  Random random(1);
  for (const Case& c : solids()) {
    const ShapeDistance distance(c.shape);
    for (const Vec3d& p : places(c, random)) {
      const SignedDistance found = distance.at(p);
      const double tolerance = rounding<double>(size_at(c, p));
      ASSERT_NEAR(norm(found.gradient), 1, rounding<double>(1)) << c.name;
      ASSERT_NEAR(dot(found.gradient, p) - support(c, found.gradient), found.value, tolerance)
          << c.name << " at " << p.x << ", " << p.y << ", " << p.z;
      for (int n = 0; n < 30; ++n) {
        const Vec3d u = random_direction(random);
        ASSERT_LE(dot(u, p) - support(c, u), found.value + tolerance)
            << c.name << " at " << p.x << ", " << p.y << ", " << p.z;
      }
    }
  }
}

// A mesh of a box and a flat field are solids of known distance; a field's wall is one, too.
TEST(ReferenceDistance, OfMeshesAndHeightFields) {
  Random random(2);
  const Vec3d size{0.5, 0.75, 0.25};
  const ShapeDistance mesh(MeshShape{isocloth::testing::box_mesh(size, 2), 0, 0.125}), box(BoxShape{size, 0}),
      field(HeightFieldShape{{5, 4}, 0.125, std::vector<double>(20, 0.25)});
  for (int n = 0; n < 400; ++n) {
    const Vec3d p = random_in(random, {0.6, 0.6, 0.6});
    const SignedDistance found = mesh.at(p), expected = box.at(p);
    ASSERT_NEAR(found.value, expected.value - 0.125, 1e-14);
    ASSERT_NEAR(dot(found.gradient, expected.gradient), 1, 1e-9);
    const Vec3d beyond{std::max({p.x - 0.5, -p.x, 0.0}), std::max({p.y - 0.375, -p.y, 0.0}),
                       std::max(p.z - 0.25, 0.0)};
    const double within = std::min({p.x, 0.5 - p.x, p.y, 0.375 - p.y, 0.25 - p.z});
    ASSERT_NEAR(field.at(p).value, within > 0 ? -within : norm(beyond), 1e-14);
  }
}

TEST(ReferenceDistance, FollowsTheObstacle) {
  Obstacle obstacle = obstacle_of(BoxShape{{0.5, 0.75, 0.25}, 0});
  obstacle.position = {1, 2, 3};
  obstacle.rotation = {0, 0, std::numbers::pi / 2};
  obstacle.motion =
      KeyframeMotion{.times = {0, 1}, .translations = {{0, 0, 0}, {0, 0, 2}}, .rotations = {}, .center = {}};
  const reference::ObstacleDistance distance(obstacle);
  const SignedDistance found = distance.at({1.5, 2, 4}, 0.5);  // local: (0, -0.5, 0)
  EXPECT_NEAR(found.value, 0.125, 1e-15);
  EXPECT_NEAR(found.gradient.x, 1, 1e-15);
}

TEST(ReferenceDistance, DeepestOfAFace) {
  // A quad over a ball: the corners lie outside, its middle within.
  const Mesh quad = quad_grid(2, 2, 1, 1);
  Obstacle ball = obstacle_of(SphereShape{0.25});
  ball.position = {0.5, 0.5, -0.125};
  const reference::ObstacleDistance distance(ball);
  EXPECT_NEAR(reference::deepest_penetration(quad, quad.positions, distance, 0, 0.02, 9), 0.135, 1e-15);
  EXPECT_NEAR(reference::deepest_penetration(quad, quad.positions, distance, 0, 0, 2),
              0.25 - std::sqrt(0.5 + 1.0 / 64), 1e-15);
  EXPECT_THROW(reference::deepest_penetration(quad, {}, distance, 0, 0, 9), ShapeError);
  EXPECT_THROW(reference::deepest_penetration(quad, quad.positions, distance, 0, 0, 1), ShapeError);
}

// Points that are left out cannot be the deepest.
TEST(ReferenceDistance, DeepestOfASheet) {
  Random random(5);
  const reference::ObstacleDistance distance(obstacle_of(BoxShape{{0.5, 0.4, 0.3}, 0.05}));
  Mesh sheet = quad_grid(9, 7, 1, 0.8);
  for (int n = 0; n < 20; ++n) {
    for (Vec3d& p : sheet.positions) p = random_in(random, {1, 1, 1});
    double deepest = -1e9;
    for (Index f = 0; f < sheet.face_count(); ++f)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
          const auto face = sheet.face(f);
          const double u = i / 7.0, v = j / 7.0,
                       weights[4] = {(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v};
          Vec3d x;
          for (std::size_t c = 0; c < 4; ++c) x += weights[c] * sheet.positions[face[c]];
          deepest = std::max(deepest, 0.01 - distance.at(x, 0).value);
        }
    ASSERT_NEAR(reference::deepest_penetration(sheet, sheet.positions, distance, 0, 0.02), deepest, 1e-14);
  }
}

TYPED_TEST(SignedDistanceTest, ValuesAreThoseOfTheReference) {
  Random random(3);
  for (const Case& c : solids()) {
    const Compiled<TypeParam> kernel(c.shape);
    const ShapeDistance distance(c.shape);
    for (const Vec3d& p : places(c, random))
      ASSERT_NEAR(kernel.at(p).value, distance.at(p).value, rounding<TypeParam>(size_at(c, p)))
          << c.name << " at " << p.x << ", " << p.y << ", " << p.z;
  }
}

// A unit vector along which the distance grows by 1 per metre is its gradient, for no other direction does:
// on the way out from any point, be it a centre or on an axis, and beyond the surface.
TYPED_TEST(SignedDistanceTest, NormalsAreGradients) {
  Random random(4);
  for (const Case& c : solids()) {
    const Compiled<TypeParam> kernel(c.shape);
    const ShapeDistance distance(c.shape);
    for (const Vec3d& p : places(c, random)) {
      const SignedDistance found = kernel.at(p);
      ASSERT_NEAR(norm(found.gradient), 1, rounding<TypeParam>(1)) << c.name;
      for (const double step : {0.03, 0.7})
        ASSERT_NEAR(distance.at(p + step * found.gradient).value, found.value + step,
                    rounding<TypeParam>(size_at(c, p) + step))
            << c.name << " at " << p.x << ", " << p.y << ", " << p.z;
    }
  }
}

TYPED_TEST(SignedDistanceTest, DistancesGrowNoFasterThanTheWay) {
  Random random(5);
  for (const Case& c : solids()) {
    const Compiled<TypeParam> kernel(c.shape);
    for (int n = 0; n < 1000; ++n) {
      const Vec3d a = as_float(random_in(random, 1.5 * c.half)),
                  b = as_float(a + std::pow(10, random.uniform(-4, 0)) * random_direction(random));
      ASSERT_LE(std::abs(kernel.at(a).value - kernel.at(b).value),
                norm(a - b) + rounding<TypeParam>(size_at(c, a) + norm(b)))
          << c.name;
    }
  }
}

// A search on a face may end early where nothing is nearer than its limit, and finds the same where something
// is.
TYPED_TEST(SignedDistanceTest, SearchesOnFacesKeepToTheirLimits) {
  using Real = TypeParam;
  Random random(9);
  int early = 0;
  for (const Case& c : solids()) {
    const Compiled<Real> kernel(c.shape);
    const auto& shape = kernel.shapes->shapes.view()[0];
    for (int n = 0; n < 200; ++n) {
      const Vec3d middle = random_in(random, 1.5 * c.half);
      const double size = std::pow(10, random.uniform(-2, 0));
      const Vec3d u = size * random_direction(random), v = size * random_direction(random);
      cpu::Element<Real> face;
      face.size = 3 + n % 2;
      const Vec3d corners[4] = {middle, middle + u, middle + u + v, middle + v};
      for (int i = 0; i < 4; ++i)
        face.corners[i] = narrow<Real>(corners[i] + 0.1 * size * random_direction(random));
      const auto found = cpu::deepest_on_face(shape, face);
      const double place = rounding<Real>(norm(middle) + norm(c.half) + 3 * size);
      for (const double room : {place, 0.1 * size, size}) {
        const auto same = cpu::deepest_on_face(shape, face, found.distance.value + static_cast<Real>(room));
        ASSERT_EQ(same.distance.value, found.distance.value) << c.name;
        ASSERT_TRUE(same.u == found.u && same.v == found.v) << c.name;
      }
      for (const double room : {0.0, 0.1 * size, size}) {
        const auto other = cpu::deepest_on_face(shape, face, found.distance.value - static_cast<Real>(room));
        ASSERT_GE(other.distance.value, found.distance.value) << c.name;
        early += other.distance.value > found.distance.value;
      }
    }
  }
  EXPECT_GT(early, 1000);
}

std::vector<std::pair<std::string, ObstacleShape>> grid_shapes() {
  std::vector<double> heights;
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 5; ++i) heights.push_back(0.05 * std::sin(1.3 * i) * std::cos(0.9 * j));
  return {{"ball", MeshShape{isocloth::testing::octasphere(2), 1.0 / 8, 0}},
          {"box", MeshShape{isocloth::testing::box_mesh({0.5, 0.75, 0.25}, 2), 1.0 / 32, 0}},
          {"torus", MeshShape{isocloth::testing::torus_mesh(16, 12, 0.25, 0.09375), 1.0 / 64, 0.015625}},
          {"field", HeightFieldShape{{5, 6}, 0.125, heights}},
          {"hand", MeshShape{isocloth::testing::hand_mesh(), 1.0 / 256, 0}},
          {"sheet", MeshShape{isocloth::testing::sheet_mesh(), 1.0 / 64, 0.03125}}};
}

struct GridCase {
  std::string name;
  ObstacleShape shape;
  DistanceGrid grid;
  Vec3d middle, half;  ///< of the grid's box [m]
  explicit GridCase(const std::pair<std::string, ObstacleShape>& named)
      : name(named.first), shape(named.second) {
    if (const auto* mesh = std::get_if<MeshShape>(&shape)) grid = build_obstacle_grid(*mesh, "shape");
    if (const auto* field = std::get_if<HeightFieldShape>(&shape))
      grid = build_distance_grid(*field, "shape");
    half = 0.5 * grid.cell * Vec3d{grid.nodes[0] - 1.0, grid.nodes[1] - 1.0, grid.nodes[2] - 1.0};
    middle = grid.origin + half;
  }
  bool holds(Vec3d p) const {
    const Vec3d r = p - middle;
    return std::abs(r.x) <= half.x && std::abs(r.y) <= half.y && std::abs(r.z) <= half.z;
  }
  /// Whether distances at p are those of a cell that is no block, beside others that are.
  bool is_far(Vec3d p) const {
    if (grid.blocks.empty()) return false;
    const Vec3d at = (1 / grid.cell) * (p - grid.origin);
    const auto cell = [](double x) { return static_cast<std::size_t>(x); };
    const std::size_t row = static_cast<std::size_t>(grid.nodes[0] - 1),
                      rows = static_cast<std::size_t>(grid.nodes[1] - 1);
    return grid.blocks[(cell(at.z) * rows + cell(at.y)) * row + cell(at.x)] < 0;
  }
};

// Within the grid the trilinear value over the length of its gradient, but far from what has blocks; outside
// as interpolate() says.
TYPED_TEST(SignedDistanceTest, GridsAreInterpolated) {
  Random random(6);
  for (const auto& named : grid_shapes()) {
    const GridCase c(named);
    const Compiled<TypeParam> kernel(c.shape);
    for (int n = 0; n < 2000; ++n) {
      const Vec3d p = as_float(c.middle + random_in(random, 1.6 * c.half));
      Vec3d slope;
      const double value = interpolate(c.grid, p, &slope);
      const SignedDistance found = kernel.at(p);
      const bool divides = c.holds(p) && !c.is_far(p);
      const double steepness = norm(slope), part = divides && steepness > 0.1 ? steepness : 1;
      if (std::abs(steepness - 0.1) < 1e-3) continue;  // rounding decides
      // A place in a cell is known to u |p| / cell; its value and slope change by that part of a cell's.
      const double place = rounding<TypeParam>(norm(p) + norm(c.grid.origin));
      ASSERT_NEAR(found.value, value / part,
                  (4 + 8 * std::abs(value) / c.grid.least_cell()) * place / (part * part))
          << c.name;
      ASSERT_NEAR(norm(found.gradient), 1, rounding<TypeParam>(1)) << c.name;
      if (part != 1) {
        ASSERT_LE(norm(found.gradient - normalized(slope)), 16 * place / (c.grid.least_cell() * part))
            << c.name;
      }
    }
  }
}

// Outside of its box a grid never tells more than the true distance, but for what the grid itself is off,
// a quarter of a cell; and it has no jumps.
TYPED_TEST(SignedDistanceTest, GridsAreLowerBoundsOutside) {
  Random random(7);
  for (const auto& named : grid_shapes()) {
    const GridCase c(named);
    if (!c.grid.blocks.empty()) continue;  // the reference takes closed surfaces
    const Compiled<TypeParam> kernel(c.shape);
    const ShapeDistance distance(c.shape);
    int outside = 0;
    for (int n = 0; outside < 150; ++n) {
      const Vec3d p = as_float(c.middle + random_in(random, 1.8 * c.half));
      if (c.holds(p) || p.z < c.grid.origin.z) continue;  // the reference's field has no bottom
      ++outside;
      const double found = kernel.at(p).value, place = rounding<TypeParam>(norm(p) + norm(c.half));
      ASSERT_LE(found, distance.at(p).value + 0.25 * c.grid.cell + 4 * place) << c.name;
      ASSERT_GT(found, 0) << c.name;
      const Vec3d next = as_float(p + 0.01 * c.grid.cell * random_direction(random));
      if (!c.holds(next)) {
        ASSERT_NEAR(found, kernel.at(next).value, 1.8 * norm(p - next) + 8 * place) << c.name;
      }
    }
  }
}

// What contact rests on: near the surface of a smooth solid, the plane by value and normal is the true one.
TYPED_TEST(SignedDistanceTest, GridsShowSurfaces) {
  Random random(8);
  for (const std::size_t which : {0, 2, 3}) {
    const GridCase c(grid_shapes()[which]);
    const Compiled<TypeParam> kernel(c.shape);
    const ShapeDistance distance(c.shape);
    double worst = 0;
    int near = 0;
    for (int n = 0; n < 4000; ++n) {
      const Vec3d p = as_float(c.middle + random_in(random, c.half));
      if (c.name == "field" && (p.x < 0.08 || p.x > 0.42 || p.y < 0.08 || p.y > 0.54)) continue;
      const SignedDistance expected = distance.at(p);
      if (std::abs(expected.value) > c.grid.cell) continue;
      ++near;
      worst = std::max(worst, std::abs(kernel.at(p).value - expected.value));
    }
    EXPECT_GT(near, 50) << c.name;
    EXPECT_LT(worst, 0.25 * c.grid.cell) << c.name;
  }
}

}  // namespace
}  // namespace isocloth

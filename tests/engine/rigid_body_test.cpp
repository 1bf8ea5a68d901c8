// Mass, inertia and free flight of rigid bodies.
#include "engine/model/rigid_body.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"

namespace isocloth {
namespace {

Mesh box_mesh(Vec3d low, Vec3d size) {
  Mesh mesh;
  for (int c = 0; c < 8; ++c)
    mesh.positions.push_back(low + Vec3d{c & 1 ? size.x : 0, c & 2 ? size.y : 0, c & 4 ? size.z : 0});
  for (const std::vector<Index>& face : std::vector<std::vector<Index>>{
           {0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}})
    mesh.add_face(face);
  return mesh;
}

/// Middle points of n^3 cells of a box with these half lengths.
MassProperties sampled(const std::function<bool(Vec3d)>& inside, Vec3d half, int n) {
  double count = 0, xx = 0, yy = 0, zz = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        const Vec3d x{half.x * (2 * (i + 0.5) / n - 1), half.y * (2 * (j + 0.5) / n - 1),
                      half.z * (2 * (k + 0.5) / n - 1)};
        if (!inside(x)) continue;
        count += 1;
        xx += x.x * x.x;
        yy += x.y * x.y;
        zz += x.z * x.z;
      }
  return {.volume = 8 * half.x * half.y * half.z * count / (double(n) * n * n),
          .center = {},
          .inertia = {Vec3d{(yy + zz) / count, 0, 0}, Vec3d{0, (xx + zz) / count, 0},
                      Vec3d{0, 0, (xx + yy) / count}}};
}

void expect_near(const MassProperties& found, const MassProperties& expected, double tolerance) {
  EXPECT_NEAR(found.volume, expected.volume, tolerance * expected.volume);
  EXPECT_LE(norm(found.center - expected.center), tolerance);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_LE(norm(found.inertia[i] - expected.inertia[i]), tolerance * norm(expected.inertia[i])) << i;
}

double beyond(double x, double half) { return std::max(std::abs(x) - half, 0.0); }

// A surface cuts some 6 n^2 of n^3 cells, half of each on average: their errors add up as sqrt(6) / n^2.
TEST(RigidBody, MassIsThatOfSamples) {
  constexpr int n = 160;
  constexpr double tolerance = 20.0 / (n * n);
  const double r = 0.3;
  expect_near(mass_properties(SphereShape{r}), sampled([&](Vec3d x) { return norm(x) < r; }, {r, r, r}, n),
              tolerance);
  expect_near(mass_properties(CapsuleShape{r, 0.8}),
              sampled(
                  [&](Vec3d x) {
                    return norm(Vec3d{x.x, x.y, beyond(x.z, 0.4)}) < r;
                  },
                  {r, r, r + 0.4}, n),
              tolerance);
  for (const double rounding : {0.0, 0.05, 0.1}) {
    const Vec3d half{0.1, 0.25, 0.4};
    expect_near(mass_properties(BoxShape{2.0 * half, rounding}),
                sampled(
                    [&](Vec3d x) {
                      return norm(Vec3d{beyond(x.x, half.x - rounding), beyond(x.y, half.y - rounding),
                                        beyond(x.z, half.z - rounding)}) <= rounding;
                    },
                    half, n),
                tolerance);
    expect_near(mass_properties(CylinderShape{0.2, 0.5, rounding}),
                sampled(
                    [&](Vec3d x) {
                      return norm(Vec3d{beyond(std::hypot(x.x, x.y), 0.2 - rounding), 0,
                                        beyond(x.z, 0.25 - rounding)}) <= rounding;
                    },
                    {0.2, 0.2, 0.25}, n),
                tolerance);
  }
}

TEST(RigidBody, MeshIsTheBoxThatItBounds) {
  const Vec3d size{0.2, 0.5, 0.9}, low{3, -2, 1};
  MassProperties box = mass_properties(BoxShape{size, 0});
  box.center = low + 0.5 * size;
  expect_near(mass_properties(MeshShape{box_mesh(low, size), 0, 0}), box, 1e-13);
}

RigidBody solid(const ObstacleShape& shape) {
  return {.name = "solid",
          .shape = shape,
          .mass = 2,
          .position = {},
          .rotation = {},
          .velocity = {},
          .angular_velocity = {},
          .friction = {}};
}

void expect_refused(const RigidBody& body, const std::string& part) {
  try {
    validate_body(body, "bodies[0]");
    ADD_FAILURE() << "accepted, expected " << part;
  } catch (const SceneError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(RigidBody, UnfitBodiesAreRefused) {
  RigidBody body = solid(SphereShape{0.1});
  validate_body(body, "bodies[0]");
  body.mass = 0;
  expect_refused(body, "bodies[0].mass: found 0, expected");
  body.mass = 1;
  body.velocity.y = HUGE_VAL;
  expect_refused(body, "bodies[0].velocity");
  expect_refused(solid(PlaneShape{}), "bodies[0].shape: found a plane");
  expect_refused(solid(MeshShape{box_mesh({}, {1, 1, 1}), 0, 0.1}), "bodies[0].shape.thicken: found 0.1");
  Mesh dented = box_mesh({}, {1, 1, 1});
  dented.positions[7] = {0.6, 0.6, 0.6};
  expect_refused(solid(MeshShape{dented, 0, 0}), "expected a convex surface");
  Mesh inward;
  const Mesh box = box_mesh({}, {1, 1, 1});
  inward.positions = box.positions;
  for (Index f = 0; f < box.face_count(); ++f)
    inward.add_face(std::vector<Index>(std::make_reverse_iterator(box.face(f).end()),
                                       std::make_reverse_iterator(box.face(f).begin())));
  EXPECT_THROW(mass_properties(MeshShape{inward, 0, 0}), SceneError);
}

// Gravity as the steps have it; L to the bit; energy to the fourth power of the angle of a part, 0.02 rad.
TEST(RigidBody, FreeFlightKeepsMomentumAndEnergy) {
  RigidBody body = solid(BoxShape{{0.1, 0.2, 0.4}, 0.02});
  body.velocity = {1, 2, 3};
  body.angular_velocity = {0.5, 12, 1};  // about the middle axis: tumbles
  const MassProperties properties = mass_properties(body.shape);
  Matrix3 inertia = properties.inertia;
  for (Vec3d& row : inertia) row = body.mass * row;
  const Matrix3 inverted = inverse(inertia);
  const BodyState start = start_state(body, properties);
  const auto energy = [&](const BodyState& s) {
    return 0.5 * dot(s.angular_momentum, product(turned_inertia(inverted, s.pose.axes), s.angular_momentum));
  };
  BodyState state = start;
  const Vec3d g{0, 0, -9.8};
  double turned = 1;
  for (int step = 0; step < 100; ++step) {
    state = free_flight(state, inverted, g, 0.01);
    turned = std::min(turned, dot(state.pose.axes[1], start.pose.axes[1]));
  }
  EXPECT_EQ(state.angular_momentum, start.angular_momentum);
  EXPECT_NEAR(energy(state), energy(start), 1e-7 * energy(start));
  EXPECT_LT(turned, 0);  // it did tumble
  EXPECT_LE(norm(state.velocity - (start.velocity + g)), 1e-12);
  EXPECT_LE(norm(state.pose.center - (start.pose.center + start.velocity + 0.505 * g)), 1e-12);
  const auto& [x, y, z] = state.pose.axes;
  EXPECT_LE(norm(cross(x, y) - z), 1e-15 * 4);
}

}  // namespace
}  // namespace isocloth

// Velocities of what meets on its way, beside closed forms of impacts.
#include "host/cloth_collision/inelastic_impulses.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {
namespace {

constexpr double thickness = 2e-3, h = 0.01;

/// A triangle that lies in the plane z = 0, and above it one that stands on its node 3.
struct TwoTriangles {
  Mesh below, above;
  PairSearch search;
  std::vector<Vec3d> from, velocities;
  std::vector<double> inverse_masses;
  std::vector<FeaturePair> pairs{{0, 3, 0}};

  TwoTriangles() : below(triangle()), above(triangle()), search({&below, &above}) {
    from = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}, {0.1, -0.2, 0.02}, {0.5, 0, 1}, {-0.5, 0, 1}};
    velocities.assign(6, {});
    for (std::size_t i = 3; i < 6; ++i) velocities[i] = {0, 0, -5};
    inverse_masses = {1, 2, 4, 8, 3, 5};
  }
  static Mesh triangle() {
    Mesh mesh;
    mesh.positions = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}};
    mesh.add_face({0, 1, 2});
    return mesh;
  }
  std::vector<Index> stop() { return stop(velocities); }
  /// ways: mean velocities on them.
  std::vector<Index> stop(const std::vector<Vec3d>& ways) {
    std::vector<Vec3d> to = from;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += h * ways[i];
    return apply_inelastic_impulses(search.features(), pairs, {thickness, thickness},
                                    {from, to, inverse_masses, velocities});
  }
};

double kinetic_energy(const TwoTriangles& c) {
  double sum = 0;
  for (std::size_t i = 0; i < c.from.size(); ++i)
    if (c.inverse_masses[i] > 0) sum += dot(c.velocities[i], c.velocities[i]) / (2 * c.inverse_masses[i]);
  return sum;
}
Vec3d momentum(const TwoTriangles& c, bool is_angular) {
  Vec3d sum;
  for (std::size_t i = 0; i < c.from.size(); ++i)
    if (c.inverse_masses[i] > 0)
      sum += 1 / c.inverse_masses[i] * (is_angular ? cross(c.from[i], c.velocities[i]) : c.velocities[i]);
  return sum;
}

// The node and the point of the triangle below it go on together: with j = 5 m/s / sum w^2 / m the node
// takes j / m, the corners -b j / m of their barycentric coordinates b.
TEST(InelasticImpulses, OfANodeAndATriangleAreThoseOfTwoBodies) {
  TwoTriangles c;
  const double b[] = {0.25, 0.35, 0.4};  // of (0.1, -0.2)
  double inverse = c.inverse_masses[3];
  for (std::size_t i = 0; i < 3; ++i) inverse += b[i] * b[i] * c.inverse_masses[i];
  const double j = 5 / inverse, energy = kinetic_energy(c);
  const Vec3d linear = momentum(c, false), angular = momentum(c, true);
  EXPECT_EQ(c.stop(), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_NEAR(c.velocities[3].z, -5 + j * c.inverse_masses[3], 1e-9);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(c.velocities[i].z, -j * b[i] * c.inverse_masses[i], 1e-9);
  for (const std::size_t other : {4, 5}) EXPECT_EQ(c.velocities[other], (Vec3d{0, 0, -5}));
  EXPECT_NEAR(kinetic_energy(c), energy - 5 * j / 2, 1e-9 * energy);
  EXPECT_LT(norm(momentum(c, false) - linear), 1e-12);
  EXPECT_LT(norm(momentum(c, true) - angular), 1e-12);
}

TEST(InelasticImpulses, LeaveWhatGoesAlongTheNormalOnlyToPins) {
  TwoTriangles c;
  for (std::size_t i = 0; i < 3; ++i) c.inverse_masses[i] = 0;
  for (std::size_t i = 3; i < 6; ++i) c.velocities[i] = {2, 1, -5};
  c.stop();
  EXPECT_LT(norm(c.velocities[3] - Vec3d{2, 1, 0}), 1e-9);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(c.velocities[i], Vec3d{});
}

TEST(InelasticImpulses, AreNoneWhereNothingMeets) {
  const auto expect_none = [](TwoTriangles c) {
    const std::vector<Vec3d> before = c.velocities;
    EXPECT_TRUE(c.stop().empty());
    EXPECT_EQ(c.velocities, before);
  };
  TwoTriangles c;
  c.from[3].z = 0.06;  // 5 m/s * h ends above it
  expect_none(c);
  c = TwoTriangles();
  c.velocities[3] = {0, 0, 5};  // apart
  expect_none(c);
  c = TwoTriangles();
  c.velocities[3] = {400, 0, -1};  // beside it before it is below
  expect_none(c);
  c = TwoTriangles();
  c.inverse_masses.assign(6, 0);
  expect_none(c);
}

TEST(InelasticImpulses, PullNothingBackThatPartsAlready) {
  TwoTriangles c;
  const std::vector<Vec3d> ways = c.velocities;
  c.velocities[3] = {0, 0, 5};
  const std::vector<Vec3d> before = c.velocities;
  EXPECT_EQ(c.stop(ways).size(), 4u);
  EXPECT_EQ(c.velocities, before);
}

// All nodes of a triangle that falls: none approaches the other after it.
TEST(InelasticImpulses, LetNothingApproachThatMeets) {
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    TwoTriangles c;
    c.from[3] = {0.1, -0.2, 0.015};
    c.from[4] = {0.3, 0.1, 0.015};
    c.from[5] = {-0.3, -0.1, 0.018};
    for (Vec3d& v : c.velocities) v += Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), 0};
    c.pairs = {{0, 3, 0}, {0, 4, 0}, {0, 5, 0}};
    const double energy = kinetic_energy(c);
    const Vec3d linear = momentum(c, false);
    EXPECT_EQ(c.stop().size(), 6u);
    EXPECT_LT(kinetic_energy(c), energy);
    EXPECT_LT(norm(momentum(c, false) - linear), 1e-12);
    for (std::size_t i = 3; i < 6; ++i) {
      // Heights of the nodes over the plane through the triangle's corners as these go on.
      const Vec3d& p = c.from[i];
      const double b1 = (p.x + 1 - (p.y + 1) / 2) / 2, b2 = (p.y + 1) / 2, b0 = 1 - b1 - b2;
      const double floor = b0 * c.velocities[0].z + b1 * c.velocities[1].z + b2 * c.velocities[2].z;
      EXPECT_GT(c.velocities[i].z - floor, -0.1) << trial << ' ' << i;  // places change until they meet
    }
  }
}

}  // namespace
}  // namespace isocloth

// The angle of a hinge and its gradient.
#include "kernels/tensors/hinge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace isocloth {
namespace {

/// An edge along x with a triangle on either side, the second turned up by an angle.
std::array<Vec3d, 4> turned(double angle) {
  return {Vec3d{0, 0, 0}, {1, 0, 0}, {0.3, 0.7, 0}, {0.6, -0.8 * std::cos(angle), 0.8 * std::sin(angle)}};
}
cpu::Hinge<double> at(const std::array<Vec3d, 4>& p) {
  const Vec3d nodes[] = {p[0], p[1], p[2], p[3]};
  return cpu::hinge(nodes);
}

TEST(Hinge, HasTheAngleOfItsTriangles) {
  for (int i = -179; i < 180; ++i) {
    const double angle = i * std::numbers::pi / 180;
    EXPECT_NEAR(at(turned(angle)).angle, angle, 4e-16 * 4) << i;
  }
  for (const double angle : {1e-3, 1e-8, 1e-12})
    EXPECT_NEAR(at(turned(angle)).angle / angle, 1, 1e-15) << angle;
  for (const double x : {-1.0, -0.7, -1e-9, 0.0, 0.3, 0.99, 1.0})
    EXPECT_NEAR(cpu::arctangent(x), std::atan(x), 2e-16 * std::fabs(x)) << x;
  const float single = cpu::arctangent(0.7F);
  EXPECT_NEAR(single, std::atan(0.7F), 1e-7);
}

TEST(Hinge, HasTheGradientOfDifferences) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> noise(-0.2, 0.2);
  for (const double angle : {0.0, 0.4, -1.2, 2.5, -3.0}) {
    std::array<Vec3d, 4> p = turned(angle);
    for (Vec3d& x : p) x += {noise(random), noise(random), noise(random)};
    const cpu::Hinge<double> found = at(p);
    Vec3d sum;
    for (std::size_t i = 0; i < 4; ++i) {
      sum += found.gradient[i];
      for (double Vec3d::*const axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
        const double h = 1e-6;
        std::array<Vec3d, 4> ahead = p, behind = p;
        ahead[i].*axis += h;
        behind[i].*axis -= h;
        EXPECT_NEAR(found.gradient[i].*axis, (at(ahead).angle - at(behind).angle) / (2 * h), 1e-8)
            << angle << ", node " << i;
      }
    }
    EXPECT_LT(norm(sum), 1e-14);
  }
}

// 2 tan(theta / 2) sin(theta / 2), to rounding of a small angle, and its derivative; straight from 127
// degrees on.
TEST(Hinge, HasTheLargeAngleOfItsTriangles) {
  const double end = 2 * std::atan(2.0);
  const auto expected = [&](double angle) {
    const double size = std::min(std::fabs(angle), end);
    return 2 * std::tan(size / 2) * std::sin(size / 2) +
           std::max(0.0, std::fabs(angle) - end) * 12 / std::sqrt(5.0);
  };
  for (int i = -179; i < 180; ++i) {
    const double angle = i * std::numbers::pi / 180, h = 1e-6;
    const cpu::AngleStrain<double> found = cpu::large_angle(at(turned(angle)));
    EXPECT_NEAR(found.value, expected(angle), 2e-14) << i;
    EXPECT_NEAR(found.slope, (expected(angle + h) - expected(angle - h)) / (2 * h), 2e-8) << i;
  }
  for (const double angle : {1e-3, 1e-8, -1e-12}) {
    const cpu::AngleStrain<double> found = cpu::large_angle(at(turned(angle)));
    EXPECT_NEAR(found.value / (angle * angle / 2), 1, angle * angle + 1e-14) << angle;
    EXPECT_NEAR(found.slope / angle, 1, angle * angle + 1e-14) << angle;
  }
}

// Triangles without area, and an edge without length, are finite.
TEST(Hinge, IsFiniteWhereTrianglesCollapse) {
  for (const auto& p : {std::array<Vec3d, 4>{Vec3d{}, {1, 0, 0}, {0.5, 0, 0}, {0.5, -1, 0}},
                        std::array<Vec3d, 4>{Vec3d{}, Vec3d{}, {0, 1, 0}, {0, -1, 0}}}) {
    const cpu::Hinge<double> found = at(p);
    EXPECT_TRUE(std::isfinite(found.angle));
    for (const Vec3d& g : found.gradient) EXPECT_TRUE(std::isfinite(norm(g)));
  }
}

TEST(Hinge, HasTheSameBitsInLanes) {
  using Lane = cpu::Pack<double>;
  Vec3<Lane> p[4];
  for (int lane = 0; lane < Lane::width; ++lane)
    for (std::size_t i = 0; i < 4; ++i) {
      const Vec3d x = turned(0.3 + lane)[i];
      p[i].x.v[lane] = x.x;
      p[i].y.v[lane] = x.y;
      p[i].z.v[lane] = x.z;
    }
  const cpu::Hinge<Lane> found = cpu::hinge(p);
  for (int lane = 0; lane < Lane::width; ++lane) {
    const cpu::Hinge<double> alone = at(turned(0.3 + lane));
    EXPECT_EQ(found.angle.v[lane], alone.angle);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(found.gradient[i].y.v[lane], alone.gradient[i].y);
  }
}

}  // namespace
}  // namespace isocloth

// The row of a squeezed contact: one mass on it, against the closed form of where it rests.
#include "kernels/contact/compression_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/material/compression.hpp"

namespace isocloth {
namespace {

using Law = cpu::CompressionLaw<double>;
constexpr double gravity = 9.81, area = 1.6e-4;

Law law_of(const Compression& c, double step) {
  return {{c.give(), c.offset(), c.linear_from(), c.largest_slope()}, step, step * step, 70};
}

TEST(CompressionLaw, IsThatOfTheEngine) {
  const Compression c = fitted_compression(0.398e-3, 0.288e-3, 0.35);
  const Law law = law_of(c, 0.005);
  for (double p = 0.01; p < 1e10; p *= 3) {
    const Law::Squeeze found = law.squeeze(p * area * law.unit, area);
    const double depth = (c.thickness - c.thickness_at(p)) / 2, k = 2 * area * c.slope(p) * law.unit;
    EXPECT_NEAR(found.depth, depth, 1e-12 * c.thickness + 1e-12 * depth) << p;
    EXPECT_NEAR(found.stiffness, k, 1e-12 * k) << p;
  }
  for (double r = 1; r < 1e30; r *= 1.7) EXPECT_NEAR(cpu::inverse_cube_root(r) * std::cbrt(r), 1, 1e-15) << r;
}

/// What a mass does that is put down on a contact, for a second.
struct Landing {
  int iterations = 0, steps = 0, missed = 0;
  double thickness = 0, force = 0, speed = 0;  ///< in the end
};
/// most: of k, in masses over h^2 (planted), 0: as the law has it.
Landing put_down(const Compression& c, double mass, double step, double most = 0) {
  constexpr int most_iterations = 50;
  const Law law = law_of(c, step);
  Landing end;
  double gap = 0, speed = 0;
  Vec3d force{};
  for (; end.steps * step < 1; ++end.steps) {
    cpu::ContactPoint<double> point;
    point.normal = {0, 0, 1};
    point.area = area;
    point.inertia = 0.15 * area;
    point.began = force;
    double x = gap + step * speed;
    for (int iteration = 0;; ++iteration) {
      point.displacement = {0, 0, x - gap};
      point.gap = x;
      point.gap_before = std::min(gap, 0.0);
      point.force = force;
      if (iteration > 0 && law.error(point) <= c.thickness / 100) break;
      if (iteration == most_iterations) {
        ++end.missed;
        break;
      }
      cpu::ContactResponse<double> r = law.response(point, {});
      const bool acts = r.mode != ContactMode::none;
      if (most > 0 && r.along > most * mass) {
        r.pull = force + most * mass / r.along * (r.pull - force);
        r.along = most * mass;
      }
      const double d =
          (mass * (gap + step * speed - step * step * gravity - x) + r.pull.z) / (mass + r.along);
      x += d;
      force = acts ? law.after(r, {0, 0, d}, 0, {}).force : Vec3d{};
      ++end.iterations;
    }
    speed = (x - gap) / step;
    gap = x;
  }
  end.thickness = c.thickness + 2 * gap;
  end.force = force.z / (step * step);
  end.speed = speed;
  return end;
}

TEST(CompressionLaw, AnyMassRestsInOneIterationPerStep) {
  const Compression c = fitted_compression(0.398e-3, 0.288e-3, 0.35);
  for (const double step : {1e-3, 5e-3, 1e-2})
    for (const double mass : {1e-4, 0.01, 0.9, 50.0, 1e3}) {
      const Landing end = put_down(c, mass, step);
      EXPECT_LE(end.iterations, 1.1 * end.steps) << mass << " kg, " << step << " s";
      EXPECT_EQ(end.missed, 0) << mass << " kg, " << step << " s";
      EXPECT_NEAR(end.force, mass * gravity, 1e-9 * mass * gravity);
      EXPECT_NEAR(end.thickness, c.thickness_at(mass * gravity / area), 1e-9 * c.thickness);
      EXPECT_NEAR(end.speed, 0, 1e-9);
    }
}

// Planted: a stiffness that is bounded by the inertia does not hold 50 kg.
TEST(CompressionLaw, AStiffnessBoundedByTheInertiaIsTold) {
  const Compression c = fitted_compression(0.398e-3, 0.288e-3, 0.35);
  const Landing end = put_down(c, 50, 1e-3, 0.1);
  EXPECT_GT(end.iterations, 2 * end.steps);
}

// A gap that is held: the force is that of the thickness at once, and stays; a squeeze that did not grow with
// the force (planted) would let it grow for ever.
TEST(CompressionLaw, AHeldGapHasOneForce) {
  const Compression c = compression_of_thickness(1e-3);
  const Law law = law_of(c, 0.005);
  const double t = 0.7e-3, expected = area * c.pressure(t) * law.unit;
  for (const bool is_constant : {false, true}) {
    const double wanted = law.squeeze(expected, area).depth / 2;
    double force = 0;
    for (int iteration = 0; iteration < 200; ++iteration) {
      const Law::Squeeze now = law.squeeze(force, area);
      const double depth = is_constant ? wanted : now.depth;
      force = std::max(0.0, force - now.stiffness * ((t - c.thickness) / 2 + depth));
    }
    if (is_constant)
      EXPECT_GT(force, 100 * expected);
    else
      EXPECT_NEAR(force, expected, 1e-12 * expected);
  }
}

}  // namespace
}  // namespace isocloth

// The row of a squeezed contact: one mass on it, against the closed form of where it rests.
#include "kernels/contact/compression_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/random.hpp"
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
      if (iteration > 0 && law.error(point, law.squeeze(point)) <= c.thickness / 100) break;
      if (iteration == most_iterations) {
        ++end.missed;
        break;
      }
      cpu::ContactResponse<double> r = law.response(point, law.squeeze(point), {});
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

// Contacts side by side in lanes, that push, slide, come off, or are none.
TEST(CompressionLaw, LanesHaveTheBitsOfOneContact) {
  using S = cpu::Pack<double>;
  const Compression c = fitted_compression(0.398e-3, 0.288e-3, 0.35);
  const Law one = law_of(c, 0.005);
  const cpu::CompressionLaw<S> all{
      {one.curve.give, one.curve.offset, one.curve.linear_from, one.curve.largest_slope},
      one.step,
      one.unit,
      one.firmness,
      one.slight};
  Random random(1);
  const auto vector = [&](double size) {
    const double x = random.uniform(-size, size), y = random.uniform(-size, size);
    return Vec3d{x, y, random.uniform(-size, size)};
  };
  const auto put = [](Vec3<S>& v, int lane, Vec3d x) {
    v.x.v[lane] = x.x;
    v.y.v[lane] = x.y;
    v.z.v[lane] = x.z;
  };
  const auto expect_same = [](const Vec3<S>& v, int lane, Vec3d x) {
    EXPECT_EQ((Vec3d{lane_value(v.x, lane), lane_value(v.y, lane), lane_value(v.z, lane)}), x);
  };
  int modes[5] = {};
  for (int n = 0; n < 3000; ++n) {
    cpu::ContactPoint<double> points[S::width];
    FrictionView<double> frictions[S::width];
    Vec3d moves[S::width];
    cpu::ContactPoint<S> point;
    FrictionView<S> friction;
    Vec3<S> move;
    for (int lane = 0; lane < S::width; ++lane) {
      const double load = std::pow(10, random.uniform(-9, -4)), gap = std::pow(10, random.uniform(-7, -3));
      cpu::ContactPoint<double>& own = points[lane];
      own.normal = normalized(vector(1) + Vec3d{0, 0, 2});
      own.displacement = vector(std::pow(10, random.uniform(-8, -3)));
      own.gap = random.uniform(-gap, gap);
      own.gap_before = std::min(own.gap + random.uniform(-gap, gap), 0.0);
      own.area = area;
      own.inertia = 0.15 * area;
      if (random.uniform(0, 1) < 0.7) own.force = load * (own.normal + vector(0.2));
      if (random.uniform(0, 1) < 0.7) own.began = own.force + load * vector(0.2);
      own.slip = random.uniform(0, 1.5e-4);
      own.mode = random.uniform(0, 1) < 0.5 ? ContactMode::none : ContactMode::stick;
      if (random.uniform(0, 1) < 0.8) frictions[lane] = {0.4, 0.3};
      moves[lane] = vector(gap);
      put(point.normal, lane, own.normal);
      put(point.displacement, lane, own.displacement);
      put(point.force, lane, own.force);
      put(point.began, lane, own.began);
      put(move, lane, moves[lane]);
      point.gap.v[lane] = own.gap;
      point.gap_before.v[lane] = own.gap_before;
      point.area.v[lane] = own.area;
      point.inertia.v[lane] = own.inertia;
      point.slip.v[lane] = own.slip;
      point.mode.v[lane] = static_cast<int>(own.mode);
      friction.static_.v[lane] = frictions[lane].static_;
      friction.dynamic.v[lane] = frictions[lane].dynamic;
    }
    const S errors = all.error(point, all.squeeze(point));
    const cpu::ContactResponse<S> responses = all.response(point, all.squeeze(point), friction);
    const cpu::ContactForce<S> forces = all.after(responses, move, point.slip, friction);
    for (int lane = 0; lane < S::width; ++lane) {
      EXPECT_EQ(lane_value(errors, lane), one.error(points[lane], one.squeeze(points[lane])));
      const cpu::ContactResponse<double> r =
          one.response(points[lane], one.squeeze(points[lane]), frictions[lane]);
      ASSERT_EQ(lane_value(responses.mode, lane), static_cast<int>(r.mode));
      ++modes[static_cast<int>(r.mode)];
      if (r.mode == ContactMode::none) continue;
      expect_same(responses.normal, lane, r.normal);
      expect_same(responses.pull, lane, r.pull);
      expect_same(responses.slip_direction, lane, r.slip_direction);
      EXPECT_EQ(lane_value(responses.along, lane), r.along);
      EXPECT_EQ(lane_value(responses.across, lane), r.across);
      EXPECT_EQ(lane_value(responses.grip, lane), r.grip);
      const cpu::ContactForce<double> after = one.after(r, moves[lane], points[lane].slip, frictions[lane]);
      expect_same(forces.force, lane, after.force);
      EXPECT_EQ(lane_value(forces.mode, lane), static_cast<int>(after.mode));
      EXPECT_EQ(lane_value(forces.slip, lane), after.slip);
      EXPECT_EQ(lane_value(forces.mismatch, lane), after.mismatch);
    }
  }
  for (const int count : modes) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace isocloth

// Breen's and Feynman's energies: derivatives against differences, curves against their rules.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/models/grids/particle_grid.hpp"
#include "engine/models/particles/bare_model.hpp"
#include "engine/models/particles/breen1994.hpp"
#include "engine/models/particles/feynman1986.hpp"

namespace isocloth {
namespace {

constexpr double degree = std::numbers::pi / 180, w = 0.02, kappa = 1e-5;

BreenShear cotton_shear() { return BreenShear({{4 * degree, 3}, {8 * degree, 7}}); }

/// Stiff up to 10 / m, softer beyond, as yarns slip.
MeasuredCurve cotton_moment() { return {{{10, 3e-4}, {60, 9e-4}, {100, 1.2e-3}}, "curvature", "moment"}; }

/// Central differences of value and first derivative; h^2 of a smooth law and rounding over h.
void expect_derivatives(const EnergyLaw& law, double x, double h) {
  const LawValue here = law(x), before = law(x - h), after = law(x + h);
  const double first = (after.value - before.value) / (2 * h),
               second = (after.first - before.first) / (2 * h);
  EXPECT_NEAR(here.first, first, 1e-6 * std::fabs(first) + 1e-16 / h) << x;
  EXPECT_NEAR(here.second, second, 1e-6 * std::fabs(second) + 1e-16 / h) << x;
}

TEST(Breen1994, LawsHaveTheDerivativesOfTheirValues) {
  const double h = 1e-5;
  for (const double c : {-0.999, -0.3, 0.5, 0.72, 0.9, 0.98}) {
    expect_derivatives(breen_bending(kappa, w), c, h);
    expect_derivatives(breen_bending(cotton_moment(), w), c, h);
  }
  const EnergyLaw trellis = breen_trellis(cotton_shear(), w);
  for (const double c : {-0.8, -0.3, -0.1, 0.03, 0.1, 0.5, 0.85}) expect_derivatives(trellis, c, h);
  for (const double r : {1.02, 1.1, 1.5}) expect_derivatives(breen_stretch(2, w), r * w, h * w);
  for (const double r : {0.3, 0.7, 0.98}) expect_derivatives(breen_repulsion(2, w), r * w, h * w);
}

TEST(Breen1994, TailsMeetTheCurvesWithValueAndSlope) {
  const double eps = 1e-9, at = 45 * degree;
  const auto above = breen_curvature(at + eps, w), below = breen_curvature(at - eps, w);
  EXPECT_NEAR(above[0], below[0], 1e-6);
  EXPECT_NEAR(above[1], below[1], 1e-5);  // K'' changes there by some hundred per m
  EXPECT_DOUBLE_EQ(breen_curvature(std::numbers::pi / 2, w)[0], 2 / w * std::cos(std::numbers::pi / 4));
  EXPECT_GT(breen_curvature(1e-6, w)[0], 1e6 / w * 0.1);

  const BreenShear shear = cotton_shear();
  EXPECT_NEAR(shear.force(8 * degree + eps), 7, 1e-6);
  EXPECT_NEAR(shear.slope(8 * degree + eps), shear.slope(8 * degree), 1e-5);
  EXPECT_EQ(shear.force(60 * degree), HUGE_VAL);
  EXPECT_EQ(shear.work(60 * degree), HUGE_VAL);
}

TEST(Breen1994, EnergyOfBendingDoesTheWorkOfTheMeasuredMoment) {
  // dU/dK over the patch is M = kappa K; B = M K w^2 would give twice that.
  const EnergyLaw bending = breen_bending(kappa, w);
  for (const double theta : {170 * degree, 90 * degree, 50 * degree, 30 * degree, 5 * degree}) {
    const auto [k, slope] = breen_curvature(theta, w);
    const double by_angle = -bending(std::cos(theta)).first * std::sin(theta);
    EXPECT_NEAR(by_angle / slope / (w * w), kappa * k, 1e-9 * kappa * k);
  }
  const MeasuredCurve moment = cotton_moment();
  EXPECT_NEAR(moment.value(35), 6e-4, 1e-15);
  EXPECT_NEAR(moment.value(140), 1.5e-3, 1e-15);  // straight on
  EXPECT_NEAR(moment.integral(60), 10 * 3e-4 / 2 + 50 * 6e-4, 1e-15);
  const EnergyLaw measured = breen_bending(moment, w);
  for (const double theta : {175 * degree, 140 * degree, 60 * degree, 30 * degree}) {
    const auto [k, slope] = breen_curvature(theta, w);
    EXPECT_NEAR(measured(std::cos(theta)).value, w * w * moment.integral(k),
                1e-9 * w * w * moment.integral(k));
    const double by_angle = -measured(std::cos(theta)).first * std::sin(theta);
    EXPECT_NEAR(by_angle / slope / (w * w), moment.value(k), 1e-9 * moment.value(k));
  }
}

TEST(Breen1994, WorkOfShearIsTheIntegralOfForceTimesCosine) {
  const BreenShear shear = cotton_shear();
  EXPECT_NEAR(shear.force(4 * degree), 3, 1e-12);
  EXPECT_NEAR(shear.force(2 * degree), 1.5, 1e-12);
  for (const double end : {3 * degree, 7 * degree, 20 * degree, 59 * degree}) {
    const int n = 200000;  // midpoints: h^2 F''
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      const double a = end * (k + 0.5) / n;
      sum += end / n * shear.force(a) * std::cos(a);
    }
    EXPECT_NEAR(shear.work(end), sum, 1e-7 * sum);
  }
}

TEST(Breen1994, CurvesThatDoNotRiseOrReachSixtyDegreesAreRefused) {
  EXPECT_THROW(BreenShear({}), SceneError);
  EXPECT_THROW(MeasuredCurve({}, "x", "y"), SceneError);
  EXPECT_THROW(MeasuredCurve({{1, 2}, {2, 2}}, "x", "y"), SceneError);
  EXPECT_THROW(BreenShear({{0, 0}, {0.1, 1}}), SceneError);
  EXPECT_THROW(BreenShear({{0.1, 2}, {0.2, 1}}), SceneError);
  EXPECT_THROW(BreenShear({{0.1, 1}, {61 * degree, 2}}), SceneError);
}

TEST(Feynman1986, LawsHaveTheDerivativesOfTheirValues) {
  for (const double c : {-0.999, -0.3, 0.5, 0.98}) expect_derivatives(feynman_bending(kappa), c, 1e-5);
  for (const double r : {0.5, 1.3}) expect_derivatives(feynman_elastic(200, w), r * w, 1e-5 * w);
  // The series of a nearly straight line meets the closed form.
  const double edge = -std::cos(1e-3);
  const LawValue series = feynman_bending(1)(edge - 1e-12), closed = feynman_bending(1)(edge + 1e-12);
  EXPECT_NEAR(series.first, closed.first, 1e-10);
  EXPECT_NEAR(series.second, closed.second, 1e-8);
  EXPECT_DOUBLE_EQ(feynman_bending(1)(-1).first, 2);
  EXPECT_DOUBLE_EQ(feynman_bending(1)(-1).second, 2.0 / 3);
  EXPECT_EQ(feynman_bending(1)(1).value, HUGE_VAL);
}

/// Energy of a term over the n x n cells of a sheet 1 m x 1 m that `shape` deforms.
double feynman_part(Index n, const std::string& beginning,
                    const std::function<Vec3d(double, double)>& shape) {
  Fabric fabric;
  fabric.stretch_stiffness = 500;
  fabric.bending_stiffness = 0.02;
  const double spacing = 1.0 / static_cast<double>(n);
  ParticleEnergy energy(feynman_model({n + 1, n + 1, spacing}, fabric, {0, 0, -9.81}, "garments[0]"));
  std::vector<Vec3d> x;
  for (Index j = 0; j <= n; ++j)
    for (Index i = 0; i <= n; ++i) x.push_back(shape(spacing * i, spacing * j));
  double sum = 0;
  for (const auto& [name, value] : energy.parts(x))
    if (name.starts_with(beginning)) sum += value;
  return sum;
}

TEST(Feynman1986, TheSheetIsIsotropicAndTheSameOnEveryGrid) {
  // Pulled along any direction with Poisson's ratio 1/3 it stores stretch_stiffness e^2 / 2 per area.
  const double e = 1e-5;
  for (const Index n : {4, 8})
    for (const double turn : {0.0, 0.3, std::numbers::pi / 4}) {
      const double c = std::cos(turn), s = std::sin(turn);
      const auto pulled = [&](double u, double v) {
        const double a = (1 + e) * (c * u + s * v), b = (1 - e / 3) * (c * v - s * u);
        return Vec3d{c * a - s * b, s * a + c * b, 0};
      };
      EXPECT_NEAR(feynman_part(n, "stretch", pulled), 500 * e * e / 2, 1e-4 * 500 * e * e / 2) << turn;
    }
  // Rolled onto a cylinder along any direction it stores kappa K^2 / 2 per area; lines that end at the rim
  // have no angle there, which is O(w).
  for (const double turn : {0.0, std::numbers::pi / 4}) {
    const double k = 0.5, c = std::cos(turn), s = std::sin(turn);
    const auto rolled = [&](double u, double v) {
      const double a = c * u + s * v, b = c * v - s * u;
      return Vec3d{std::sin(k * a) / k, b, (1 - std::cos(k * a)) / k};
    };
    const double closed = 0.02 * k * k / 2;
    const double coarse = feynman_part(32, "bend", rolled) / closed - 1;
    const double fine = feynman_part(64, "bend", rolled) / closed - 1;
    EXPECT_LT(std::fabs(fine), 0.04) << turn;
    EXPECT_NEAR(fine / coarse, 0.5, 0.05) << turn;
  }
  // The centre of mass is that of the sheet on every grid.
  const auto tilted = [](double u, double) { return Vec3d{u, 0, u}; };
  EXPECT_NEAR(feynman_part(4, "gravity", tilted), Fabric{}.gravity_density * 9.81 / 2, 1e-12);
}

/// A sheet that is rolled up until its ends repel each other, on a ball, with a particle that is held.
struct Rolled {
  explicit Rolled(bool feynman = false) {
    Fabric fabric;
    fabric.gravity_density = 0.15;
    fabric.bending_stiffness = kappa;
    fabric.weft_bending_stiffness = 2 * kappa;
    const Vec3d gravity{0, 0, -9.81};
    ParticleModel model = feynman ? feynman_model({5, 4, w}, fabric, gravity, "garments[0]")
                                  : breen_model(5, 4, w, fabric, gravity, {}, "garments[0]");
    model.is_held[3] = 1;
    model.gap = [](Vec3d p) { return Gap{norm(p) - w, normalized(p)}; };
    energy.emplace(std::move(model));
    Random random(7);
    const double turn = 2 * std::numbers::pi / 4.7, radius = w / turn;
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 5; ++i)
        x.push_back(Vec3d{radius * std::cos(turn * i), radius * std::sin(turn * i), w * j} +
                    0.05 * w * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
  }
  std::optional<ParticleEnergy> energy;
  std::vector<Vec3d> x;
};

void expect_gradient_of_differences(Rolled c) {
  for (const auto& [name, value] : c.energy->parts(c.x)) EXPECT_NE(value, 0) << name;
  const std::vector<Vec3d> gradient = c.energy->gradient(c.x);
  double largest = 0;
  for (const Vec3d& g : gradient) largest = std::max(largest, norm(g));
  const double h = 1e-6 * w;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    if (i == 3) {
      EXPECT_EQ(norm(gradient[i]), 0);
      continue;
    }
    for (double Vec3d::*axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
      const double middle = c.x[i].*axis;
      c.x[i].*axis = middle + h;
      const double after = c.energy->value(c.x), local = c.energy->local_value(c.x, static_cast<Index>(i));
      c.x[i].*axis = middle - h;
      const double before = c.energy->value(c.x);
      EXPECT_NEAR(local - c.energy->local_value(c.x, static_cast<Index>(i)), after - before,
                  1e-13 * std::fabs(after));
      c.x[i].*axis = middle;
      EXPECT_NEAR(gradient[i].*axis, (after - before) / (2 * h), 1e-6 * largest);
    }
  }
}

TEST(ParticleEnergy, GradientIsThatOfDifferences) {
  expect_gradient_of_differences(Rolled());
  expect_gradient_of_differences(Rolled(true));
}

TEST(ParticleEnergy, HessianOfAnAngleIsThatOfDifferences) {
  for (const EnergyLaw& law : {breen_bending(kappa, w), feynman_bending(kappa)})
    for (const Vec3d v : {Vec3d{-0.5, 0.8, 0.1}, Vec3d{0.9, 0.3, -0.1}}) {
      std::array<Vec3d, 2> edges{Vec3d{1.1, 0.2, 0.3}, v};
      const AngleValue here = angle_value(law, edges[0], edges[1], true);
      double largest = 0;
      for (const double entry : here.hessian) largest = std::max(largest, std::fabs(entry));
      const double h = 1e-5;
      std::size_t column = 0;
      for (Vec3d& edge : edges)
        for (double Vec3d::*axis : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
          const double middle = edge.*axis;
          edge.*axis = middle + h;
          const AngleValue after = angle_value(law, edges[0], edges[1], false);
          edge.*axis = middle - h;
          const AngleValue before = angle_value(law, edges[0], edges[1], false);
          edge.*axis = middle;
          const Vec3d u = (1 / (2 * h)) * (after.by_u - before.by_u),
                      d = (1 / (2 * h)) * (after.by_v - before.by_v);
          const double rows[6] = {u.x, u.y, u.z, d.x, d.y, d.z};
          for (std::size_t row = 0; row < 6; ++row)
            EXPECT_NEAR(here.hessian[6 * row + column], rows[row], 1e-7 * largest);
          ++column;
        }
    }
}

TEST(ParticleEnergy, CellsFindEveryNearPair) {
  Rolled c;
  c.energy->follow(c.x);
  std::size_t expected = 0;
  for (std::size_t i = 0; i < c.x.size(); ++i)
    for (std::size_t j = i + 1; j < c.x.size(); ++j) expected += norm(c.x[i] - c.x[j]) < 1.5 * w;
  EXPECT_EQ(c.energy->near_pairs().size(), expected);
}

TEST(ParticleGrid, OtherMeshesAreRefused) {
  const ParticleGrid grid = particle_grid(quad_grid(5, 4, 0.4, 0.3), "garments[0]");
  EXPECT_EQ(grid.columns, 5);
  EXPECT_EQ(grid.rows, 4);
  EXPECT_DOUBLE_EQ(grid.spacing, 0.1);
  EXPECT_EQ(rim(grid).size(), 14u);
  EXPECT_THROW(particle_grid(triangle_grid(5, 4, 0.4, 0.3, Diagonals::parallel), "g"), SceneError);
  EXPECT_THROW(particle_grid(quad_grid(5, 4, 0.4, 0.4), "g"), SceneError);
  EXPECT_THROW(particle_grid(ring(3, 8, 0.1, 0.3, FaceKind::quads), "g"), SceneError);
}

TEST(FoldCount, IsThatOfWavesAlongACircle) {
  for (const int folds : {0, 3, 8}) {
    std::vector<Vec3d> points;
    for (int k = 0; k < 400; ++k) {
      const double angle = 2 * std::numbers::pi * k / 400, r = 1 + 0.1 * std::sin(folds * angle + 1);
      points.push_back({r * std::cos(angle), r * std::sin(angle), 0});
    }
    EXPECT_EQ(fold_count(points), folds);
  }
}

}  // namespace
}  // namespace isocloth

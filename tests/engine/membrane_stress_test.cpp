// Stress of elastic membranes against closed forms.
#include "engine/model/membrane_stress.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernels/tensors/row_laws.hpp"

namespace isocloth {
namespace {

constexpr double eps = 2.3e-16;

Fabric linear_fabric() {
  Fabric fabric;
  fabric.stretch_stiffness = 900;
  fabric.weft_stretch_stiffness = 400;
  fabric.shear_stiffness = 30;
  return fabric;
}

MembraneStress stress(const char* recipe, const Fabric& fabric, Vec3d along_warp, Vec3d along_weft) {
  return MembraneLaw(find_recipe(recipe), fabric).stress(along_warp, along_weft);
}

TEST(MembraneStress, OfThreadsIsStiffnessTimesGreensStrain) {
  for (const double s : {0.8, 1.0, 1.05}) {
    const double strain = (s * s - 1) / 2;
    const MembraneStress along_warp = stress("membrane", linear_fabric(), {0, s, 0}, {0, 0, 1});
    EXPECT_NEAR(along_warp.warp, 900 * strain, 10 * 900 * eps);
    EXPECT_NEAR(along_warp.von_mises(), 900 * std::abs(strain), 10 * 900 * eps);
    const MembraneStress along_weft = stress("membrane", linear_fabric(), {1, 0, 0}, {0, 0, s});
    EXPECT_NEAR(along_weft.weft, 400 * strain, 10 * 400 * eps);
    for (const double none : {along_warp.weft, along_warp.shear, along_weft.warp, along_weft.shear})
      EXPECT_EQ(none, 0);
  }
}

// By the engineering measure the force over elongation is linear: S = k (s - 1) / s.
TEST(MembraneStress, OfSoftConstraintsIsForceOverStretch) {
  for (const double s : {0.8, 1.0, 1.3}) {
    const MembraneStress found = stress("soft_constraints", linear_fabric(), {s, 0, 0}, {0, 1, 0});
    EXPECT_NEAR(found.warp * s, 900 * (s - 1), 20 * 900 * eps);
    EXPECT_EQ(found.weft, 0);
  }
}

// By the stretch tensor, too; and with S and R given, F = R S, the stress is that of dW = T : dS = (stress) :
// dE, E = (S^2 - I) / 2, wherever the element turns: T = (stress S + S stress) / 2.
TEST(MembraneStress, OfTheStretchTensorIsLinearInIt) {
  for (const double s : {0.8, 1.0, 1.6}) {
    const MembraneStress found = stress("corotational", linear_fabric(), {0, s, 0}, {0, 0, 1});
    EXPECT_NEAR(found.warp * s, 900 * (s - 1), 20 * 900 * eps);
    EXPECT_NEAR(found.weft, 0, 20 * 900 * eps);
  }
  Fabric fabric = linear_fabric();
  fabric.poisson_ratio = 0.3;
  const Vec3d r_u{2.0 / 3, 2.0 / 3, 1.0 / 3}, r_v{-2.0 / 3, 1.0 / 3, 2.0 / 3};
  using Stretch = std::array<double, 3>;
  for (const auto& [uu, uv, vv] : {Stretch{1.3, 0.2, 0.7}, Stretch{0.6, -0.25, 1.1}, Stretch{1, 0, 1}}) {
    const MembraneStress found = stress("corotational", fabric, uu * r_u + uv * r_v, uv * r_u + vv * r_v);
    const double unit = 1 / (1 - 0.3 * 0.3), mixed = 0.3 * std::sqrt(900.0 * 400);
    EXPECT_NEAR(found.warp * uu + found.shear * uv, unit * (900 * (uu - 1) + mixed * (vv - 1)), 1e4 * eps);
    EXPECT_NEAR(found.weft * vv + found.shear * uv, unit * (400 * (vv - 1) + mixed * (uu - 1)), 1e4 * eps);
    EXPECT_NEAR((found.warp * uv + found.shear * (uu + vv) + found.weft * uv) / 2, 30 * 2 * uv, 1e4 * eps);
  }
}

// Threads that keep their lengths and turn against each other by an angle t have gamma = sin t.
TEST(MembraneStress, OfShearIsStiffnessTimesItsAngle) {
  for (const double t : {-0.3, 0.1}) {
    const Vec3d along_weft{std::sin(t), std::cos(t), 0};
    for (const char* recipe : {"membrane", "soft_constraints"}) {
      const MembraneStress found = stress(recipe, linear_fabric(), {1, 0, 0}, along_weft);
      EXPECT_NEAR(found.shear, 30 * std::sin(t), 10 * 30 * eps);
      EXPECT_NEAR(found.weft, 0, 10 * 900 * eps);
      EXPECT_NEAR(found.von_mises(), std::sqrt(3.0) * 30 * std::abs(std::sin(t)), 100 * 30 * eps);
    }
  }
}

// An orthotropic plate: nu is the geometric mean of both ratios, so that the compliance couples threads by
// -nu / sqrt(k_u k_v).
TEST(MembraneStress, OfCoupledThreadsInvertsTheCompliance) {
  Fabric fabric = linear_fabric();
  fabric.poisson_ratio = 0.3;
  const double warp = 12, weft = -5, coupled = 0.3 / std::sqrt(900.0 * 400);
  const double strain_u = warp / 900 - coupled * weft, strain_v = weft / 400 - coupled * warp;
  const MembraneStress found =
      stress("membrane", fabric, {std::sqrt(1 + 2 * strain_u), 0, 0}, {0, std::sqrt(1 + 2 * strain_v), 0});
  EXPECT_NEAR(found.warp, warp, 100 * 900 * eps);
  EXPECT_NEAR(found.weft, weft, 100 * 900 * eps);
  EXPECT_NEAR(found.von_mises(), std::sqrt(144 + 60 + 25.0), 100 * 900 * eps);
}

// A strip that is pulled by what a tester has at a point carries that force per width, S s.
TEST(MembraneStress, OfCurvesIsTheMeasuredForceOverStretch) {
  Fabric fabric = linear_fabric();
  fabric.curves.warp = {{{0.01, 5}, {0.03, 40}, {0.05, 150}}};
  fabric.curves.weft = {{{0.02, 8}, {0.1, 60}}};
  fabric.curves.shear = {{{0.05, 1}, {0.2, 9}}};
  for (const char* recipe : {"membrane", "soft_constraints"}) {
    for (const auto& [d, force] : fabric.curves.warp.points)
      EXPECT_NEAR(stress(recipe, fabric, {1 + d, 0, 0}, {0, 1, 0}).warp * (1 + d), force, 1e-11 * force);
    for (const auto& [d, force] : fabric.curves.weft.points)
      EXPECT_NEAR(stress(recipe, fabric, {1, 0, 0}, {0, 1 + d, 0}).weft * (1 + d), force, 1e-11 * force);
    for (const auto& [d, force] : fabric.curves.shear.points)
      for (const double sign : {-1.0, 1.0})
        EXPECT_NEAR(stress(recipe, fabric, {1, 0, 0}, {sign * d, 1, 0}).shear, sign * force, 1e-11 * force);
  }
}

TEST(MembraneStress, AnswersWhatTheStepsAnswer) {
  const auto law = thread_law({{{0.01, 5}, {0.03, 40}, {0.05, 150}}}, 500);
  const std::vector<double> numbers = flat(law);
  for (int i = 1; i < 200; ++i) {
    const double x = 1e-3 * i, steps = ISOCLOTH_BACKEND::response(numbers.data(), law.size(), x).stress;
    EXPECT_NEAR(response(law, x), steps, 10 * eps * steps);
    EXPECT_EQ(response(law, -x), -response(law, x));
  }
}

TEST(MembraneStress, IsKnownOfElementsAlone) {
  for (const Recipe& recipe : recipes())
    EXPECT_EQ(MembraneLaw::exists(recipe), recipe.name == "membrane" || recipe.name == "soft_constraints" ||
                                               recipe.name == "corotational");
}

}  // namespace
}  // namespace isocloth

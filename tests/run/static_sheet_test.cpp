// Cloth at rest by its energy: derivatives, closed forms, the engine's own rest, and how it goes with the
// fabric.
#include "host/minimise/static_sheet.hpp"

#include <Eigen/Dense>
#include <cmath>

#include "engine/mesh/generators.hpp"
#include "host/fit/rest_cases.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/run/result_case.hpp"

namespace isocloth {
namespace {

using Vector = StaticSheet::Vector;

constexpr double width = 0.06, length = 0.1;

StressCurve stiffening(double first) {
  return {{{0.01, first}, {0.02, 3 * first}, {0.04, 12 * first}, {0.08, 40 * first}}};
}

/// Held along x = 0 and x = length; the second side goes by `way`.
Scene pulled(const std::string& recipe, Vec3d way, bool has_curves) {
  Garment sheet;
  sheet.name = "specimen";
  sheet.mesh = quad_grid(6, 5, length, width);
  for (std::size_t i = 0; i < sheet.mesh.positions.size(); ++i)
    sheet.mesh.positions[i].z += 1e-4 * std::sin(static_cast<double>(i * i));
  sheet.fabric.density = sheet.fabric.gravity_density = 0.2;
  sheet.fabric.bending_stiffness = 2e-5;
  sheet.fabric.stretch_stiffness = 800;
  sheet.fabric.weft_stretch_stiffness = 400;
  sheet.fabric.shear_stiffness = 30;
  if (has_curves)
    sheet.fabric.curves = {.warp = stiffening(4), .weft = stiffening(2), .shear = stiffening(1)};
  Pin fixed{"fixed", {}, FixedMotion{}};
  Gripper clip{.name = "clip",
               .region = BoxShape{{0.01, 0.1, 0.02}},
               .position = {length, width / 2, 0},
               .rotation = {},
               .motion = KeyframeMotion{{0, 1}, {{0, 0, 0}, way}, {}, {}},
               .holds = {{0, 10}}};
  for (Index i = 0; i < sheet.mesh.node_count(); ++i)
    if (sheet.mesh.positions[static_cast<std::size_t>(i)].x < 1e-6) fixed.nodes.push_back(i);
  sheet.pins.push_back(fixed);
  sheet.grippers.push_back(clip);
  Scene scene;
  scene.recipe = recipe;
  scene.gravity = 0;
  scene.step = 0.02;
  scene.duration = 1;
  scene.garments.push_back(sheet);
  return scene;
}

std::vector<char> held_ends(const Garment& garment) {
  std::vector<char> held;
  for (const Vec3d& p : garment.mesh.positions) held.push_back(p.x < 1e-6 || p.x > length - 1e-6);
  return held;
}

Vector positions(const Garment& garment, double stretch, double noise) {
  Vector x(3 * static_cast<Eigen::Index>(garment.mesh.positions.size()));
  for (std::size_t i = 0; i < garment.mesh.positions.size(); ++i) {
    const Vec3d& p = garment.mesh.positions[i];
    const auto at = 3 * static_cast<Eigen::Index>(i);
    const double k = static_cast<double>(i);
    x.segment<3>(at) = Eigen::Vector3d((1 + stretch) * p.x + noise * std::sin(k * k),
                                       p.y + noise * std::cos(3 * k), p.z + noise * std::sin(7 * k));
  }
  return x;
}

TEST(StaticSheet, HasTheDerivativesOfItsEnergy) {
  for (const char* recipe : {"membrane", "soft_constraints", "springs", "elastic_edges"})
    for (const bool has_curves : {false, true}) {
      Scene scene = pulled(recipe, {}, has_curves && std::string(recipe) != "elastic_edges");
      if (!has_curves && std::string(recipe) == "membrane") scene.garments[0].fabric.poisson_ratio = 0.3;
      const Garment& garment = scene.garments[0];
      StaticSheet sheet(garment, find_recipe(recipe), 9.8, held_ends(garment));
      const Vector x = positions(garment, 0.03, 3e-4);
      const Vector g = sheet.gradient(x);
      sheet.linearise(x);
      double force = 0, stiffness = 0, stiffest = 0;
      for (Eigen::Index k = 0; k < x.size(); k += 7) {
        Vector unit = Vector::Zero(x.size());
        unit[k] = 1;
        const double h = 1e-6;
        const double by_energy = (sheet.energy(x + h * unit) - sheet.energy(x - h * unit)) / (2 * h);
        force = std::max(force, std::fabs(by_energy - g[k]));
        const Vector by_forces = (sheet.gradient(x + h * unit) - sheet.gradient(x - h * unit)) / (2 * h);
        stiffness = std::max(stiffness, (by_forces - sheet.times_stiffness(unit)).cwiseAbs().maxCoeff());
        stiffest = std::max(stiffest, by_forces.cwiseAbs().maxCoeff());
      }
      EXPECT_LT(force, 1e-6 * g.cwiseAbs().maxCoeff()) << recipe << has_curves;
      // The slopes of curves have kinks at their points.
      EXPECT_LT(stiffness, 1e-5 * stiffest) << recipe << has_curves;
    }
}

TEST(StaticSheet, PullsAsTheClosedForm) {
  // Free at its sides, without Poisson's ratio: an even strain e = d + d^2 / 2 along warp, force k e (1 + d)
  // per width.
  Scene scene = pulled("membrane", {}, false);
  Garment& garment = scene.garments[0];
  garment.mesh = quad_grid(6, 5, length, width);
  StaticSheet sheet(garment, find_recipe("membrane"), 0, held_ends(garment));
  Vector x = positions(garment, 0, 0);
  const double d = 0.03;
  for (Eigen::Index i = 0; i < x.size() / 3; ++i)
    if (x[3 * i] > length - 1e-6) x[3 * i] *= 1 + d;
  const Balance found = sheet.settle(x);
  ASSERT_TRUE(found.is_at_rest && found.is_stable);
  double force = 0;
  const Vector g = sheet.gradient(x);
  for (Eigen::Index i = 0; i < x.size() / 3; ++i)
    if (x[3 * i] > length) force += g[3 * i];
  EXPECT_NEAR(force, width * 800 * (d + d * d / 2) * (1 + d), 1e-9 * force);
}

TEST(StaticSheet, RestsWhereStepsComeToRest) {
  for (const char* recipe : {"membrane", "soft_constraints", "springs"}) {
    Scene scene = pulled(recipe, {0.003, 0.004, 0}, true);
    scene.projection.tolerance = 1e-9;
    scene.projection.force_tolerance = 1e-6;
    const RestCases cases(scene, {1.0}, {}, {.threads = 1}, "scene");
    const RestCases::Result found = cases.solve(scene.garments[0].fabric, {}, 1);
    ASSERT_FALSE(found.has_failed);
    EXPECT_EQ(found.unstable, 0);
    scene.garments[0].fabric.mass_damping = 40;  // slow motions are over in some tenths of a second
    scene.duration = 4;
    Simulation simulation(scene, {.threads = 1});
    simulation.advance(200);
    const Vec3d force = simulation.holds(0).forces[0];
    EXPECT_LT(norm(force - found.cases[0].forces[0]), 2e-4 * norm(force)) << recipe;
    double most = 0;
    for (std::size_t i = 0; i < found.cases[0].positions.size(); ++i)
      most = std::max(most, norm(simulation.positions(0)[i] - found.cases[0].positions[i]));
    EXPECT_LT(most, 2e-6) << recipe;
  }
}

TEST(StaticSheet, GoesWithItsFabricAsDifferencesOfTheSolve) {
  for (const char* recipe : {"membrane", "soft_constraints", "springs"}) {
    const Scene scene = pulled(recipe, {0.003, 0.006, 0}, true);
    const Fabric fabric = scene.garments[0].fabric;
    const RestCases cases(scene, {0.5, 1.0}, {}, {.threads = 1}, "scene");
    const std::vector<std::function<double&(Fabric&)>> numbers{
        [](Fabric& f) -> double& { return f.curves.warp.points[2][1]; },
        [](Fabric& f) -> double& { return f.curves.shear.points[1][1]; },
        [](Fabric& f) -> double& { return f.bending_stiffness; }};
    std::vector<RestCases::Side> sides;
    std::vector<std::array<Fabric, 2>> far;
    for (const auto& number : numbers) {
      const auto with = [&](double factor) {
        Fabric other = fabric;
        number(other) *= factor;
        return other;
      };
      sides.push_back({with(1 - 1e-4), with(1 + 1e-4), 2e-4});
      far.push_back({with(1 - 1e-3), with(1 + 1e-3)});
    }
    const RestCases::Result found = cases.solve(fabric, sides, 1);
    ASSERT_FALSE(found.has_failed);
    for (std::size_t s = 0; s < sides.size(); ++s) {
      const RestCases::Result below = cases.solve(far[s][0], {}, 1), above = cases.solve(far[s][1], {}, 1);
      const RestCases::Result near_below = cases.solve(sides[s].below, {}, 1),
                              near_above = cases.solve(sides[s].above, {}, 1);
      for (std::size_t k = 0; k < 2; ++k) {
        double way = 0, scale = 0;
        for (std::size_t i = 0; i < found.cases[k].positions.size(); ++i) {
          // Richardson's: without what differences of 1e-3 have of the third derivative.
          const Vec3d wide = 500.0 * (above.cases[k].positions[i] - below.cases[k].positions[i]);
          const Vec3d slope = 5000.0 * (near_above.cases[k].positions[i] - near_below.cases[k].positions[i]);
          const Vec3d best = 1.0 / 99 * (100.0 * slope - wide);
          way = std::max(way, norm(best - found.derivatives[s][k].positions[i]));
          scale = std::max(scale, norm(best));
        }
        EXPECT_LT(way, 1e-5 * scale) << recipe << " " << s << " " << k;
        const Vec3d force = 5000.0 * (near_above.cases[k].forces[0] - near_below.cases[k].forces[0]);
        EXPECT_LT(norm(force - found.derivatives[s][k].forces[0]), 1e-5 * norm(force)) << recipe << " " << s;
      }
    }
  }
}

TEST(StaticSheet, RefusesWhatItDoesNotKnow) {
  const auto message = [](const std::function<void(Scene&)>& change) -> std::string {
    Scene scene = pulled("membrane", {0.001, 0, 0}, false);
    change(scene);
    try {
      RestCases(scene, {0.5, 1.0}, {}, {.threads = 1}, "tester.json");
    } catch (const SceneError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](Scene&) {}), "");
  EXPECT_NE(
      message([](Scene& s) { s.recipe = "coltraro2022"; }).find("tester.json: recipe: found coltraro2022"),
      std::string::npos);
  EXPECT_NE(message([](Scene& s) { s.recipe = "corotational"; }).find("recipe: found corotational"),
            std::string::npos);
  EXPECT_NE(message([](Scene& s) { s.garments[0].fabric.strain_limit = 0.1; }).find("fabric.strain_limit"),
            std::string::npos);
  EXPECT_NE(message([](Scene& s) {
              s.garments[0].grippers[0].holds = {{0, 0.7}};
            }).find("grippers[0].holds"),
            std::string::npos);
  EXPECT_NE(
      message([](Scene& s) { s.garments[0].grippers[0].stiffness = 1e6; }).find("grippers[0].stiffness"),
      std::string::npos);
  EXPECT_NE(message([](Scene& s) { s.contact.cloth = true; }).find("contact.cloth"), std::string::npos);
  EXPECT_NE(message([](Scene& s) {
              s.garments[0].mesh.buttons = {{.a = 0, .b = 7}};
            }).find("garments[0].mesh: found 1 buttons, expected none with cloth at rest"),
            std::string::npos);
  EXPECT_NE(message([](Scene& s) {
              s.garments[0].mesh.bands = {{0, 7, 0.01, 1}};
            }).find("garments[0].mesh: found 1 pieces of elastic band, expected none with cloth at rest"),
            std::string::npos);
  EXPECT_NE(message([](Scene& s) {
              s.garments[0].pins.clear();
              s.garments[0].grippers.clear();
            }).find("garments[0].pins: found none"),
            std::string::npos);
}

}  // namespace
}  // namespace isocloth

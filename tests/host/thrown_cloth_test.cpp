// Cloth that forces throw out of all places, and cloth that begins in cloth.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "tests/host/force_case.hpp"

namespace isocloth {
namespace {

/// Sheets of cotton beside each other, each held at two corners.
Scene hung_sheets(Index count, Index nodes) {
  Scene scene;
  scene.recipe = "membrane";
  scene.step = 0.01;
  scene.duration = 1;
  scene.projection.tolerance = 5e-3;
  scene.projection.on_violation = OnViolation::go_on;
  for (Index g = 0; g < count; ++g) {
    Garment sheet;
    sheet.name = "sheet" + std::to_string(g);
    sheet.mesh = quad_grid(nodes, nodes, 0.5, 0.5);
    for (Vec3d& p : sheet.mesh.positions) p.x += g;
    sheet.fabric.density = sheet.fabric.gravity_density = 0.15;
    sheet.fabric.stretch_stiffness = 4000;
    sheet.fabric.bending_stiffness = 1e-5;
    sheet.fabric.thickness = 1e-3;
    sheet.pins.push_back({.name = "corners", .nodes = {0, nodes - 1}, .motion = FixedMotion{}});
    scene.garments.push_back(sheet);
  }
  return scene;
}

std::vector<Vec3d> pushes(const Simulation& simulation, double force) {
  return std::vector<Vec3d>(simulation.scene().garments[0].mesh.positions.size(), Vec3d{force, 0, 0});
}

TEST(ThrownCloth, AmongContactsIsFrozenSoonAndOthersGoOn) {
  for (const bool are_apart : {true, false})
    for (const double force : {1e5, 1e10}) {
      SCOPED_TRACE(force);
      Scene scene = hung_sheets(3, 13);
      scene.contact.cloth = true;
      for (Index g = 0; are_apart && g < 3; ++g) scene.garments[static_cast<std::size_t>(g)].world = g;
      Simulation simulation(scene, {.threads = 1});
      const std::vector<Vec3d> start = simulation.positions(1);
      simulation.set_forces(1, pushes(simulation, force));
      const std::vector<StepReport> reports = simulation.step();
      EXPECT_TRUE(has_failed(reports[1].status)) << to_string(reports[1].status);
      EXPECT_TRUE(simulation.frozen(1));
      EXPECT_EQ(simulation.positions(1), start);
      EXPECT_LE(reports[1].iterations, 100);
      simulation.advance(3);
      for (const std::size_t g : {0, 2}) {
        EXPECT_FALSE(simulation.frozen(g));
        EXPECT_LT(simulation.positions(g)[168].z, -1e-4);
      }
    }
}

TEST(ThrownCloth, ThatMeetsItsTolerancesGoesOn) {
  Scene scene = hung_sheets(1, 19);  // too many nodes for lanes
  scene.contact.cloth = true;
  scene.gravity = 0;
  scene.garments[0].pins.clear();
  Simulation simulation(scene, {.threads = 1});
  simulation.add_force("shot", [](const ForceInput& in, ForceOutput& out) {
    for (std::size_t i = 0; i < in.masses.size(); ++i) out.forces[i].z = 4e5 * in.masses[i];
  });
  EXPECT_EQ(simulation.step()[0].status, StepStatus::converged);
  EXPECT_NEAR(simulation.positions(0)[180].z, 40, 4e-5) << "57 diameters, by a factor in single precision";
}

TEST(ThrownCloth, ByForcesWhoseSquaresOverflowLosesTheStep) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const double force : {1e155, 1e200, 1e300}) {
      SCOPED_TRACE(std::string(to_string(solver)) + text(", ", force));
      Simulation simulation(hung_sheets(2, 7), {.solver = solver, .threads = 1});
      simulation.set_forces(1, pushes(simulation, force));
      EXPECT_TRUE(has_failed(simulation.step()[1].status));
      EXPECT_TRUE(simulation.frozen(1));
      EXPECT_FALSE(simulation.frozen(0));
    }
}

TEST(ClothInCloth, AtTheStartIsRefused) {
  for (const ClothStart initial : {ClothStart::refuse, ClothStart::separate}) {
    Scene scene = hung_sheets(2, 9);
    scene.contact.cloth = true;
    scene.contact.initial = initial;
    std::vector<Vec3d>& second = scene.garments[1].mesh.positions;
    const auto message = [&] {
      try {
        Simulation simulation(scene, {.threads = 1});
      } catch (const SceneError& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    EXPECT_EQ(message(), "");
    for (std::size_t i = 0; i < second.size(); ++i) second[i] = scene.garments[0].mesh.positions[i];
    EXPECT_EQ(message().rfind("at the start cloth lies in cloth", 0), 0u) << message();
    for (Vec3d& p : second) p = {0.233 + 0.1 * p.x, p.y, p.x - 0.241};  // stands in the first one
    EXPECT_EQ(message().rfind("at the start cloth passes through cloth", 0), 0u) << message();
    scene.contact.cloth = false;
    EXPECT_EQ(message(), "");
  }
}

TEST(ClothInCloth, WorldsHaveNumbers) {
  Scene scene = hung_sheets(1, 5);
  scene.garments[0].world = -5;
  EXPECT_THROW(Simulation(scene, {.threads = 1}), SceneError);
}

}  // namespace
}  // namespace isocloth

// Steps that end where forces balance, projection.force_tolerance, and what becomes of those that end before.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/names.hpp"
#include "host/scene/scene_file.hpp"
#include "host/validation/validation.hpp"
#include "tests/host/contact_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

Scene scene_named(const std::string& name) {
  return read_scene(std::filesystem::path(ISOCLOTH_SOURCE_DIR) / "bench" / "scenes" / (name + ".json"));
}

double worst(const ValidationReport& report, const std::string& quantity) {
  double most = -1;
  for (const GarmentValidation& garment : report.garments)
    for (const Difference& d : garment.differences)
      if (d.quantity == quantity) most = std::max(most, d.worst);
  EXPECT_GE(most, 0) << quantity << " was not compared";
  return most;
}

// The reference finds imbalances from its own matrices: it would end steps elsewhere if ours were others.
TEST(Balance, EndsStepsWhereTheReferenceDoes) {
  // Multipliers of rigid rows are as good as eps lets them be.
  const std::pair<const char*, double> cases[] = {{"shake_membrane", 1e-5}, {"shake_fast_9x9", 0.1}};
  for (const auto& [name, balance] : cases)
    for (const StepSolver solver : {StepSolver::automatic, StepSolver::direct}) {
      SCOPED_TRACE(text(name, ", ", to_string(solver)));
      Scene scene = scene_named(name);
      scene.projection.tolerance = 0.01;
      const auto iterations = [&](double most) {
        scene.projection.force_tolerance = most;
        const ValidationReport report =
            validate(scene, {.solver = solver, .threads = 1}, unless_sanitized(6, 2));
        EXPECT_TRUE(report.passed());
        EXPECT_EQ(report.garments[0].whole_steps, report.garments[0].steps);
        return report.garments[0].iterations;
      };
      EXPECT_GT(iterations(balance), iterations(0));
    }
}

// What each node leaves, all leave together: seen from outside, by positions, velocities and forces alone.
TEST(Balance, KeepsTheMomentumOfClothInContact) {
  for (const StepSolver solver : {StepSolver::automatic, StepSolver::direct}) {
    Scene scene =
        contact_scene(square_sheet(7, 0.3, 0.3), obstacle(SphereShape{0.1}, {0.15, 0.15, -0.103}), 0.005);
    scene.recipe = "membrane";
    scene.projection.tolerance = 0.01;
    const auto left = [&](double balance) {
      scene.projection.force_tolerance = balance;
      return worst(validate(scene, {.solver = solver, .threads = 1}, unless_sanitized(40, 8)),
                   "balance of momentum");
    };
    const double loose = left(0), tight = left(1e-3);
    EXPECT_LT(tight, 1e-3);
    EXPECT_GT(loose, 5 * tight);
  }
}

Scene dropped_on_cloth(double balance) {
  Scene scene;
  for (const double height : {0.0, 0.012}) {
    Garment& garment = scene.garments.emplace_back();
    garment.name = text("at ", height);
    garment.mesh = quad_grid(7, 7, 0.2, 0.2);
    garment.initial_positions = garment.mesh.positions;
    for (Vec3d& p : garment.initial_positions) p.z += height;
    garment.fabric.thickness = 0.002;
    garment.fabric.bending_stiffness = 1e-5;
  }
  scene.garments[0].pins = {{"corners", {0, 6, 42, 48}, FixedMotion{}}};
  scene.step = 0.005;
  scene.contact.cloth = true;
  scene.projection.integrator =
      Integrator::backward_euler;  // a change of speed is of this step's forces alone
  scene.projection.force_tolerance = balance;
  scene.projection.max_iterations = 50;
  return scene;
}

// Forces of cloth on cloth are among those that balance: with momentum, at rest the lower sheet bears all.
TEST(Balance, KnowsTheForcesOfClothOnCloth) {
  const auto fall = [](double balance) {
    const Scene scene = dropped_on_cloth(balance);
    Simulation simulation(scene, {.threads = 1});
    int iterations = 0;
    double worst = 0;
    double before = 0;
    for (int n = 0; n < unless_sanitized(60, 12); ++n) {
      const auto reports = simulation.step();
      for (const StepReport& r : reports) {
        EXPECT_EQ(r.status, StepStatus::converged) << n;
        iterations += r.iterations;
      }
      // Of the upper sheet in free fall: nothing but its weight.
      const GarmentState upper = simulation.state(1);
      double speed = 0;
      for (std::size_t i = 2; i < upper.velocities.size(); i += 3) speed += upper.velocities[i] / 49;
      if (reports[1].cloth_contacts == 0)
        worst = std::max(worst, std::abs((speed - before) / scene.step / scene.gravity + 1));
      before = speed;
    }
    EXPECT_LT(worst, 1e-2);
    return iterations;
  };
  EXPECT_GT(fall(1e-3), fall(0));
}

TEST(Balance, IsRefusedWhereThereIsNone) {
  Scene scene = scene_named("shake_membrane");
  const auto expect_refusal = [&](const std::string& part) {
    try {
      validate_scene(scene);
      ADD_FAILURE() << "accepted";
    } catch (const SceneError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  scene.projection.force_tolerance = -1;
  expect_refusal("projection.force_tolerance: found -1");
  scene.projection.force_tolerance = 0.01;
  scene.projection.metric = Metric::mass;
  expect_refusal("projection.metric");
  scene = scene_named("shake_fast_9x9");
  scene.projection.force_tolerance = 0.01;
  scene.projection.method = ProjectionMethod::fast_projection;
  expect_refusal("fast_projection");
}

}  // namespace
}  // namespace isocloth

// Steps of second order that meet something.
#include "engine/model/resolved_scene.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/contact_case.hpp"

namespace isocloth {
namespace {

Scene falling(Integrator integrator, double height) {
  Garment sheet = square_sheet(7, 0.3, 0);
  for (Vec3d& p : sheet.initial_positions) p.z = height;
  Scene scene = contact_scene(sheet, obstacle(PlaneShape{}, {}, 0.3), 0.01);
  scene.recipe = "membrane";
  scene.projection.integrator = integrator;
  return scene;
}

TEST(Impact, TheDefaultIsOfSecondOrderWhereElementsAreElasticAndNoBodiesAreAbout) {
  Scene scene = falling(Integrator::automatic, 0.2);
  EXPECT_EQ(ResolvedScene(scene).integrator, Integrator::bdf2);
  for (const char* recipe : {"coltraro2022", "springs", "elastic_edges", "bender2013_edges"}) {
    if (std::ranges::find(recipes(), std::string_view(recipe), &Recipe::name) == recipes().end()) continue;
    scene.recipe = recipe;
    EXPECT_EQ(ResolvedScene(scene).integrator, Integrator::backward_euler) << recipe;
  }
  scene.recipe = "membrane";
  scene.bodies.emplace_back();
  EXPECT_EQ(ResolvedScene(scene).integrator, Integrator::backward_euler);
}

// What BDF2 remembers of the speed before the impact would throw it back up by a quarter of the height. Lanes
// and kernel by kernel, alone and beside sheets that land at other times.
TEST(Impact, ASheetThatFallsFlatDoesNotComeBack) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const double height : {0.05, 0.2, 0.213}) {
      Scene scene = falling(Integrator::bdf2, height);
      Garment other = scene.garments[0];
      other.name = "other";
      for (Vec3d& p : other.initial_positions) p.z = 1.5 * height;
      scene.garments.push_back(other);
      Simulation simulation(scene, one_thread(solver));
      const double speed = std::sqrt(2 * scene.gravity * height);
      bool has_landed = false;
      for (int n = 0; n < 60; ++n) {
        EXPECT_EQ(simulation.step()[0].status, StepStatus::converged) << n;
        double highest = 0, fastest_up = 0;
        for (const Vec3d& p : simulation.positions(0)) highest = std::max(highest, p.z);
        for (const Vec3d& v : simulation.velocities(0)) fastest_up = std::max(fastest_up, v.z);
        has_landed = has_landed || highest < 1e-3;
        if (!has_landed) continue;
        EXPECT_LT(highest, 2e-3) << height << " m, step " << n;
        EXPECT_LT(fastest_up, 0.05 * speed) << height << " m, step " << n;
      }
      EXPECT_TRUE(has_landed) << height;
    }
}

// In flight nothing is forgotten: half the step, a quarter of the error of what swings.
TEST(Impact, FlightStaysOfSecondOrder) {
  double error[2];
  for (const int parts : {1, 2}) {
    Scene scene = falling(Integrator::bdf2, 10);
    scene.step = 0.01 / parts;
    Simulation simulation(scene, one_thread());
    simulation.advance(40 * parts);
    error[parts - 1] = std::fabs(simulation.positions(0)[0].z - (10 - scene.gravity * 0.08));
  }
  EXPECT_LT(error[0], 2e-3);
  EXPECT_NEAR(error[0] / error[1], 4, 0.5);
}

}  // namespace
}  // namespace isocloth

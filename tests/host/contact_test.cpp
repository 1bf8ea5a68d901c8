// Sheets that fall on obstacles, lie, slide and are carried: what physics and the solvers' promises say.
#include <limits>

#include "engine/core/errors.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/contact_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

constexpr double gravity = 9.8;

/// On a slope with tan = `slope` down along x.
Scene slope_scene(double mu, double slope) {
  const double angle = std::atan(slope);
  Garment sheet = square_sheet(9, 1, 0);
  for (Vec3d& p : sheet.initial_positions) p = {p.x * std::cos(angle), p.y, -p.x * std::sin(angle)};
  return contact_scene(sheet, obstacle(PlaneShape{}, {}, mu, {0, angle, 0}), 0.01);
}

TEST(Contact, SheetComesToRestOnAPlane) {
  Garment sheet = square_sheet(9, 1, 2);
  for (Vec3d& p : sheet.initial_positions) p.z = 0.02;
  Simulation simulation(contact_scene(sheet, obstacle(PlaneShape{}, {}, 0.3), 0.01), one_thread());
  simulation.advance(100);
  for (int step = 0; step < 20; ++step) {
    const StepReport report = simulation.step()[0];
    EXPECT_EQ(report.status, StepStatus::converged);
    EXPECT_EQ(report.iterations, 1);
    EXPECT_LE(report.penetration, simulation.scene().contact.tolerance);
  }
  const Vec3d force = contact_force(simulation);
  EXPECT_NEAR(force.z, gravity, 5e-3 * gravity);
  EXPECT_NEAR(force.x, 0, 5e-3 * gravity);
  EXPECT_NEAR(force.y, 0, 5e-3 * gravity);
  EXPECT_LT(fastest(simulation), 1e-3);
}

// Tilted slowly to 0.9 of what friction holds, then left alone.
TEST(Contact, SheetSticksToASlope) {
  const double mu = 0.5, angle = std::atan(0.9 * mu);
  Garment sheet = square_sheet(9, 1, 0);
  Obstacle plane = obstacle(PlaneShape{}, {}, mu);
  plane.motion = KeyframeMotion{
      .times = {0.1, 2.1}, .translations = {}, .rotations = {{0, 0, 0}, {0, angle, 0}}, .center = {}};
  Simulation simulation(contact_scene(sheet, plane, 0.01), one_thread());
  EXPECT_EQ(simulation.advance(220)[0].status, StepStatus::converged);
  const std::vector<Vec3d> before = simulation.positions(0);
  EXPECT_EQ(simulation.advance(500)[0].status, StepStatus::converged);
  EXPECT_LT(largest_move(before, simulation.positions(0)), 1e-4);
  const Vec3d force = contact_force(simulation);
  EXPECT_NEAR(force.x, 0, 5e-3 * gravity);
  EXPECT_NEAR(force.z, gravity, 5e-3 * gravity);
}

// Once all of it slides.
TEST(Contact, SheetSlidesDownASlope) {
  for (const auto& [mu, slope] : {std::pair{0.5, 0.75}, {0.2, 0.3}, {0.0, 0.5}}) {
    Simulation simulation(slope_scene(mu, slope), one_thread());
    const double angle = std::atan(slope);
    simulation.advance(40);
    const Vec3d before = mean(simulation.velocities(0));
    simulation.advance(50);
    const double expected = gravity * (std::sin(angle) - mu * std::cos(angle));
    EXPECT_NEAR(norm(mean(simulation.velocities(0)) - before) / 0.5, expected, 0.02 * expected)
        << mu << " " << slope;
  }
}

TEST(Contact, FrictionHoldsASheetOnASphere) {
  if (is_sanitized) GTEST_SKIP() << "a figure of a long run";
  Simulation simulation(sphere_scene(0.6, 3), one_thread());
  simulation.advance(600);
  const std::vector<Vec3d> before = simulation.positions(0);
  simulation.advance(1000);
  // What rows may leave lets nodes tremble.
  EXPECT_LT(largest_move(before, simulation.positions(0)), 3e-4);
  // No more than 0.1 mm in a minute.
  EXPECT_LT(norm(mean(simulation.positions(0)) - mean(before)), 1e-4 / 6);
  EXPECT_NEAR(contact_force(simulation).z, gravity, 5e-3 * gravity);
}

TEST(Contact, SheetSlidesOffASmoothSphere) {
  Simulation simulation(sphere_scene(0, 3), one_thread());
  simulation.advance(300);
  for (const Vec3d& p : simulation.positions(0)) EXPECT_LT(p.z, -0.3);
  EXPECT_EQ(norm(contact_force(simulation)), 0);
}

void expect_same_contacts(const GarmentState& found, const GarmentState& expected, const std::string& what) {
  expect_same_state(found, expected, what);
  EXPECT_EQ(found.contacts, expected.contacts) << what;
}

/// The garment of a batch alone.
Scene alone(const Scene& batch, std::size_t garment) {
  Scene scene = batch;
  scene.garments = {batch.garments[garment]};
  return scene;
}

TEST(Contact, BatchesGiveTheSameBits) {
  for (const Precision precision : both_precisions) {
    const Scene batch = mixed_scene(9);
    ExecutionOptions options = one_thread(StepSolver::batched);
    options.precision = precision;
    const int steps = unless_sanitized(30, 14);
    const BatchRun together = run_batch(batch, options, steps);
    double contacts = 0;
    for (std::size_t g = 0; g < 9; g += unless_sanitized(1, 4)) {
      const std::string what = std::string(to_string(precision)) + ", garment " + std::to_string(g);
      const BatchRun one = run_batch(alone(batch, g), options, steps);
      expect_same_contacts(one.states[0], together.states[g], what);
      expect_same(one, 0, together, g, what);
      contacts += contacts_in(one.states[0]);
    }
    EXPECT_GT(contacts, unless_sanitized(90, 3));
  }
}

/// Light and heavy sheets thrown onto a sphere: some need more parts of a step than others beside them.
TEST(Contact, WhatIsDoneStaysWhileOthersTakeMoreParts) {
  for (const char* recipe : {"coltraro2022", "membrane"})
    for (const ProjectionMethod method :
         {ProjectionMethod::proximal_newton, ProjectionMethod::fast_projection}) {
      if (recipe == std::string("membrane") && method == ProjectionMethod::fast_projection) continue;
      SCOPED_TRACE(std::string(recipe) + (method == ProjectionMethod::fast_projection ? ", fast" : ""));
      Garment sheet = square_sheet(5, 0.4, 0);
      sheet.pins = {{"corners", {0, 4}, FixedMotion{}}};
      for (Vec3d& p : sheet.initial_positions) p.z += 0.03;
      sheet.initial_velocities.assign(sheet.initial_positions.size(), {0, 0, -5});
      sheet.fabric.stretch_stiffness = 2000;
      sheet.fabric.shear_stiffness = 100;
      Scene batch = contact_scene(sheet, obstacle(SphereShape{0.1}, {0, 0, -0.13}), 0.02);
      batch.recipe = recipe;
      batch.projection.method = method;
      batch.projection.max_substeps = 16;
      batch.projection.max_iterations = 5;
      batch.garments.clear();
      for (const double rho : {0.05, 0.8, 0.2, 0.1}) {
        sheet.name = "sheet " + std::to_string(batch.garments.size());
        sheet.fabric.density = rho;
        sheet.fabric.gravity_density = 0.2;
        batch.garments.push_back(sheet);
      }
      const BatchRun together = run_batch(batch, one_thread(StepSolver::batched), 6);
      bool others_take_more = false;
      for (std::size_t g = 0; g < batch.garments.size(); ++g) {
        const BatchRun one = run_batch(alone(batch, g), one_thread(StepSolver::batched), 6);
        expect_same_contacts(one.states[0], together.states[g], batch.garments[g].name);
        expect_same(one, 0, together, g, batch.garments[g].name);
        for (std::size_t n = 0; n < 6; ++n)
          others_take_more =
              others_take_more || together.reports[g][n].substeps != together.reports[0][n].substeps;
      }
      EXPECT_TRUE(others_take_more);
    }
}

// From the same state, step by step. The two factor each matrix in another order, so that solutions differ by
// what its condition makes of rounding: at most 1 / eps, and rows get no stiffer than eps = 1e-9. In a step
// the sheet moves by less than 0.1 m.
TEST(Contact, DirectStepsEqualBatchedOnes) {
  const Scene scene = mixed_scene(1);
  Simulation batched(scene, one_thread(StepSolver::batched)), direct(scene, one_thread(StepSolver::direct));
  const double bound = 1e9 * std::numeric_limits<double>::epsilon() / 2 * 0.1;
  int compared = 0;
  for (int step = 0; step < unless_sanitized(60, 20); ++step) {
    direct.set_state(0, batched.state(0));
    const StepReport a = batched.step()[0], b = direct.step()[0];
    if (a.status != StepStatus::converged || a.iterations != b.iterations) continue;
    compared += contacts_in(batched.state(0)) > 0;
    EXPECT_LE(largest_move(batched.positions(0), direct.positions(0)), bound) << step;
    EXPECT_NEAR(a.penetration, b.penetration, bound) << step;
  }
  EXPECT_GT(compared, unless_sanitized(40, 5));
}

TEST(Contact, BlocksOfThreadsGiveTheSameBits) {
  Scene scene = mixed_scene(3);
  for (Garment& g : scene.garments)
    for (Vec3d& p : g.initial_positions) p.z -= 0.03;  // touches at once
  scene.contact.resolve_initial_penetration = true;
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    const int steps = unless_sanitized(4, 2);
    const BatchRun expected = run_batch(scene, one_thread(solver), steps);
    EXPECT_GT(contacts_in(expected.states[0]), 0);
    for (const int threads : {2, 7}) {
      if (is_sanitized && threads == 2) continue;
      ExecutionOptions options = one_thread(solver);
      options.emulated_block = threads;
      const BatchRun found = run_batch(scene, options, steps);
      for (std::size_t g = 0; g < 3; ++g)
        expect_same_contacts(found.states[g], expected.states[g], std::to_string(threads) + " threads");
    }
  }
}

TEST(Contact, BlocksOfThreadsFindContactsInLanes) {
  Scene scene = mixed_scene(3);
  for (Garment& g : scene.garments) g.initial_velocities.assign(g.mesh.positions.size(), {0, 0, -2});
  constexpr int steps = 12;
  ExecutionOptions options = one_thread(StepSolver::batched);
  const BatchRun expected = run_batch(scene, options, steps);
  for (const int threads : {2, 7}) {
    options.emulated_block = threads;
    const BatchRun found = run_batch(scene, options, steps);
    for (std::size_t g = 0; g < 3; ++g) {
      EXPECT_GT(contacts_in(expected.states[g]), 0);
      expect_same_contacts(found.states[g], expected.states[g], std::to_string(threads) + " threads");
    }
  }
}

TEST(Contact, RunsGoOnFromTheirStates) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    const Scene scene = mixed_scene(2);
    Simulation first(scene, one_thread(solver));
    const int half = 16;
    first.advance(half);
    const std::vector<GarmentState> middle{first.state(0), first.state(1)};
    EXPECT_GT(contacts_in(middle[0]), 0);
    const int rest = unless_sanitized(15, 4);
    first.advance(rest);
    Simulation second(scene, one_thread(solver));
    for (std::size_t g = 0; g < 2; ++g) second.set_state(g, middle[g]);
    second.set_step_index(half);
    second.advance(rest);
    for (std::size_t g = 0; g < 2; ++g) expect_same_contacts(second.state(g), first.state(g), "second");
    first.reset();
    EXPECT_EQ(contacts_in(first.state(0)), 0);
    first.advance(half);
    for (std::size_t g = 0; g < 2; ++g) expect_same_contacts(first.state(g), middle[g], "after reset");
  }
}

TEST(Contact, AClothThatStartsInsideIsRefusedOrMovedOut) {
  Garment sheet = square_sheet(5, 0.4, 1);
  for (Vec3d& p : sheet.initial_positions) p.z = -0.01;
  Scene scene = contact_scene(sheet, obstacle(PlaneShape{}, {}, 0.3), 0.01);
  try {
    Simulation simulation(scene, one_thread());
    FAIL() << "not refused";
  } catch (const SceneError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("garments[0] \"sheet\": found node 0 0.01 m inside of obstacle \"obstacle\""),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("contact.resolve_initial_penetration"), std::string::npos) << message;
  }
  scene.contact.resolve_initial_penetration = true;
  Simulation simulation(scene, one_thread());
  simulation.advance(50);
  for (const Vec3d& p : simulation.positions(0)) EXPECT_GE(p.z, -scene.contact.tolerance);
  EXPECT_LT(fastest(simulation), 0.1);
}

TEST(Contact, StatesOfOtherSizesAreRefused) {
  Simulation simulation(mixed_scene(1), one_thread());
  GarmentState state = simulation.state(0);
  state.contacts.pop_back();
  EXPECT_THROW(simulation.set_state(0, state), ShapeError);
  state = simulation.state(0);
  state.contacts[0].obstacle = 4;  // of four obstacles
  EXPECT_THROW(simulation.set_state(0, state), ShapeError);
}

}  // namespace
}  // namespace isocloth

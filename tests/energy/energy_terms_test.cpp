// Balances close whatever acts, however steps are taken; and no step is another for it.
#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/models.hpp"
#include "tests/energy/energy_case.hpp"
#include "tests/host/body_case.hpp"

namespace isocloth {
namespace {

/// A sheet held at two corners that swings, of steps whose forces balance.
Scene swing(const std::string& recipe) {
  Garment sheet = half_kilogram(9);
  sheet.pins = {{"corners", {0, 8}, FixedMotion{}}};
  Scene scene = energy_scene(sheet, 0.01, recipe);
  scene.projection.tolerance = 1e-5;
  scene.projection.force_tolerance = 1e-4;
  scene.projection.max_iterations = 200;
  return scene;
}

void expect_same_sums(const EnergySums& found, const EnergySums& expected, double rounding,
                      const std::string& what) {
  for_each_field<EnergySums>([&](const char* name, auto member) {
    EXPECT_NEAR(found.*member, expected.*member, rounding * expected.energy_scale) << what << ": " << name;
  });
}

TEST(EnergyTerms, OfEveryRecipeAndFabricAddUp) {
  for (const char* recipe :
       {"membrane", "coltraro2022", "springs", "soft_constraints", "corotational", "elastic_edges"})
    expect_closed(balance_of(swing(recipe), 80), 1e-4, recipe);
  Scene scene = swing("membrane");
  Fabric& fabric = scene.garments[0].fabric;
  fabric.mass_damping = 0.1;
  fabric.stiffness_damping = 1e-4;
  fabric.poisson_ratio = 0.3;
  fabric.viscosity = {.stretch = 2, .shear = 0.5};
  fabric.gravity_density = 0.3;
  MeasuredBalance b = balance_of(scene, 80);
  expect_closed(b, 1e-4, "damped");
  EXPECT_GT(b.sums.loss_damping, 0);
  scene.recipe = "corotational";
  expect_closed(balance_of(scene, 80), 1e-4, "damped, by the stretch tensor");
  scene.recipe = "membrane";
  fabric.poisson_ratio = 0;
  fabric.curves.warp.points = {{0.01, 5}, {0.05, 40}, {0.2, 400}};
  fabric.curves.shear.points = {{0.1, 2}, {0.5, 40}};
  expect_closed(balance_of(scene, 80), 1e-4, "curves");
  fabric.viscosity.curves.warp.points = {{0.1, 1}, {1, 30}, {5, 300}};
  fabric.viscosity.curves.shear.points = {{0.2, 1}, {2, 5}};
  b = balance_of(scene, 80);
  expect_closed(b, 1e-4, "viscosity by curves");
  EXPECT_GT(b.sums.loss_damping, 0);
  scene = swing("membrane");
  scene.garments[0].fabric.stretch_stiffness = 20;
  scene.garments[0].fabric.strain_limit = 0.05;
  b = balance_of(scene, 80);
  expect_closed(b, 1e-3, "limited");
  scene.garments[0].fabric.strain_limit = 0;
  scene.garments[0].fabric.principal_strain_limit = 0.05;
  expect_closed(balance_of(scene, 80), 1e-3, "limited in all directions");
}

TEST(EnergyTerms, OfHingesAddUp) {
  for (const char* recipe : {"membrane", "corotational", "springs"}) {
    Scene scene = swing(recipe);
    Garment& sheet = scene.garments[0];
    const Mesh triangles = triangle_grid(9, 9, 1, 1, Diagonals::alternating);
    sheet.mesh.face_begin = triangles.face_begin;
    sheet.mesh.face_nodes = triangles.face_nodes;
    sheet.mesh.corner_uvs.clear();
    sheet.fabric.bending = BendingModel::discrete_shells;
    MeasuredBalance b = balance_of(scene, 80);
    expect_closed(b, 1e-4, recipe);
    EXPECT_GT(b.sums.bending_energy, 0);
    const double before = b.sums.loss_damping;
    sheet.fabric.stiffness_damping = 1e-4;
    sheet.fabric.curves.bend.points = {{1, 1e-3}, {5, 2e-2}};
    b = balance_of(scene, 80);
    expect_closed(b, 1e-4, std::string(recipe) + ", damped and by a curve");
    EXPECT_GT(b.sums.loss_damping, before);
  }
}

TEST(EnergyTerms, OfLargeAnglesAddUp) {
  for (const char* recipe : {"membrane", "springs"})
    for (const BendingModel model : {BendingModel::plate, BendingModel::mid_edge}) {
      Scene scene = swing(recipe);
      Fabric& fabric = scene.garments[0].fabric;
      fabric.bending = model;
      fabric.bending_stiffness = 0.01;
      fabric.stiffness_damping = 1e-4;
      fabric.large_angles = true;
      const MeasuredBalance b = balance_of(scene, 80);
      expect_closed(b, 1e-4, recipe);
      EXPECT_GT(b.sums.bending_energy, 0);
      EXPECT_GT(b.sums.loss_damping, 0);
    }
}

TEST(EnergyTerms, OfBdf2AddUp) {
  Scene scene = swing("membrane");
  const MeasuredBalance euler = balance_of(scene, 80);
  scene.projection.integrator = Integrator::bdf2;
  const MeasuredBalance b = balance_of(scene, 80);
  expect_closed(b, 1e-4, "bdf2");
  EXPECT_LT(std::fabs(b.sums.loss_integrator), 0.5 * euler.sums.loss_integrator);
}

TEST(EnergyTerms, OfAirPressureAndForcesAddUp) {
  Scene scene = swing("membrane");
  scene.garments[0].fabric.drag = {.normal = 1, .tangential = 0.1};
  scene.garments[0].pressure = 3;
  scene.wind = {.velocity = {2, 1, 0.5}, .gusts = 0.3, .gust_period = 0.2};
  scene.garments[0].forces.assign(81, {0.01, 0.02, 0});
  Simulation simulation(scene);
  simulation.add_force("spring", [](const ForceInput& in, ForceOutput& out) {
    out.stiffness.assign(in.positions.size(), isotropic_tensor(2));
    out.damping.assign(in.positions.size(), isotropic_tensor(0.01));
    for (std::size_t i = 0; i < in.positions.size(); ++i)
      out.forces[i] = -2.0 * in.positions[i] - 0.01 * in.velocities[i];
  });
  const MeasuredBalance b = balance_after(simulation, 80);
  expect_closed(b, 1e-4, "in the wind");
  EXPECT_NE(b.sums.work_air, 0);
  EXPECT_NE(b.sums.work_forces, 0);
  scene.garments[0].fabric.drag = {.normal_coefficient = 1.17, .tangential_coefficient = 0.05};
  const MeasuredBalance quadratic = balance_of(scene, 80);
  expect_closed(quadratic, 1e-4, "in the wind, by quadratic drag");
  EXPECT_NE(quadratic.sums.work_air, b.sums.work_air);

  // A constant force along the way of the middle of mass.
  scene = energy_scene(half_kilogram(), 0.01);
  scene.garments[0].forces.assign(25, {0.1, 0, 0});
  Simulation pushed(scene);
  const double from = pushed.positions(0)[12].x;
  const MeasuredBalance alone = balance_after(pushed, 50);
  double way = 0;
  for (const Vec3d& x : pushed.positions(0)) way += x.x;
  for (const Vec3d& x : scene.garments[0].initial_positions) way -= x.x;
  EXPECT_GT(pushed.positions(0)[12].x, from);
  EXPECT_NEAR(alone.sums.work_forces, 0.1 * way, 1e-9 * way);
}

TEST(EnergyTerms, OfPanelsOfAirAddUp) {
  if (models().check_panels == nullptr) GTEST_SKIP() << "air around panels is not in this build";
  Scene scene = swing("membrane");
  scene.wind.model = WindModel::panels;
  scene.wind.velocity = {2, 0, 0.5};
  scene.wind.wake_rows = 4;
  const MeasuredBalance b = balance_of(scene, 20);
  expect_closed(b, 1e-4, "panels");
  EXPECT_NE(b.sums.work_air, 0);
}

// Sheets that fall onto each other and a ball that falls onto them, in steps and in parts of steps.
TEST(EnergyTerms, OfClothOnClothAndBodiesAddUp) {
  Garment below = half_kilogram(9), above = half_kilogram(7);
  below.pins = {{"corners", {0, 8, 72, 80}, FixedMotion{}}};
  below.fabric.thickness = above.fabric.thickness = 4e-3;
  for (Vec3d& p : above.initial_positions) p = 0.5 * p + Vec3d{0, 0, 0.03};
  above.mesh.positions = above.initial_positions;
  above.name = "above";
  Scene scene = energy_scene(below, 0.005);
  scene.garments.push_back(above);
  scene.projection.force_tolerance = 0.01;
  scene.contact.cloth = true;
  scene.contact.cloth_friction = {.static_ = 0.3, .dynamic = 0.3};
  for (const bool has_ball : {false, true}) {
    if (has_ball) scene.bodies = {body(SphereShape{0.1}, 0.3, {0.05, 0, 0.2}, 0.3)};
    Simulation simulation(scene);
    EnergyBalance balance(simulation);
    for (int i = 0; i < 60; ++i) balance.step();
    if (has_ball) {
      EXPECT_NE(balance.sums(1).work_obstacles, 0);
    }
    for (std::size_t g = 0; g < 2; ++g) {
      const EnergySums s = balance.sums(g);
      EXPECT_NE(s.work_cloth, 0) << g;
      EXPECT_LE(std::fabs(s.energy_error), 1e-3 * s.energy_scale) << g;
    }
    // What one does to the other comes back, less friction, impact and what is held back.
    EXPECT_LT(balance.sums(0).work_cloth + balance.sums(1).work_cloth, 0);
  }
}

// Steps of three iterations do not do where pins jerk: they are taken in up to 8 parts.
TEST(EnergyTerms, OfStepsInPartsAddUp) {
  Scene scene = swing("coltraro2022");
  scene.garments[0].pins[0].motion =
      OscillationMotion{.amplitude = {0, 0, 0.1}, .frequency = 4, .start = 0, .duration = 100};
  scene.projection.tolerance = 1e-4;
  scene.projection.force_tolerance = 0;
  scene.projection.max_iterations = 3;
  scene.projection.max_substeps = 16;
  Simulation simulation(scene, one_thread(StepSolver::direct));
  EnergyBalance balance(simulation);
  int most = 1;
  for (int i = 0; i < 40; ++i) most = std::max(most, balance.step().front().substeps);
  EXPECT_GT(most, 2);
  const EnergySums s = balance.sums(0);
  EXPECT_LE(std::fabs(s.energy_error), 2e-3 * s.energy_scale);
}

TEST(EnergyTerms, OfABatchAreThoseOfEachAlone) {
  Scene scene = swing("membrane");
  const Garment sheet = scene.garments[0];
  for (int i = 1; i < 5; ++i) {
    scene.garments.push_back(sheet);
    scene.garments.back().name += text(i);
    scene.garments.back().fabric.stretch_stiffness *= 1 + i;
    scene.garments.back().fabric.bending_stiffness *= 1 + i;
  }
  Simulation batch(scene);
  EnergyBalance balance(batch);
  for (int i = 0; i < 30; ++i) balance.step();
  for (std::size_t g = 0; g < 5; ++g) {
    Scene alone = scene;
    alone.garments = {scene.garments[g]};
    const MeasuredBalance own = balance_of(alone, 30, one_thread(StepSolver::direct));
    expect_closed(own, 1e-4, text("sheet ", g));
    expect_same_sums(balance.sums(g), own.sums, 1e-5, text("sheet ", g));
  }
}

TEST(EnergyTerms, OfSinglePrecisionAddUp) {
  Scene scene = swing("membrane");
  scene.projection.force_tolerance = 0;
  scene.projection.tolerance = 1e-3;
  ExecutionOptions options;
  options.precision = Precision::float32;
  const EnergySums s = balance_of(scene, 50, options).sums;
  EXPECT_LE(std::fabs(s.energy_error), 1e-2 * s.energy_scale);
}

// By formulas of its own it says what the projection was asked for.
TEST(EnergyTerms, UnbalancedForcesAreWhatTheBalanceAsksFor) {
  Scene scene = swing("membrane");
  double left[2];
  for (const double balance : {1e-4, 0.1}) {
    scene.projection.force_tolerance = balance;
    double& most = left[balance < 0.01 ? 0 : 1];
    most = 0;
    Simulation simulation(scene);
    EnergyBalance sums(simulation);
    for (int n = 0; n < 30; ++n) {
      sums.step();
      most = std::max(most, sums.sums(0).unbalanced_force);
      EXPECT_LE(sums.sums(0).unbalanced_force, 1.01 * balance) << n;
    }
  }
  EXPECT_GT(left[1], 10 * left[0]);
}

// Commands between steps are told apart from what steps do.
TEST(EnergyTerms, OfCommandsAreOfTheirOwn) {
  Scene scene = swing("membrane");
  scene.garments[0].fabric.stretch_stiffness = 1000;
  Simulation simulation(scene);
  EnergyBalance balance(simulation);
  for (int i = 0; i < 10; ++i) balance.step();
  const double before = simulation.measure(0).kinetic_energy;
  std::vector<Vec3d> velocities = simulation.velocities(0);
  for (Vec3d& v : velocities) v = 2.0 * v;
  simulation.write(GarmentField::velocities, velocities);
  balance.step();
  EXPECT_NEAR(balance.sums(0).work_commands, 3 * before, 1e-9 * before);
  Fabric stiff = scene.garments[0].fabric;
  stiff.stretch_stiffness *= 2;
  const EnergySums at_change = balance.sums(0);
  // The weak stiffness of differences of triangles is a number of its own.
  const double of_threads = at_change.stretch_energy - simulation.measure(0).hourglass_energy;
  EXPECT_GT(of_threads, at_change.stretch_energy / 2);
  simulation.set_fabric(0, stiff);
  balance.step();
  EXPECT_NEAR(balance.sums(0).work_commands - at_change.work_commands, of_threads, 1e-6 * of_threads);
  for (int i = 0; i < 10; ++i) balance.step();
  EXPECT_LE(std::fabs(balance.sums(0).energy_error), 1e-3 * balance.sums(0).energy_scale);
}

TEST(EnergyTerms, ChangeNoBit) {
  const Scene scene = swing("membrane");
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    Simulation watched(scene, one_thread(solver)), alone(scene, one_thread(solver));
    balance_after(watched, 20);
    for (int i = 0; i < 20; ++i) alone.step();
    EXPECT_EQ(watched.state(0), alone.state(0));
  }
}

TEST(EnergyTerms, AreRefusedWhereNoneAreKnown) {
  const auto refusal = [](const Scene& scene) -> std::string {
    Simulation simulation(scene);
    try {
      const EnergyBalance balance(simulation);
    } catch (const SceneError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(swing("membrane")), "");
  Scene scene = swing("coltraro2022");
  scene.projection.metric = Metric::mass;
  scene.projection.force_tolerance = 0;
  EXPECT_NE(refusal(scene).find("projection.metric: found \"mass\""), std::string::npos) << refusal(scene);
  scene.projection.metric = Metric::implicit_b;
  scene.projection.method = ProjectionMethod::fast_projection;
  EXPECT_NE(refusal(scene).find("projection.method: found \"fast_projection\""), std::string::npos)
      << refusal(scene);
  scene = energy_scene(half_kilogram(), 0.01, "bender_iterative");
  scene.garments[0].fabric.bending_stiffness = 0;
  EXPECT_NE(refusal(scene).find("recipe: found bender_iterative"), std::string::npos) << refusal(scene);
  scene = swing("membrane");
  scene.projection.max_substeps = 4;
  EXPECT_NE(refusal(scene).find("projection.max_substeps: found 4"), std::string::npos) << refusal(scene);
}

}  // namespace
}  // namespace isocloth

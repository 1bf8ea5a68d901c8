// Derivatives of runs against central differences of runs.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/gradients/fabric_gradients.hpp"
#include "host/gradients/tape.hpp"
#include "host/memory/device.hpp"
#include "host/projection/projection_adjoint.hpp"
#include "host/projection/projection_solver.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/gradient_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

constexpr int step_count = 8;

/// A sheet that two corners swing, bent and moving from the start.
struct SwungSheet {
  Scene scene;
  std::vector<Nodes> targets;  ///< of the pin's nodes, one for each step
  Nodes forces;                ///< [N]

  explicit SwungSheet(const Mesh& mesh, const std::string& recipe, const Fabric& fabric) {
    Garment sheet;
    sheet.name = "sheet";
    sheet.mesh = mesh;
    sheet.fabric = fabric;
    sheet.initial_positions = mesh.positions;
    for (Vec3d& p : sheet.initial_positions) p.z = 0.01 * std::sin(9 * p.x) * std::cos(5 * p.y);
    if (find_recipe(recipe).is_elastic())
      for (Vec3d& p : sheet.initial_positions) p.x *= 1.004;
    sheet.initial_velocities = random_nodes(mesh.positions.size(), 3, 0.2);
    sheet.pins.push_back({"corners", {0, 5}, FixedMotion{}});
    for (const Index node : {0, 5}) sheet.initial_velocities[static_cast<std::size_t>(node)] = {};
    scene.recipe = recipe;
    scene.step = 0.01;
    // Steps that end where forces balance are exact. Those of rigid rows do by their rows alone, to the
    // square root of what these are within times what of the geometric stiffness the step's matrix leaves
    // out.
    if (find_recipe(recipe).is_elastic())
      scene.projection.force_tolerance = 1e-9;
    else
      scene.projection.tolerance = 3e-14;
    scene.projection.cg_tolerance = 1e-12;
    scene.projection.max_iterations = 200;
    scene.projection.max_substeps = 1;
    scene.garments = {sheet};
    for (int n = 1; n <= step_count; ++n)
      targets.push_back({sheet.initial_positions[0] + 0.002 * n * Vec3d{0.1, 0.3, 1},
                         sheet.initial_positions[5] + 0.002 * n * Vec3d{-0.2, 0.5, 1}});
    forces = random_nodes(mesh.positions.size(), 4, 1e-3);
  }
  Garment& sheet() { return scene.garments[0]; }

  /// The weights of the loss, sum of a.x + b.v of all states.
  std::vector<StateGradient> weights() const {
    std::vector<StateGradient> all(step_count + 1);
    const std::size_t count = scene.garments[0].mesh.positions.size();
    for (std::size_t n = 0; n < all.size(); n += 2)
      all[n] = {random_nodes(count, 10 + n), random_nodes(count, 30 + n, 0.05)};
    return all;
  }
  void take(Simulation& simulation, const std::function<void()>& step) const {
    if (!forces.empty()) simulation.set_forces(0, {forces.data(), forces.size()});
    for (const Nodes& to : targets) {
      simulation.move_pin(0, 0, {to.data(), to.size()}, scene.step);
      step();
    }
  }
  Loss loss() const {
    Simulation simulation(scene, {.threads = 1});
    const std::vector<StateGradient> all = weights();
    Loss sum;
    std::size_t n = 0;
    const auto look = [&] {
      if (!all[n].positions.empty()) {
        sum.add(all[n].positions, simulation.positions(0));
        sum.add(all[n].velocities, simulation.velocities(0));
      }
      ++n;
    };
    look();
    take(simulation, [&] {
      const StepReport report = simulation.step()[0];
      EXPECT_EQ(report.status, StepStatus::converged) << report.residual;
      EXPECT_EQ(report.substeps, 1);
      look();
    });
    return sum;
  }
  RunGradient gradient() const {
    Simulation simulation(scene, {.threads = 1});
    Tape tape(simulation);
    take(simulation, [&] { tape.step(); });
    EXPECT_EQ(tape.step_count(), static_cast<std::size_t>(step_count));
    return tape.gradient(0, weights());
  }
};

struct Difference {
  double value;
  double rounding;
};
/// (8 (L(h) - L(-h)) - (L(2 h) - L(-2 h))) / 12 h, L the loss of a run that is changed by so much: runs are
/// exact to their tolerance, so that h is not small, and the error is h^4 and what the sums of L round.
template <class Change>
Difference difference(const SwungSheet& run, double h, const Change& change) {
  const auto loss = [&](double way) {
    SwungSheet other = run;
    change(other, way);
    return other.loss();
  };
  const Loss ahead = loss(h), behind = loss(-h);
  return {(8 * (ahead.value - behind.value) - (loss(2 * h).value - loss(-2 * h).value)) / (12 * h),
          std::numeric_limits<double>::epsilon() / 2 * (ahead.size + behind.size) / h};
}

constexpr double of_runs = 2e-7, of_rigid_rows = 3e-5;

void expect_gradient_of_differences(const SwungSheet& run, double tolerance) {
  const RunGradient found = run.gradient();
  const std::size_t count = run.scene.garments[0].mesh.positions.size();
  const auto expect = [&](const char* what, double by_adjoint, Difference by_difference) {
    const double size = std::abs(by_difference.value);
    EXPECT_NEAR(by_adjoint, by_difference.value, tolerance * size + by_difference.rounding) << what;
    EXPECT_GT(size, 10 * by_difference.rounding) << what;
  };
  const auto add = [](const Nodes& along, double h, Nodes& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += h * along[i];
  };
  const Nodes along = random_nodes(count, 50);
  expect("positions", product(found.positions, along),
         difference(run, 1e-6, [&](SwungSheet& r, double h) { add(along, h, r.sheet().initial_positions); }));
  expect("velocities", product(found.velocities, along), difference(run, 1e-5, [&](SwungSheet& r, double h) {
           add(along, h, r.sheet().initial_velocities);
         }));
  Nodes forces(count);
  for (const Nodes& f : found.forces) add(f, 1, forces);
  expect("forces", product(forces, along),
         difference(run, 1e-5, [&](SwungSheet& r, double h) { add(along, h, r.forces); }));
  for (const std::size_t n : {std::size_t{2}, run.targets.size() - 1})
    expect("targets", dot(found.targets[n][0], along[0]) + dot(found.targets[n][5], along[1]),
           difference(run, 1e-6, [&](SwungSheet& r, double h) { add(along, h, r.targets[n]); }));
  expect("gravity", found.gravity,
         difference(run, 1e-4, [](SwungSheet& r, double h) { r.sheet().gravity = r.scene.gravity + h; }));
  std::size_t numbers = 0;
  for (const FabricDerivative& number :
       fabric_derivatives(find_recipe(run.scene.recipe), run.scene.garments[0].fabric)) {
    ASSERT_EQ(found.fabric[numbers].first, number.name);
    Fabric fabric = run.scene.garments[0].fabric;
    expect(number.name.c_str(), found.fabric[numbers++].second,
           difference(run, 2e-3 * number.of(fabric),
                      [&](SwungSheet& r, double h) { number.of(r.sheet().fabric) += h; }));
  }
}

Fabric cotton() {
  return {.density = 0.2,
          .gravity_density = 0.15,
          .bending_stiffness = 2e-4,
          .mass_damping = 0.3,
          .stretch_stiffness = 400,
          .shear_stiffness = 30};
}

TEST(Gradients, OfMembranesAreThoseOfDifferences) {
  for (const bool quads : {true, false}) {
    const Mesh mesh =
        quads ? quad_grid(6, 5, 0.3, 0.25) : triangle_grid(6, 5, 0.3, 0.25, Diagonals::parallel);
    expect_gradient_of_differences(SwungSheet(mesh, "membrane", cotton()), of_runs);
  }
}

TEST(Gradients, OfFabricsOfManyNumbersAreThoseOfDifferences) {
  Fabric fabric = cotton();
  fabric.weft_bending_stiffness = 5e-4;
  fabric.stiffness_damping = 1e-6;
  fabric.weft_stretch_stiffness = 700;
  fabric.poisson_ratio = 0.2;
  fabric.viscosity = {.stretch = 0.4, .shear = 0.05};
  for (const double poisson_ratio : {0.2, 0.0}) {
    fabric.poisson_ratio = poisson_ratio;
    expect_gradient_of_differences(SwungSheet(quad_grid(6, 5, 0.3, 0.25), "membrane", fabric), of_runs);
  }
}

// Second derivatives of the polar decomposition are in no step's matrix.
TEST(Gradients, OfCorotationalElementsAreThoseOfDifferences) {
  Fabric fabric = cotton();
  fabric.stretch_stiffness = 40;  // stretched by some percent
  fabric.weft_stretch_stiffness = 70;
  fabric.shear_stiffness = 10;
  expect_gradient_of_differences(
      SwungSheet(triangle_grid(6, 5, 0.3, 0.25, Diagonals::parallel), "corotational", fabric), of_runs);
  fabric.poisson_ratio = 0.2;
  fabric.viscosity = {.stretch = 0.4, .shear = 0.05};
  expect_gradient_of_differences(SwungSheet(quad_grid(6, 5, 0.3, 0.25), "corotational", fabric), of_runs);
}

TEST(Gradients, OfMeasuredCurvesAreThoseOfDifferences) {
  Fabric fabric = cotton();
  fabric.curves.warp = {{{0.001, 0.3}, {0.01, 5}, {0.05, 60}}};
  fabric.curves.shear = {{{0.02, 0.5}, {0.2, 12}}};
  constexpr double of_curves = 1e-4;  // differences reach over the ends of pieces, where curves bend
  expect_gradient_of_differences(SwungSheet(quad_grid(6, 5, 0.3, 0.25), "membrane", fabric), of_curves);
  fabric.curves.warp = {};
  fabric.curves.warp.polynomial = {300, 0, 2e6};
  fabric.curves.warp.up_to = 0.1;
  fabric.viscosity.curves.warp.polynomial = {0.4, 0, 0.2};
  fabric.viscosity.curves.warp.up_to = 10;
  expect_gradient_of_differences(SwungSheet(quad_grid(6, 5, 0.3, 0.25), "membrane", fabric), of_curves);
}

TEST(Gradients, OfBdf2AreThoseOfDifferences) {
  SwungSheet run(quad_grid(6, 5, 0.3, 0.25), "membrane", cotton());
  run.scene.projection.integrator = Integrator::bdf2;
  expect_gradient_of_differences(run, of_runs);
}

TEST(Gradients, OfInextensibleClothAreThoseOfDifferences) {
  expect_gradient_of_differences(SwungSheet(quad_grid(6, 5, 0.3, 0.25), "coltraro2022", cotton()),
                                 of_rigid_rows);
}

// Without a solve on the other side: w carries changes of a step's balance R to those of the loss, A w =
// dL/dx and w . dR/dx_n = dL/dx_n, whether the states are those of a step or not.
TEST(Gradients, OfAStepAreThoseOfItsBalance) {
  for (const std::string way : {"membrane", "curves", "viscosity", "corotational"}) {
    SCOPED_TRACE(way);
    const bool has_curves = way == "curves" || way == "viscosity";
    Fabric fabric = cotton();
    fabric.poisson_ratio = has_curves ? 0 : 0.2;
    fabric.viscosity = {.stretch = 0.4, .shear = 0.05};
    if (way == "viscosity") {
      fabric.viscosity.curves.warp.polynomial = {0.4, 0, 0.2};
      fabric.viscosity.curves.warp.up_to = 10;
    }
    if (has_curves) fabric.curves.warp = {{{0.001, 0.3}, {0.01, 5}, {0.05, 60}}};
    SwungSheet sheet(quad_grid(6, 5, 0.3, 0.25), has_curves ? "membrane" : way, fabric);
    sheet.scene.projection.integrator = Integrator::backward_euler;  // the sums below are its
    Simulation simulation(sheet.scene, {.threads = 1});
    simulation.advance(3);
    GarmentState before = simulation.state(0);
    simulation.step();
    GarmentState after = simulation.state(0);
    const Device device({.threads = 1});
    const ResolvedScene resolved(sheet.scene);
    ProjectionSolver<double> solver(device, sheet.scene.garments[0], resolved, nullptr);
    const double h = sheet.scene.step;
    const auto balance = [&] {
      const FinishedStep step{.before = before, .after = after, .time = 3 * h, .step = h};
      solver.go_to_end(step);
      return StepAdjoint(solver.system(), step).balance();
    };
    const StateGradient loss{random_nodes(30, 1), random_nodes(30, 2, 0.1)};
    const FinishedStep step{.before = before, .after = after, .time = 3 * h, .step = h};
    solver.go_to_end(step);
    const StepGradient found = StepAdjoint(solver.system(), step).gradient(loss);
    Nodes along = random_nodes(30, 3);
    const auto difference = [&](std::vector<double>& numbers) {
      const std::vector<double> middle = numbers;
      double sides[2];
      for (const int side : {0, 1}) {
        for (std::size_t i = 0; i < numbers.size(); ++i)
          numbers[i] = middle[i] + (side == 0 ? 1e-8 : -1e-8) * (&along[i / 3].x)[i % 3];
        sides[side] = product(found.adjoint, balance());
      }
      numbers = middle;
      return (sides[0] - sides[1]) / 2e-8;
    };
    double by_end = product(loss.positions, along) + product(loss.velocities, along) / h;
    for (const std::size_t pinned : {0, 5}) by_end -= dot(found.targets[pinned], along[pinned]);
    EXPECT_NEAR(difference(after.positions), -by_end, 1e-6 * std::abs(by_end));
    const double by_start = product(found.before.positions, along) + product(loss.velocities, along) / h;
    EXPECT_NEAR(difference(before.positions), by_start, 1e-6 * std::abs(by_start));
    const double by_speed = product(found.before.velocities, along);
    EXPECT_NEAR(difference(before.velocities), by_speed, 1e-6 * std::abs(by_speed));
  }
}

TEST(Gradients, AreThoseOfTheTapesOwnFabric) {
  const SwungSheet run(quad_grid(6, 5, 0.3, 0.25), "membrane", cotton());
  Simulation simulation(run.scene, {.threads = 1});
  Tape tape(simulation);
  run.take(simulation, [&] { tape.step(); });
  const RunGradient before = tape.gradient(0, run.weights());
  Fabric other = cotton();
  other.mass_damping = 3;
  other.stretch_stiffness = 900;
  simulation.set_fabric(0, other);
  simulation.set_gravity(0, 1.0);
  const RunGradient after = tape.gradient(0, run.weights());
  EXPECT_EQ(after.positions, before.positions);
  EXPECT_EQ(after.fabric, before.fabric);
  EXPECT_EQ(after.gravity, before.gravity);

  std::vector<StateGradient> broken = run.weights();
  broken.back().positions[7].y = std::nan("");
  EXPECT_THROW(tape.gradient(0, broken), NumericalError);
}

TEST(Gradients, WhatHasNoneIsRefused) {
  const SwungSheet run(quad_grid(6, 5, 0.3, 0.25), "membrane", cotton());
  const auto refusal = [&](const auto& change, ExecutionOptions options = {.threads = 1}) {
    Scene scene = run.scene;
    change(scene);
    try {
      Simulation simulation(scene, options);
      Tape tape(simulation);
    } catch (const SceneError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto expect = [&](const char* beginning, const auto& change) {
    EXPECT_TRUE(refusal(change).starts_with(beginning)) << refusal(change);
  };
  EXPECT_EQ(refusal([](Scene&) {}), "");
  expect("recipe: found bender_iterative", [](Scene& s) { s.recipe = "bender_iterative"; });
  expect("projection.metric", [](Scene& s) {
    s.projection.metric = Metric::mass;
    s.projection.force_tolerance = 0;
  });
  expect("contact.resolve_initial_penetration: found true", [](Scene& s) {
    s.contact.resolve_initial_penetration = true;
    s.obstacles.emplace_back().name = "floor";
    s.obstacles.back().position.z = -1;
  });
  expect("garments[0].pressure: found 3", [](Scene& s) { s.garments[0].pressure = 3; });
  expect("garments[0].fabric.principal_strain_limit",
         [](Scene& s) { s.garments[0].fabric.principal_strain_limit = 0.1; });
  expect("garments[0].fabric.strain_limit", [](Scene& s) { s.garments[0].fabric.strain_limit = 0.1; });
  expect("garments[0].fabric.drag", [](Scene& s) { s.garments[0].fabric.drag = {.normal = 1}; });
  EXPECT_TRUE(
      refusal([](Scene&) {}, {.precision = Precision::float32, .threads = 1}).starts_with("precision"));

  Simulation simulation(run.scene, {.threads = 1});
  Tape tape(simulation);
  tape.step();
  EXPECT_THROW(tape.gradient(0, {}), ShapeError);
  EXPECT_THROW(tape.gradient(1, std::vector<StateGradient>(2)), ShapeError);
  EXPECT_THROW(tape.gradient(0, {{.positions = Nodes(3), .velocities = {}}, {}}), ShapeError);
  // A loss of nothing.
  const RunGradient none = tape.gradient(0, std::vector<StateGradient>(2));
  EXPECT_EQ(none.positions, Nodes(30));
  simulation.step();  // beside the tape
  EXPECT_THROW(tape.step(), SceneError);

  // What is not taken whole is not on the tape.
  SwungSheet hard = run;
  hard.scene.projection.max_iterations = 1;
  Simulation stalls(hard.scene, {.threads = 1});
  Tape none_taken(stalls);
  EXPECT_THROW(none_taken.step(), NumericalError);
  EXPECT_EQ(none_taken.step_count(), 0u);
}

}  // namespace
}  // namespace isocloth

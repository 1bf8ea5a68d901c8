// Sakaguchi et al. 1991 (PARTY): springs whose pull beyond a yield strain flows and stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/mesh/topology.hpp"
#include "host/validation/validation.hpp"
#include "tests/host/impulse_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

constexpr double rest_length = 0.1, stiffness = 30, rho = 0.3;

/// A strip of 3 x 7 nodes without weight, along y, stretched evenly and at rest; its first row of nodes is
/// pinned, the last one if it says so.
Scene stretched(double strain, const Plasticity& plasticity, bool is_held, double alpha = 3) {
  constexpr Index columns = 3, rows = 7;
  Garment garment;
  garment.name = "strip";
  garment.mesh = quad_grid(columns, rows, rest_length * (columns - 1), rest_length * (rows - 1));
  for (const Vec3d& p : garment.mesh.positions)
    garment.initial_positions.push_back({p.x, (1 + strain) * p.y, p.z});
  garment.fabric = {.density = rho,
                    .gravity_density = 0,
                    .mass_damping = alpha,
                    .structural_spring = {.stiffness = stiffness}};
  garment.fabric.plasticity = plasticity;
  garment.pins = {{"first", {0, 1, 2}, FixedMotion{}}};
  if (is_held) garment.pins.push_back({"last", {18, 19, 20}, FixedMotion{}});
  Scene scene;
  scene.recipe = "sakaguchi1991";
  scene.step = 0.01;
  scene.duration = 100;
  scene.garments = {garment};
  return scene;
}

/// |d| / l - 1 of the edges along y.
std::vector<double> strains_along_y(const Simulation& simulation) {
  const Garment& garment = simulation.scene().garments[0];
  const std::vector<Vec3d> x = simulation.positions(0);
  std::vector<double> all;
  for (std::size_t i = 3; i < x.size(); ++i)
    all.push_back(norm(x[i] - x[i - 3]) / norm(garment.mesh.positions[i] - garment.mesh.positions[i - 3]) -
                  1);
  return all;
}

// Pulled by 30 % with a yield strain of 10 %, each spring flows by 20 % at once. Let go, it swings about its
// new length with an elastic strain of 10 % at most, flows no more and comes to rest where hand computation
// says.
TEST(Sakaguchi, AStripPulledBeyondYieldKeepsWhatFlowed) {
  Simulation simulation(stretched(0.3, {.yield_strain = 0.1}, false));
  simulation.advance(unless_sanitized(1500, 700));
  for (const double strain : strains_along_y(simulation))
    EXPECT_NEAR(strain, 0.3 - 0.1, unless_sanitized(1e-6, 1e-2));
  const std::vector<double> plastic = simulation.state(0).plastic_strains;
  // 8 + 18 edges less the two between pinned nodes; across nothing pulls.
  ASSERT_EQ(plastic.size(), 7u * 2 + 6 * 3 - 2);
  EXPECT_NEAR(*std::max_element(plastic.begin(), plastic.end()), 0.2, 1e-12);
  EXPECT_NEAR(*std::min_element(plastic.begin(), plastic.end()), 0, 1e-12);
}

// Held at a strain e beyond the yield strain y, with forces in balance: backward Euler of d e_p / dt =
// (e - e_p - y) / T gives e_p = (e - y) (1 - (1 + h / T)^-n) to rounding.
TEST(Sakaguchi, HeldBeyondYieldItFlowsExponentially) {
  const double time = 0.2, strain = 0.3, yield = 0.1;
  for (const Precision precision : both_precisions) {
    Simulation simulation(stretched(strain, {yield, time}, true), {.precision = precision, .threads = 1});
    const double u = precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                                     : std::numeric_limits<double>::epsilon();
    for (int n = 1; n <= unless_sanitized(20, 5); ++n) {
      const int parts = simulation.step()[0].substeps;
      const double part = simulation.scene().step / parts;
      const double flowed = (strain - yield) * (1 - std::pow(1 + part / time, -n * parts));
      double most = 0;
      for (const double plastic : simulation.state(0).plastic_strains) most = std::max(most, plastic);
      // Each part rounds strain and sum once, and places are off by some roundings of the strip's length.
      EXPECT_NEAR(most, flowed, (2 * n * parts + 50) * u);
      EXPECT_NEAR(flowed, (strain - yield) * (1 - std::exp(-0.01 * n / time)), 0.2 * part / time);
    }
  }
}

// Pushed together, springs flow, too: a crease.
TEST(Sakaguchi, PushedTogetherItFlowsTheOtherWay) {
  Simulation simulation(stretched(-0.3, {.yield_strain = 0.1}, true));
  simulation.step();
  const std::vector<double> plastic = simulation.state(0).plastic_strains;
  EXPECT_NEAR(*std::min_element(plastic.begin(), plastic.end()), -0.2, 1e-12);
  EXPECT_NEAR(*std::max_element(plastic.begin(), plastic.end()), 0, 1e-12);
}

// Without air and dampers an elastic strip swings for ever with the energy that it was pulled with; what
// flows at once takes all of it but that of the yield strain.
TEST(Sakaguchi, FlowTakesEnergy) {
  const auto most_kinetic = [](const Plasticity& plasticity) {
    Simulation simulation(stretched(0.3, plasticity, false, 0));
    double most = 0;
    for (int n = 0; n < unless_sanitized(200, 20); ++n) {
      simulation.step();
      const std::vector<Vec3d> v = simulation.velocities(0);
      double energy = 0;
      for (std::size_t i = 3; i < v.size(); ++i) {  // a quarter of an element at each of its corners
        const double mass = rho * rest_length * rest_length * (i % 3 == 1 ? 1 : 0.5) * (i < 18 ? 1 : 0.5);
        energy += mass / 2 * (v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
      }
      most = std::max(most, energy);
    }
    return most;
  };
  const auto stored = [](double strain) {  // 18 springs
    return 18 * stiffness / 2 * std::pow(strain * rest_length, 2);
  };
  const double elastic = most_kinetic({}), plastic = most_kinetic({.yield_strain = 0.1});
  EXPECT_GT(elastic, 0.8 * stored(0.3));
  EXPECT_LT(plastic, 1.01 * stored(0.1));
  EXPECT_GT(plastic, 0.5 * stored(0.1));
}

Fabric springs() {
  return {.density = 0.2,
          .gravity_density = 0.2,
          .mass_damping = 0.2,
          .shear_spring = {.stiffness = 10, .damping = 0.01},
          .bend_spring = {.stiffness = 2, .damping = 0.01},
          .structural_spring = {.stiffness = 20, .damping = 0.01}};
}

Scene hanging(const char* recipe, const Plasticity& plasticity) {
  constexpr Index count = 9;
  Garment garment;
  garment.name = "sheet";
  garment.mesh = quad_grid(count, count, 0.5, 0.5);
  garment.fabric = springs();
  garment.fabric.plasticity = plasticity;
  garment.pins = {{"corners", {count * (count - 1), count * count - 1}, FixedMotion{}}};
  Scene scene;
  scene.recipe = recipe;
  scene.garments = {garment};
  return scene;
}

// No spring of this sheet is strained by 150 %.
TEST(Sakaguchi, BelowYieldItHasTheBitsOfProvotWithoutLimit) {
  for (const Precision precision : both_precisions)
    for (const Plasticity& plasticity : {Plasticity{}, Plasticity{1.5, 0}, Plasticity{1.5, 0.1}}) {
      Simulation provot(hanging("provot1995", {}), {.precision = precision, .threads = 1});
      Simulation sakaguchi(hanging("sakaguchi1991", plasticity), {.precision = precision, .threads = 1});
      for (Simulation* each : {&provot, &sakaguchi}) each->advance(unless_sanitized(100, 10));
      EXPECT_EQ(provot.positions(0), sakaguchi.positions(0));
      EXPECT_EQ(provot.velocities(0), sakaguchi.velocities(0));
      for (const double plastic : sakaguchi.state(0).plastic_strains) EXPECT_EQ(plastic, 0);
    }
}

/// Cloths of impulse_case.hpp that yield, each at another strain.
Scene batch(const std::vector<int>& members) {
  Scene scene = impulse_batch("sakaguchi1991", ImpulseMode::substeps, members);
  for (std::size_t g = 0; g < members.size(); ++g) {
    Fabric& fabric = scene.garments[g].fabric;
    fabric.structural_spring = {.stiffness = 40.0 + members[g], .damping = 1e-3};
    fabric.shear_spring = {.stiffness = 20, .damping = 1e-3};
    if (members[g] % 3 != 2)  // else it does not yield
      fabric.plasticity = {.yield_strain = 1e-3 * (1 + members[g]), .flow_time = 0.01 * (members[g] % 2)};
  }
  return scene;
}

TEST(Sakaguchi, AClothFlowsAsIfAloneOnEveryMachine) {
  const std::vector<int> members{4, 0, 7, 2, 5};
  for (const std::string& simd : simd_names())
    for (const Precision precision : both_precisions) {
      ExecutionOptions options{
          .precision = precision, .solver = StepSolver::batched, .simd = simd, .threads = 1};
      const BatchRun together = run_batch(batch(members), options, unless_sanitized(5, 2));
      double most = 0;
      for (const GarmentState& state : together.states)
        for (const double plastic : state.plastic_strains) most = std::max(most, std::abs(plastic));
      EXPECT_GT(most, 1e-3);
      for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
        for (std::size_t g = 0; g < members.size(); ++g) {
          options.solver = solver;
          const BatchRun alone = run_batch(batch({members[g]}), options, unless_sanitized(5, 2));
          expect_same(together, g, alone, 0, "cloth " + std::to_string(members[g]));
        }
      options.solver = StepSolver::batched;
      options.emulated_block = 7;
      const BatchRun in_blocks = run_batch(batch(members), options, unless_sanitized(5, 2));
      for (std::size_t g = 0; g < members.size(); ++g) expect_same(together, g, in_blocks, g, "blocks of 7");
    }
}

TEST(Sakaguchi, ASnapshotBringsBackWhatFlowed) {
  for (const Precision precision : both_precisions) {
    Scene scene = batch({0, 1});
    Simulation simulation(scene, {.precision = precision, .threads = 1});
    simulation.advance(3);
    const Snapshot middle = simulation.snapshot();
    simulation.advance(3);
    const GarmentState end = simulation.state(1);
    simulation.restore(middle);
    simulation.advance(3);
    expect_same_state(simulation.state(1), end, "again");
    EXPECT_NE(middle.garments[1].plastic_strains, end.plastic_strains);
    GarmentState wrong = end;
    wrong.plastic_strains.pop_back();
    EXPECT_THROW(simulation.set_state(1, wrong), ShapeError);
  }
}

TEST(Sakaguchi, KernelsEqualTheReference) {
  std::vector<Garment> garments = impulse_garments();
  for (Garment& garment : garments) {
    garment.fabric.structural_spring = {.stiffness = 3, .damping = 1e-3};
    garment.fabric.plasticity = {.yield_strain = 0.004, .flow_time = 0.02};
  }
  for (const ImpulseMode mode : both_modes)
    for (const Precision precision : both_precisions) {
      const Scene scene = impulse_scene(garments, "sakaguchi1991", mode);
      const auto report =
          validate(scene, {.precision = precision, .solver = StepSolver::batched, .threads = 1},
                   unless_sanitized(4, 1));
      EXPECT_TRUE(report.passed());
      for (const GarmentValidation& garment : report.garments) {
        EXPECT_EQ(garment.whole_steps, garment.steps);
        bool found = false;
        for (const Difference& d : garment.differences) {
          EXPECT_LE(d.tolerance, precision == Precision::float64 ? 1e-7 : 2e-2) << d.quantity;
          found = found || d.quantity == "plastic strains";
        }
        EXPECT_TRUE(found);
      }
    }
}

std::string refusal(const Scene& scene) {
  try {
    Simulation simulation(scene);
  } catch (const SceneError& error) {
    return error.what();
  }
  return "none";
}

TEST(Sakaguchi, WhatItCannotDoIsRefused) {
  const auto with = [](const char* recipe, auto change) {
    Scene scene = hanging(recipe, {});
    change(scene.garments[0].fabric);
    return refusal(scene);
  };
  EXPECT_EQ(with("sakaguchi1991", [](Fabric& f) { f.plasticity = {0.1, 0.2}; }), "none");
  EXPECT_EQ(with("sakaguchi1991",
                 [](Fabric& f) {
                   f.plasticity = {-0.1, 0};
                 }),
            "garments[0].fabric.yield_strain: found -0.1, expected a number >= 0");
  EXPECT_EQ(with("sakaguchi1991",
                 [](Fabric& f) {
                   f.plasticity = {0, 0.2};
                 }),
            "garments[0].fabric.flow_time: found 0.2, expected 0 where yield_strain is 0, and nothing flows");
  EXPECT_EQ(
      with("sakaguchi1991", [](Fabric& f) { f.strain_limit = 0.1; }),
      "garments[0].fabric.strain_limit: found 0.1, expected 0 with the recipe sakaguchi1991, whose springs "
      "yield: use provot1995");
  EXPECT_EQ(
      with("provot1995",
           [](Fabric& f) {
             f.plasticity = {0.1, 0};
           }),
      "garments[0].fabric.yield_strain: found 0.1, expected 0 with the recipe provot1995, which is elastic: "
      "use sakaguchi1991");
  EXPECT_EQ(with("sakaguchi1991", [](Fabric& f) { f.structural_spring = {}; }),
            "garments[0].fabric.structural_spring.stiffness: found 0, expected more than 0 with the recipe "
            "sakaguchi1991");
  // What is explicit bounds the step, and says so.
  Scene scene = hanging("sakaguchi1991", {0.1, 0});
  scene.impulse.substeps = 1;
  scene.garments[0].fabric.structural_spring.stiffness = 2e5;
  EXPECT_NE(refusal(scene).find("impulse.substeps: found 1 parts of a step of"), std::string::npos)
      << refusal(scene);
}

}  // namespace
}  // namespace isocloth

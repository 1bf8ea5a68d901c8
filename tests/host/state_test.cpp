// States go into a simulation and come back with every field as it was, whatever solves the steps.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "kernels/contact/contact_arrays.hpp"
#include "tests/host/body_case.hpp"
#include "tests/host/gripper_case.hpp"
#include "tests/host/impulse_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

struct Kind {
  const char* name;
  Scene scene;
  StepSolver solver;
  bool impulses = false;
};

std::vector<Kind> kinds() {
  Scene grips = many_grippers(contact_scene(square_sheet(7, 0.3, 1), {}, 0.01));
  grips.obstacles.push_back(obstacle(SphereShape{0.1}, {0, 0, -1}, 0.3));
  grips.obstacles.back().name = "ball";
  grips.contact.resolve_initial_penetration = true;
  Scene bodies = body_scene(hanging_net(9), {body(SphereShape{0.1}, 1, {0.02, 0.01, 0.11}, 0.2)}, 0.01);
  std::vector<Kind> all{{"batched", grips, StepSolver::batched},
                        {"direct", grips, StepSolver::direct},
                        {"iterative", grips, StepSolver::iterative},
                        {"bodies", bodies, StepSolver::direct}};
  for (const std::size_t first : {0, 1}) {
    Kind remembering = all[first];
    remembering.scene.projection.integrator = Integrator::bdf2;
    all.push_back(remembering);
  }
  for (const char* recipe :
       known_recipes({"bender_iterative", "isometric_impulse", "bender_sle", "sakaguchi1991"})) {
    grips.recipe = recipe;
    for (Garment& garment : grips.garments)
      if (grips.recipe == "sakaguchi1991") garment.fabric.structural_spring = {.stiffness = 10};
    all.push_back({recipe, grips, StepSolver::direct, true});
    if (grips.recipe != "bender_sle") all.push_back({recipe, grips, StepSolver::batched, true});
  }
  return all;
}

/// Numbers that all differ, and are the same in single precision.
class Numbers {
 public:
  double next() { return 1 + ++count_ / 1024.0; }
  void fill(std::vector<double>& values) {
    for (double& value : values) value = next();
  }
  Vec3d vector() { return {next(), next(), next()}; }

 private:
  int count_ = 0;
};

/// Another value in every field. The bindings name all members: one that is new must be changed here, too.
void change(GarmentState& state, const Scene& scene, std::size_t garment, bool impulses) {
  Numbers numbers;
  auto& [positions, velocities, multipliers, contacts, eased, holds, previous_positions, previous_velocities,
         previous_step, step_index, frozen, diverged, cloth_contacts, plastic_strains, air, fasteners,
         rest_time] = state;
  EXPECT_EQ(air, AirState{});             // these scenes have none: tests/host/models/cloth_in_air_test.cpp
  EXPECT_EQ(fasteners, FastenerState{});  // nor these: tests/host/fastener_state_test.cpp
  EXPECT_EQ(rest_time, 0);                // none sleeps: tests/host/sleep_test.cpp
  if (scene.contact.cloth) cloth_contacts = {{.key = 77, .force = {1, 2, 3}}};
  for (std::vector<double>* values : {&positions, &velocities, &multipliers, &plastic_strains})
    numbers.fill(*values);
  int count = 0;
  for (auto& [obstacle, mode, force, slip, place] : contacts) {
    obstacle = static_cast<Index>(++count % static_cast<int>(scene.obstacles.size() + scene.bodies.size()));
    mode = static_cast<ContactMode>(count % 5);
    force = numbers.vector();
    if (impulses) continue;
    slip = numbers.next();
    place = {numbers.next(), numbers.next()};
  }
  for (auto& [obstacle, depth] : eased) {
    obstacle = static_cast<Index>(++count % static_cast<int>(scene.obstacles.size()));
    depth = numbers.next();
  }
  for (auto& [gripper, place, force] : holds) {
    gripper = static_cast<Index>(++count % static_cast<int>(scene.garments[garment].grippers.size()));
    place = numbers.vector();
    force = numbers.vector();
  }
  if (!impulses && scene.projection.integrator == Integrator::bdf2) {
    for (std::vector<double>* values : {&previous_positions, &previous_velocities}) {
      values->resize(positions.size());
      numbers.fill(*values);
    }
    previous_step = numbers.next();
  }
  step_index = 77;
  frozen = diverged = true;
}

TEST(StateFields, EveryFieldGoesInAndComesBack) {
  for (const Kind& kind : kinds())
    for (const Precision precision : both_precisions) {
      if (precision == Precision::float32 && !kind.scene.bodies.empty()) continue;
      Simulation simulation(kind.scene, {.precision = precision, .solver = kind.solver, .threads = 1});
      const std::size_t garment = kind.scene.garments.size() - 1;
      const Snapshot start = simulation.snapshot();
      GarmentState state = start.garments[garment];
      EXPECT_FALSE(state.contacts.empty()) << kind.name;
      EXPECT_EQ(state.eased.empty(), !kind.scene.contact.resolve_initial_penetration) << kind.name;
      EXPECT_EQ(state.holds.empty(), kind.scene.garments[garment].grippers.empty()) << kind.name;
      change(state, kind.scene, garment, kind.impulses);
      simulation.set_state(garment, state);
      expect_same_state(simulation.state(garment), state, kind.name);
      for (std::size_t g = 0; g < garment; ++g)
        expect_same_state(simulation.state(g), start.garments[g], kind.name);
      simulation.restore(start);
      expect_same_state(simulation.state(garment), start.garments[garment], kind.name);
    }
}

TEST(StateFields, WhatCannotBeIsRefused) {
  for (const Kind& kind : kinds()) {
    Simulation simulation(kind.scene, {.solver = kind.solver, .threads = 1});
    const GarmentState good = simulation.state(0);
    const auto expect_refused = [&](const char* what, auto spoil) {
      GarmentState state = good;
      spoil(state);
      try {
        simulation.set_state(0, state);
        ADD_FAILURE() << kind.name << ": took " << what;
      } catch (const ShapeError& error) {
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << kind.name << error.what();
      }
    };
    for_each_field<GarmentState>([&](const char* name, auto member) {
      if constexpr (requires(GarmentState s) { (s.*member).pop_back(); }) {
        if ((good.*member).empty()) return;
        expect_refused(name, [&](GarmentState& s) { (s.*member).pop_back(); });
      }
    });
    expect_refused("velocities[2] = nan", [](GarmentState& s) { s.velocities[2] = std::nan(""); });
    expect_refused("contacts[1].force = inf", [](GarmentState& s) { s.contacts[1].force.y = HUGE_VAL; });
    expect_refused("contacts: found number 2 at 0", [](GarmentState& s) { s.contacts[0].obstacle = 2; });
    if (!good.eased.empty()) {
      expect_refused("eased: found number 2 at 1", [](GarmentState& s) { s.eased[1].obstacle = 2; });
      expect_refused("eased: found depth -1 at 1", [](GarmentState& s) { s.eased[1].depth = -1; });
    }
    expect_refused("contacts: found mode 5 at 0",
                   [](GarmentState& s) { s.contacts[0].mode = ContactMode{5}; });
    expect_refused("previous_step: found -1", [](GarmentState& s) { s.previous_step = -1; });
    expect_refused(kind.scene.projection.integrator == Integrator::bdf2 ? "previous_positions: found 0 values"
                                                                        : "previous_step: found 1",
                   [](GarmentState& s) { s.previous_step = 1; });
    expect_refused("step_index: found -1", [](GarmentState& s) { s.step_index = -1; });
    expect_same_state(simulation.state(0), good, kind.name);
  }
}

}  // namespace
}  // namespace isocloth

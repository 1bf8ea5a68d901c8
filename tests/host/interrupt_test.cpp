// Steps and set-ups that are told to stop: they end soon, and count as if they had never begun.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "engine/core/errors.hpp"
#include "tests/host/body_case.hpp"
#include "tests/host/cloth_sheets.hpp"
#include "tests/host/gripper_case.hpp"
#include "tests/host/impulse_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;

/// Tells a monitor's work to stop once it has done some iterations more.
class Stopper {
 public:
  Stopper(Monitor& monitor, std::int64_t after)
      : thread_([&monitor, at = monitor.iterations + after](const std::stop_token& over) {
          while (!over.stop_requested() && monitor.iterations < at) std::this_thread::yield();
          monitor.stop = true;
        }) {}

 private:
  std::jthread thread_;
};

struct Kind {
  const char* name;
  Scene scene;
  StepSolver solver;
};

std::vector<Kind> kinds() {
  const Scene sheets = batch_scene({.bending = true, .parted = true}, 9);
  Scene contact = among_solids(sphere_scene(0.3, 1), 5, 0.1);
  Scene grips = many_grippers(contact_scene(square_sheet(7, 0.3, 1), {}, 0.01));
  const Scene bodies = body_scene(hanging_net(9), {body(SphereShape{0.1}, 1, {0.02, 0.01, 0.11}, 0.2)}, 0.01);
  std::vector<Kind> all{{"batched", sheets, StepSolver::batched},
                        {"direct", sheets, StepSolver::direct},
                        {"mixed", sheets, StepSolver::mixed},
                        {"iterative", sheets, StepSolver::iterative},
                        {"batched among obstacles", contact, StepSolver::batched},
                        {"direct among obstacles", contact, StepSolver::direct},
                        {"batched with grippers", grips, StepSolver::batched},
                        {"worlds of cloths that meet", worlds_of_two(5), StepSolver::automatic},
                        {"bodies", bodies, StepSolver::direct}};
  for (const char* recipe : known_recipes({"bender_iterative", "isometric_impulse"})) {
    grips.recipe = contact.recipe = recipe;
    grips.impulse.mode = ImpulseMode::converge;
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
      all.push_back({"impulses among obstacles", contact, solver});
      all.push_back({"impulses with grippers", grips, solver});
    }
  }
  contact.recipe = "bender_sle";
  if (has_recipe("bender_sle")) all.push_back({"impulses from one system", contact, StepSolver::automatic});
  for (const char* recipe : known_recipes({"isometric_impulse", "bender_sle"})) {
    Scene worlds = worlds_of_two(3);
    worlds.recipe = recipe;
    all.push_back({"impulses on cloths that meet", worlds, StepSolver::automatic});
  }
  return all;
}

void expect_same_states(const Simulation& found, const Simulation& expected, const std::string& what) {
  for (std::size_t g = 0; g < found.garment_count(); ++g)
    expect_same_state(found.state(g), expected.state(g), what);
  EXPECT_TRUE(found.bodies() == expected.bodies()) << what;
}

TEST(Interrupt, AStepThatIsStoppedHasNeverBegun) {
  constexpr int steps = 6;
  int stops = 0;
  for (const Kind& kind : kinds())
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(threads) + " threads");
      Monitor monitor;
      ExecutionOptions options{.solver = kind.solver, .threads = threads};
      Simulation straight(kind.scene, options);
      options.monitor = &monitor;
      Simulation stopped(kind.scene, options);
      for (int n = 0; n < steps; ++n) {
        std::vector<StepReport> found;
        for (const int after : {1, 7, 40, 1000000000}) {
          {
            Stopper stopper(monitor, after);
            try {
              found = stopped.step();
            } catch (const Interrupted&) {
              ++stops;
            }
          }
          monitor.stop = false;
          if (!found.empty()) break;
          EXPECT_EQ(stopped.step_index(), n);
          expect_same_states(stopped, straight, "after a stop");
        }
        const std::vector<StepReport> expected = straight.step();
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t g = 0; g < found.size(); ++g) expect_same_report(found[g], expected[g], "step");
        expect_same_states(stopped, straight, "after step " + std::to_string(n));
      }
      EXPECT_EQ(stopped.step_index(), steps);
    }
  EXPECT_GT(stops, 0);  // how many depends on how the machine shares its cores
}

/// Pins that tear a sheet at 0.05 s, where no iteration is the last.
Scene endless(const std::string& recipe, double distance) {
  Scene scene = contact_scene(square_sheet(9, 0.3, 1), obstacle(PlaneShape{}, {0, 0, -1}), 0.01);
  scene.recipe = recipe;
  scene.projection.max_iterations = scene.impulse.max_sweeps = 1000000000;
  scene.impulse.mode = ImpulseMode::converge;
  scene.garments[0].pins = {
      {"left", {0}, FixedMotion{}},
      {"right",
       {8},
       KeyframeMotion{
           .times = {0.05, 0.055}, .translations = {{}, {distance, 0, 0}}, .rotations = {}, .center = {}}}};
  return scene;
}

TEST(Interrupt, AnEndlessStepEndsWithinASecond) {
  struct Case {
    const char* recipe;
    StepSolver solver;
  };
  for (const Case& own : {Case{"coltraro2022", StepSolver::batched},
                          {"coltraro2022", StepSolver::direct},
                          {"coltraro2022", StepSolver::iterative},
                          {"bender_iterative", StepSolver::batched},
                          {"bender_iterative", StepSolver::direct}})
    for (const Precision precision : both_precisions) {
      SCOPED_TRACE(std::string(own.recipe) + ", " + to_string(own.solver) + ", " + to_string(precision));
      Monitor monitor;
      Simulation simulation(
          endless(own.recipe, 0.1),
          {.precision = precision, .solver = own.solver, .threads = 1, .monitor = &monitor});
      simulation.advance(5);
      const GarmentState before = simulation.state(0);
      Clock::time_point told;
      std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        told = Clock::now();
        monitor.stop = true;
      });
      EXPECT_THROW(simulation.step(), Interrupted);
      const double seconds = std::chrono::duration<double>(Clock::now() - told).count();
      EXPECT_LT(seconds, 1);
      EXPECT_GT(monitor.iterations, 5);
      EXPECT_EQ(simulation.step_index(), 5);
      expect_same_state(simulation.state(0), before, "after the stop");
      // It stays told until it is not any more.
      EXPECT_THROW(simulation.step(), Interrupted);
      EXPECT_EQ(simulation.step_index(), 5);
    }
}

TEST(Interrupt, ManyStepsAtOnceStopAtAWholeRequest) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    const Scene scene = batch_scene({}, 5);
    Monitor monitor;
    Simulation stopped(scene, {.solver = solver, .threads = 1, .monitor = &monitor, .measure_strain = false});
    {
      Stopper stopper(monitor, 300);
      EXPECT_THROW(stopped.advance(100000), Interrupted);
    }
    EXPECT_EQ(stopped.step_index() % 64, 0);
    Simulation straight(scene, {.solver = solver, .threads = 1, .measure_strain = false});
    straight.advance(static_cast<int>(stopped.step_index()));
    expect_same_states(stopped, straight, to_string(solver));
  }
}

TEST(Interrupt, StopsSetUp) {
  Monitor monitor;
  monitor.stop = true;
  const ExecutionOptions options{.monitor = &monitor};
  EXPECT_THROW(Simulation(batch_scene({}, 3), options), Interrupted);
  monitor.stop = false;
  EXPECT_NO_THROW(Simulation(batch_scene({}, 3), options));
}

}  // namespace
}  // namespace isocloth

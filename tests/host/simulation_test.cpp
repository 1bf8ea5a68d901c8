// The public class over groups of garments: reading, clocks, resets, states, and who shares a group.
#include "host/simulation/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/memory/device.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "host/run/equilibrium_search.hpp"
#include "tests/host/batch_case.hpp"

namespace isocloth {
namespace {

const ExecutionOptions one_thread{.threads = 1};

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_mentions(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "\"" << message << "\" does not mention " << part;
}

TEST(Simulation, ReadsSomeGarments) {
  Simulation simulation(batch_scene({}, 11), one_thread);
  simulation.advance(2);
  for (const std::vector<std::size_t>& chosen :
       {std::vector<std::size_t>{}, {4}, {10, 0, 3}, {7, 7}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}) {
    std::vector<Vec3d> positions, velocities;
    for (const std::size_t g : chosen) {
      const auto p = simulation.positions(g), v = simulation.velocities(g);
      positions.insert(positions.end(), p.begin(), p.end());
      velocities.insert(velocities.end(), v.begin(), v.end());
    }
    std::vector<Vec3d> found(positions.size(), {77, 77, 77});
    simulation.read(GarmentField::positions, chosen, {found.data(), found.size()});
    EXPECT_EQ(found, positions);
    simulation.read(GarmentField::velocities, chosen, {found.data(), found.size()});
    EXPECT_EQ(found, velocities);
    EXPECT_TRUE(chosen.empty() || velocities != positions);
  }
}

TEST(Simulation, RefusesWhatDoesNotFit) {
  Simulation simulation(batch_scene({}, 3), one_thread);
  std::vector<Vec3d> room(59);
  expect_mentions(message_of([&] {
                    simulation.read(GarmentField::positions, {0, 2}, {room.data(), room.size()});
                  }),
                  {"59", "60"});
  EXPECT_THROW(simulation.read(GarmentField::velocities, {0, 2}, {room.data(), room.size()}), ShapeError);
  for (const auto& call : std::initializer_list<void (*)(Simulation&)>{
           [](Simulation& s) { s.read(GarmentField::positions, {3}, {}); },
           [](Simulation& s) {
             s.reset({0, 3});
           },
           [](Simulation& s) { s.state(3); }, [](Simulation& s) { s.set_state(3, s.state(0)); },
           [](Simulation& s) { s.time(3); }, [](Simulation& s) { s.frozen(3); },
           [](Simulation& s) { s.info(3); }, [](Simulation& s) { s.measure(3); }})
    expect_mentions(message_of([&] { call(simulation); }), {"3"});
  EXPECT_THROW(simulation.advance(-1), ShapeError);
  for (const std::int64_t step : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_THROW(simulation.set_step_index(step), ShapeError);
    GarmentState late = simulation.state(0);
    late.step_index = step;
    expect_mentions(message_of([&] { simulation.set_state(0, late); }), {"step_index"});
  }
  GarmentState state = simulation.state(1);
  state.velocities.pop_back();
  expect_mentions(message_of([&] { simulation.set_state(1, state); }), {"cloth 1", "velocities", "89", "90"});
}

TEST(Simulation, AKeptStepIsGivenOnce) {
  Simulation simulation(batch_scene({}, 2), one_thread);
  EXPECT_THROW(simulation.take_step_records(), ShapeError);
  simulation.step();
  EXPECT_THROW(simulation.take_step_records(), ShapeError);
  simulation.keep_step_records(true);
  simulation.step();
  EXPECT_EQ(simulation.take_step_records().size(), 2u);
  EXPECT_THROW(simulation.take_step_records(), ShapeError);
  simulation.advance(2);
  EXPECT_THROW(simulation.take_step_records(), ShapeError);
}

TEST(EquilibriumSearch, RefusesWhatNothingCanMeet) {
  Simulation simulation(batch_scene({}, 1), one_thread);
  for (const double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    EquilibriumSettings settings;
    settings.tolerance = bad;
    expect_mentions(message_of([&] { EquilibriumSearch(simulation, settings); }), {"rest.tolerance"});
    settings = {};
    settings.longest_step = bad;
    expect_mentions(message_of([&] { EquilibriumSearch(simulation, settings); }), {"rest.longest_step"});
  }
}

TEST(Simulation, NoStepsChangeNothing) {
  Simulation simulation(batch_scene({}, 9), one_thread);
  const GarmentState before = simulation.state(4);
  for (const StepReport& report : simulation.advance(0)) {
    EXPECT_EQ(report.status, StepStatus::converged);
    EXPECT_EQ(report.iterations, 0);
  }
  expect_same_state(simulation.state(4), before, "no step");
}

TEST(Simulation, EachGarmentHasItsOwnClock) {
  const Scene scene = batch_scene({}, 9);
  Simulation simulation(scene, one_thread);
  simulation.advance(3);
  simulation.reset({1, 4});
  simulation.advance(2);
  EXPECT_EQ(simulation.step_index(), 5);
  EXPECT_DOUBLE_EQ(simulation.time(), 5 * scene.step);
  for (std::size_t g = 0; g < 9; ++g) {
    const int own = g == 1 || g == 4 ? 2 : 5;
    EXPECT_EQ(simulation.state(g).step_index, own);
    EXPECT_DOUBLE_EQ(simulation.time(g), scene.garments[g].time_offset + own * scene.step);
  }
}

TEST(Simulation, AResetBeginsAgainForSomeAlone) {
  for (const Precision precision : both_precisions) {
    const ExecutionOptions options{.precision = precision, .threads = 1};
    const Scene scene = batch_scene({.bending = true, .own_rest_shapes = true}, 9);
    const BatchRun two = run_batch(scene, options, 2), five = run_batch(scene, options, 5);
    Simulation simulation(scene, options);
    const GarmentState start = simulation.state(4);
    simulation.advance(3);
    const GarmentState kept = simulation.state(0);
    simulation.reset({1, 4});
    expect_same_state(simulation.state(4), start, "reset");
    expect_same_state(simulation.state(0), kept, "not reset");
    simulation.advance(2);
    for (std::size_t g = 0; g < 9; ++g)
      expect_same_state(simulation.state(g), (g == 1 || g == 4 ? two : five).states[g],
                        "cloth " + std::to_string(g));
    const GarmentState untouched = simulation.state(0);
    EXPECT_THROW(simulation.reset({0, 99}), ShapeError);
    expect_same_state(simulation.state(0), untouched, "after a reset that was refused");
    simulation.reset();
    EXPECT_EQ(simulation.step_index(), 0);
    simulation.advance(2);
    for (std::size_t g = 0; g < 9; ++g) expect_same_state(simulation.state(g), two.states[g], "all of them");
  }
}

TEST(Simulation, AStateOfOneLeavesTheOthersAlone) {
  for (const Precision precision : both_precisions) {
    const ExecutionOptions options{.precision = precision, .threads = 1};
    const Scene scene = batch_scene({}, 9);
    const BatchRun whole = run_batch(scene, options, 4);
    Simulation simulation(scene, options), other(scene, options);
    simulation.advance(2);
    other.advance(3);
    GarmentState moved = other.state(3);
    simulation.set_state(3, moved);
    expect_same_state(simulation.state(3), moved, "what was set");
    simulation.advance(2);
    for (std::size_t g = 0; g < 9; ++g)
      if (g != 3) expect_same_state(simulation.state(g), whole.states[g], "cloth " + std::to_string(g));
    // Its own clock went on from the state's: 3 + 2 steps.
    other.advance(2);
    expect_same_state(simulation.state(3), other.state(3), "from the state that was set");
  }
}

TEST(Simulation, AFrozenStateStaysFrozen) {
  for (const Precision precision : both_precisions) {
    const ExecutionOptions options{.precision = precision, .threads = 1};
    const Scene scene = batch_scene({}, 9);
    const BatchRun whole = run_batch(scene, options, 4);
    Simulation simulation(scene, options);
    simulation.advance(2);
    GarmentState state = simulation.state(5);
    state.frozen = true;
    simulation.set_state(5, state);
    EXPECT_TRUE(simulation.frozen(5));
    const std::vector<StepReport> reports = simulation.advance(2);
    EXPECT_EQ(reports[5].status, StepStatus::non_finite);
    EXPECT_EQ(reports[5].iterations, 0);
    EXPECT_TRUE(simulation.frozen(5));
    expect_same_state(simulation.state(5), state, "frozen");
    for (std::size_t g = 0; g < 9; ++g)
      if (g != 5) expect_same_state(simulation.state(g), whole.states[g], "cloth " + std::to_string(g));
    // Carried to another simulation, and thawed there.
    Simulation resumed(scene, options);
    resumed.set_state(5, simulation.state(5));
    EXPECT_TRUE(resumed.frozen(5));
    state.frozen = false;
    resumed.set_state(5, state);
    resumed.advance(2);
    expect_same_state(resumed.state(5), whole.states[5], "thawed");
  }
}

// The state of a garment with fixed pins set elsewhere: whether a neighbour's pins move must not show.
TEST(Simulation, FixedPinsOfAStateDoNotDependOnTheBatch) {
  const Scene alone = batch_scene({}, std::vector<int>{1}), together = batch_scene({}, {1, 2, 3});
  Simulation single(alone, one_thread), many(together, one_thread);
  GarmentState state = single.state(0);
  for (std::size_t i = 2; i < state.positions.size(); i += 3) state.positions[i] += 0.01;
  single.set_state(0, state);
  many.set_state(0, state);
  single.advance(2);
  many.advance(2);
  expect_same_state(many.state(0), single.state(0), "moved with its pins");
}

/// Garments that must not share a group with member 0 of the batch.
std::vector<Garment> strangers() {
  const Garment model = batch_member({}, 0);
  std::vector<Garment> all(5, model);
  all[0].name = "other pins";
  all[0].pins[1].nodes = {0};
  all[1].name = "one pin less";
  all[1].pins.pop_back();
  all[2].name = "other faces";
  all[2].mesh = triangle_grid(5, 6, 0.2, 0.25, Diagonals::parallel);
  for (Vec3d& p : all[2].mesh.positions) p = {0, p.x, p.y};
  all[3].name = "bends";
  all[3].fabric.bending_stiffness = 1e-5;
  // A node of the lower edge moved outwards: the boundary has a corner more.
  all[4].name = "other corners";
  all[4].mesh.positions[2].z -= 0.06;
  all[4].mesh.corner_uvs.clear();
  return all;
}

TEST(Grouping, GarmentsOfOnePatternShareASolver) {
  Scene scene = batch_scene({.own_rest_shapes = true}, 6);
  const std::vector<Garment> others = strangers();
  for (std::size_t i = 0; i < others.size(); ++i)
    scene.garments.insert(scene.garments.begin() + static_cast<std::ptrdiff_t>(2 * i), others[i]);
  validate_scene(scene);
  const Device device(one_thread);
  const GarmentSolvers found = make_garment_solvers(device, Precision::float64, scene);
  EXPECT_EQ(found.solvers.size(), 1 + others.size());
  std::set<std::size_t> of_batch, of_others;
  for (std::size_t g = 0; g < scene.garments.size(); ++g)
    (scene.garments[g].name.rfind("cloth", 0) == 0 ? of_batch : of_others).insert(found.members[g].solver);
  EXPECT_EQ(of_batch.size(), 1u);
  EXPECT_EQ(of_others.size(), others.size());
  for (const std::size_t s : of_others) EXPECT_EQ(of_batch.count(s), 0u);
  EXPECT_EQ(found.solvers[*of_batch.begin()]->size(), 6u);
  // Two of a kind find each other.
  scene.garments.push_back(others[3]);
  EXPECT_EQ(make_garment_solvers(device, Precision::float64, scene).solvers.size(), 1 + others.size());
}

TEST(Grouping, EveryoneMovesAsIfAlone) {
  Scene scene = batch_scene({.own_rest_shapes = true}, 6);
  for (const Garment& other : strangers()) scene.garments.insert(scene.garments.begin() + 1, other);
  Garment large = batch_member({.nx = 19, .ny = 18}, 2);  // past the meshes that are batched
  large.name = "large";
  scene.garments.push_back(large);
  scene.garments.push_back(batch_member({.bending = true}, 1));
  // Groups that cannot fill the threads share them.
  for (const Precision precision : both_precisions) {
    const ExecutionOptions options{.precision = precision, .threads = 3};
    Simulation simulation(scene, options);
    const BatchRun together = run_batch(simulation, 3);
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      Scene alone = scene;
      alone.garments = {scene.garments[g]};
      expect_same(together, g, run_batch(alone, options, 3), 0, scene.garments[g].name);
      EXPECT_EQ(simulation.info(g).solver.rfind("batched", 0) == 0, scene.garments[g].name != "large");
    }
  }
}

TEST(Grouping, TheChoiceOfASolverIsObeyed) {
  const Scene scene = batch_scene({}, 2);
  for (const auto solver : {StepSolver::automatic, StepSolver::batched, StepSolver::direct}) {
    const Simulation simulation(scene, {.solver = solver, .threads = 1});
    EXPECT_EQ(simulation.info(0).solver.rfind("batched", 0) == 0, solver != StepSolver::direct)
        << simulation.info(0).solver;
  }
}

TEST(InstructionSets, UnknownOrMissingOnesAreNamed) {
  const Scene scene = batch_scene({}, 1);
  for (const std::string wrong : {"sse9", "AVX2", "avx 512", " "})
    expect_mentions(message_of([&] { Simulation(scene, {.simd = wrong}); }),
                    {"simd", "\"" + wrong + "\"", "baseline", "avx2", "avx512"});
  const std::vector<std::string> names = simd_names();
  for (const std::string known : {"baseline", "avx2", "avx512"}) {
    if (std::find(names.begin(), names.end(), known) != names.end()) {
      EXPECT_NO_THROW(Simulation(scene, {.simd = known}));
    } else {
      expect_mentions(message_of([&] { Simulation(scene, {.simd = known}); }), {"simd", known, names.back()});
    }
  }
  EXPECT_THROW(Simulation(scene, {.simd = "sse9"}), DeviceError);
}

}  // namespace
}  // namespace isocloth

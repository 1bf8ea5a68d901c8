// Forces that a program computes before each step, beside commands, closed forms and the laws of motion.
#include <atomic>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <numbers>
#include <stdexcept>
#include <thread>

#include "engine/core/errors.hpp"
#include "engine/model/models.hpp"
#include "host/gradients/tape.hpp"
#include "tests/host/body_case.hpp"
#include "tests/host/force_case.hpp"
#include "tests/host/gpu_case.hpp"

namespace isocloth {
namespace {

/// The same force on every node in every step.
ForceFunction constant(Vec3d force) {
  return [force](const ForceInput&, ForceOutput& out) {
    for (Vec3d& f : out.forces) f = force;
  };
}

void expect_same_states(const Simulation& found, const Simulation& expected, const std::string& what) {
  for (std::size_t g = 0; g < found.garment_count(); ++g)
    expect_same_state(found.state(g), expected.state(g), what + ", garment " + std::to_string(g));
}

struct Kind {
  std::string name;
  Scene scene;
  ExecutionOptions options;
};
/// What steps in every way there is.
std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const Way& way : ways()) all.push_back({way.name, bare_scene(way, 3), way.options});
  all.push_back({"net with a body",
                 body_scene(hanging_net(9), {body(SphereShape{0.1}, 1, {0.02, 0.01, 0.11}, 0.2)}, 0.005),
                 {}});
  Scene layers = bare_scene({"", "membrane", {}}, 2);
  layers.contact.cloth = true;
  for (std::size_t g = 0; g < 2; ++g) {
    layers.garments[g].fabric.thickness = 2e-3;
    for (Vec3d& p : layers.garments[g].initial_positions) p.z = 3e-3 * static_cast<double>(g);
  }
  all.push_back({"cloth on cloth", layers, {}});
  Scene air = bare_scene({"", "membrane", {}}, 1);
  air.wind.model = WindModel::panels;
  air.wind.velocity = {2, 0, 0.5};
  air.wind.wake_rows = 4;
  if (models().check_panels != nullptr) all.push_back({"in panels of air", air, {}});
  return all;
}

// On top of forces that were given, over resets and restores, in requests of many steps and of one.
TEST(ProgramForces, ThatAreConstantHaveTheBitsOfGivenOnes) {
  for (const Kind& kind : kinds()) {
    const std::size_t nodes = kind.scene.garments[0].mesh.positions.size();
    // Sums of three do not have the bits of each other.
    const bool is_in_air = kind.scene.wind.model == WindModel::panels;
    const Vec3d one{1e-3, 2e-3, -1e-3}, other = is_in_air ? Vec3d{} : Vec3d{0, 1e-3, 5e-4};
    Simulation computed(kind.scene, kind.options), given(kind.scene, kind.options);
    computed.add_force("one", {0}, constant(one));
    given.set_forces(0, std::vector<Vec3d>(nodes, one));
    computed.advance(5);
    for (int i = 0; i < 5; ++i) given.step();
    expect_same_states(computed, given, kind.name);
    computed.set_forces(0, std::vector<Vec3d>(nodes, other));
    given.set_forces(0, std::vector<Vec3d>(nodes, one + other));
    computed.step();
    given.step();
    expect_same_states(computed, given, kind.name + ", both");
    EXPECT_EQ(computed.scene().garments[0].forces[3], other);
    const Snapshot middle = computed.snapshot();
    computed.advance(2);
    const Snapshot end = computed.snapshot();
    computed.restore(middle);
    computed.advance(2);
    for (std::size_t g = 0; g < computed.garment_count(); ++g)
      expect_same_state(computed.state(g), end.garments[g], kind.name + ", restored");
    computed.remove_force("one");
    given.set_forces(0, std::vector<Vec3d>(nodes, other));
    given.restore(end);
    computed.restore(end);
    computed.advance(2);
    given.advance(2);
    expect_same_states(computed, given, kind.name + ", removed");
    computed.set_forces(0, {});
    computed.add_force("again", {0}, constant(one));
    given.set_forces(0, std::vector<Vec3d>(nodes, one));
    computed.reset();
    given.reset();
    computed.advance(3);
    given.advance(3);
    expect_same_states(computed, given, kind.name + ", reset");
  }
}

// Masses are those of the steps.
TEST(ProgramForces, OfMassTimesGravityAreGravity) {
  for (const Way& way : ways()) {
    Scene scene = bare_scene(way, 3);
    Simulation heavy(scene, way.options);
    scene.gravity = 0;
    Simulation light(scene, way.options);
    light.add_force("gravity", [](const ForceInput& in, ForceOutput& out) {
      for (std::size_t i = 0; i < in.masses.size(); ++i) out.forces[i] = {0, 0, -2 * in.masses[i]};
    });
    constexpr int steps = 10;
    heavy.advance(steps);
    light.advance(steps);
    // As in NodeForces.AccelerateByForceOverMass.
    const double bound = 1000 * steps * rounding(way) * 0.3 / scene.step;
    for (std::size_t g = 0; g < 3; ++g) {
      const auto v = heavy.velocities(g), u = light.velocities(g);
      for (std::size_t i = 0; i < v.size(); ++i) EXPECT_LT(norm(v[i] - u[i]), bound) << way.name;
    }
  }
}

/// In whole steps, by impulses, too.
Scene weightless_scene(const Way& way, int count) {
  Scene scene = bare_scene(way, count);
  scene.gravity = 0;
  scene.impulse.substeps = 1;
  return scene;
}

/// A spring from every node to where it starts, moved by `offset`, that draws all of them alike: omega^2
/// [1/s^2] of its mass, rate [1/s] of its velocity.
ForceFunction springs(std::vector<Vec3d> anchors, Vec3d offset, double omega2, double rate,
                      bool is_implicit) {
  for (Vec3d& anchor : anchors) anchor += offset;
  return [=](const ForceInput& in, ForceOutput& out) {
    for (std::size_t i = 0; i < out.forces.size(); ++i) {
      const double m = in.masses[i];
      out.forces[i] = m * omega2 * (anchors[i] - in.positions[i]) - m * rate * in.velocities[i];
      if (!is_implicit) continue;
      out.stiffness.push_back(isotropic_tensor(m * omega2));
      out.damping.push_back(isotropic_tensor(m * rate));
    }
  };
}

// A sheet on springs moves as one mass on one spring. With w = h omega, d = h rate, y the way to the anchor:
// explicit: y_{n+1} = y_n + (1 - d) (y_n - y_{n-1}) - w^2 y_n, whose period is 2 pi h / acos(1 - w^2 / 2) for
// d = 0; implicit: (1 + d + w^2) y_{n+1} = (2 + d) y_n - y_{n-1}, which is backward Euler.
TEST(ProgramForces, OfSpringsSwingAsOneMassDoes) {
  const Vec3d offset{0.02, -0.01, 0.03};
  for (const Way& way : ways())
    for (const bool is_implicit : {false, true})
      for (const double rate : {0.0, 10.0}) {
        const Scene scene = weightless_scene(way, 2);
        Simulation simulation(scene, way.options);
        const double h = scene.step, omega2 = 400, w2 = h * h * omega2, d = h * rate;
        const std::vector<Vec3d> start = simulation.positions(1);
        simulation.add_force("springs", {1}, springs(start, offset, omega2, rate, is_implicit));
        double before = -1, now = -1, seen_before = -1;
        constexpr int steps = 100;
        const double bound = 1000 * steps * rounding(way) * 0.3;
        int passes = 0;
        for (int n = 0; n < steps; ++n) {
          simulation.step();
          const double next = is_implicit ? ((2 + d) * now - before) / (1 + d + w2)
                                          : now + (1 - d) * (now - before) - w2 * now;
          before = std::exchange(now, next);
          const double seen = (simulation.positions(1)[7].x - start[7].x) / offset.x - 1;
          passes += seen * std::exchange(seen_before, seen) < 0;
        }
        const std::vector<Vec3d> x = simulation.positions(1);
        for (std::size_t i = 0; i < x.size(); ++i)
          EXPECT_LT(norm(x[i] - start[i] - (1 + now) * offset), bound)
              << way.name << (is_implicit ? ", implicit" : "") << ", " << rate;
        if (!is_implicit && rate == 0) {
          const double period = 2 * std::numbers::pi * h / std::acos(1 - w2 / 2);
          EXPECT_EQ(passes, static_cast<int>((steps * h + period / 4) / (period / 2))) << way.name;
        }
        for (const Vec3d& v : simulation.velocities(0)) EXPECT_LT(norm(v), bound / h) << way.name;
      }
}

// h omega = 1000: an explicit step would throw the sheet by a million times the way.
TEST(ProgramForces, ThatAreStiffAndImplicitDoNotLimitTheStep) {
  for (const Way& way : ways()) {
    const Scene scene = weightless_scene(way, 1);
    const double omega2 = 1e6 / (scene.step * scene.step);
    const Vec3d offset{0.01, 0, 0.01};
    Simulation stiff(scene, way.options), loose(scene, way.options);
    const std::vector<Vec3d> start = stiff.positions(0);
    stiff.add_force("springs", springs(start, offset, omega2, 0, true));
    stiff.advance(5);
    const double bound = 1000 * rounding(way) * 0.3 + 2e-6 * norm(offset);
    const std::vector<Vec3d> x = stiff.positions(0);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LT(norm(x[i] - start[i] - offset), bound) << way.name;
    loose.add_force("springs", springs(start, offset, omega2, 0, false));
    loose.advance(5);
    EXPECT_TRUE(loose.frozen(0)) << way.name;
  }
}

// The bounds of the documentation: sqrt(k / m) h = 1.9 and 2.1, d h / m = 1.9 and 2.1. By the recursion above
// the spring of 1.9 swings by 4.2 times its 0.1 mm, the damper ends within h v; in 40 steps that of 2.1
// goes 1.1 mm.
TEST(ProgramForces, AreStableUpToTheirBounds) {
  const Way way = ways().front();
  for (const double part : {1.9, 2.1})
    for (const bool is_spring : {true, false}) {
      const Scene scene = weightless_scene(way, 1);
      const double h = scene.step;
      Simulation simulation(scene, way.options);
      const std::vector<Vec3d> start = simulation.positions(0);
      simulation.add_force("springs", is_spring
                                          ? springs(start, {1e-4, 0, 0}, part * part / (h * h), 0, false)
                                          : springs(start, {}, 0, part / h, false));
      if (!is_spring) simulation.write(GarmentField::velocities, std::vector<Vec3d>(49, Vec3d{0.01, 0, 0}));
      simulation.advance(40);
      const double moved = norm(simulation.positions(0)[7] - start[7]);
      EXPECT_EQ(moved > 6e-4 || simulation.frozen(0), part > 2) << part << ", " << is_spring << ", " << moved;
    }
}

// k = 50 N/m on a node of 0.13 g, which wants explicit steps below 3.2 ms: the sheet hangs by M g / k.
TEST(ProgramForces, OfASpringAtOneNodeCarryTheSheet) {
  for (const bool is_batched : {true, false}) {
    Scene scene = bare_scene({"", "membrane", {}}, 1);
    scene.step = 0.02;
    scene.projection.force_tolerance = 1e-3;
    scene.garments[0].fabric.mass_damping = 1;
    Simulation simulation(scene, {.solver = is_batched ? StepSolver::batched : StepSolver::direct});
    constexpr std::size_t corner = 48;
    constexpr double k = 50;
    const Vec3d anchor = simulation.positions(0)[corner];
    simulation.add_force("hook", [=](const ForceInput& in, ForceOutput& out) {
      out.forces[corner] = k * (anchor - in.positions[corner]);
      out.stiffness.resize(out.forces.size());
      out.stiffness[corner] = isotropic_tensor(k);
    });
    simulation.advance(1500);
    EXPECT_EQ(simulation.step()[0].status, StepStatus::converged);
    const double weight = 0.2 * 0.09 * 2;
    EXPECT_NEAR(anchor.z - simulation.positions(0)[corner].z, weight / k, 0.01 * weight / k);
    EXPECT_LT(std::sqrt(2 * simulation.measure(0).kinetic_energy / (0.2 * 0.09)), 1e-3);
  }
}

// K = k n n^T, full 3x3: a wall that nodes may slide along. Beside it a damper along another direction.
TEST(ProgramForces, ActAlongTheDirectionsOfTheirSlopes) {
  const Vec3d n{2. / 3, -1. / 3, 2. / 3}, a{1, 2, -1};
  const SymmetricTensor along{n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z};
  const auto times = [&along](double factor) {
    SymmetricTensor scaled = along;
    for (double& entry : scaled) entry *= factor;
    return scaled;
  };
  for (const Way& way : ways()) {
    const Scene scene = weightless_scene(way, 1);
    const double h = scene.step, omega2 = 1e4, rate = 300;
    Simulation simulation(scene, way.options);
    const std::vector<Vec3d> start = simulation.positions(0);
    simulation.add_force("wall", [&](const ForceInput& in, ForceOutput& out) {
      for (std::size_t i = 0; i < out.forces.size(); ++i) {
        const double m = in.masses[i];
        out.forces[i] = m * a - m * omega2 * dot(n, in.positions[i] - start[i]) * n -
                        m * rate * dot(n, in.velocities[i]) * n;
        out.stiffness.push_back(times(m * omega2));
        out.damping.push_back(times(m * rate));
      }
    });
    constexpr int steps = 4;
    simulation.advance(steps);
    double before = 0, now = 0;
    for (int i = 0; i < steps; ++i) {
      const double next =
          ((2 + h * rate) * now - before + h * h * dot(n, a)) / (1 + h * rate + h * h * omega2);
      before = std::exchange(now, next);
    }
    const Vec3d way_along = now * n, free = h * h * steps * (steps + 1) / 2 * (a - dot(n, a) * n);
    const std::vector<Vec3d> x = simulation.positions(0);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_LT(norm(x[i] - start[i] - way_along - free), 1000 * steps * steps * rounding(way) * 0.3)
          << way.name;
  }
}

// Action and reaction, whatever the rows do: nodes of two sheets draw each other, explicitly.
TEST(ProgramForces, ThatAreOppositeLeaveTheMomentum) {
  for (const Way& way : ways()) {
    Scene scene = bare_scene(way, 2);
    scene.gravity = 0;
    for (Vec3d& p : scene.garments[1].initial_positions) p.z += 0.1;
    Simulation simulation(scene, way.options);
    simulation.add_force("thread", [](const ForceInput& in, ForceOutput& out) {
      ASSERT_EQ(in.garments, (std::vector<std::size_t>{0, 1}));
      for (const std::size_t node : {0, 5}) {
        const Vec3d pull = 0.3 * (in.positions[49 + node] - in.positions[node]);
        out.forces[node] = pull;
        out.forces[49 + node] = -pull;
      }
    });
    constexpr int steps = 10;
    int iterations = 0;
    for (const StepReport& report : simulation.advance(steps)) iterations += report.iterations;
    const std::vector<Measures> found = simulation.measure();
    // As in NodeForces.GiveTheirMomentum.
    const int solves = way.method == ProjectionMethod::fast_projection ? 10 * iterations : 2 * steps;
    const double bound = 100 * solves * rounding(way) * 0.3 * 0.09 * 0.3 / scene.step;
    EXPECT_GT(norm(found[0].linear_momentum), 1e-4) << way.name;
    EXPECT_LT(norm(found[0].linear_momentum + found[1].linear_momentum), bound) << way.name;
  }
}

// One call per step, force and kind of mesh, in order and in this thread, of the state that the step begins
// with.
TEST(ProgramForces, AreAskedOfAllGarmentsOfAMeshBeforeEachStep) {
  const Way way = ways().front();
  Scene scene = bare_scene(way, 9);
  for (std::size_t g = 0; g < 9; ++g) scene.garments[g].time_offset = 0.1 * static_cast<double>(g);
  Garment other = square_sheet(4, 0.2, 0);
  other.name = "other";
  scene.garments.insert(scene.garments.begin() + 2, other);
  Simulation simulation(scene, {.threads = 3});
  const std::thread::id self = std::this_thread::get_id();
  std::vector<std::pair<std::string, std::vector<std::size_t>>> calls;
  std::atomic<int> inside{0};
  const auto asked = [&](const std::string& name) {
    return [&, name](const ForceInput& in, ForceOutput& out) {
      EXPECT_EQ(inside++, 0);
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(in.step, scene.step);
      calls.emplace_back(name, in.garments);
      std::size_t k = 0;
      for (std::size_t i = 0; i < in.garments.size(); ++i) {
        const std::size_t g = in.garments[i];
        EXPECT_EQ(in.times[i], simulation.time(g));
        const auto x = simulation.positions(g), v = simulation.velocities(g);
        for (std::size_t node = 0; node < x.size(); ++node, ++k) {
          EXPECT_EQ(in.positions[k], x[node]);
          EXPECT_EQ(in.velocities[k], v[node]);
          out.forces[k] = {0, 0, 1e-4 * in.times[i]};
        }
      }
      EXPECT_EQ(k, in.masses.size());
      --inside;
    };
  };
  simulation.add_force("b", asked("b"));
  simulation.add_force("a", {4, 1}, asked("a"));
  EXPECT_EQ(simulation.forces(), (std::vector<std::string>{"b", "a"}));
  simulation.advance(2);
  simulation.reset({4});
  EXPECT_EQ(simulation.time(4), 0.1 * 3);
  simulation.step();
  ASSERT_EQ(calls.size(), 9U);
  for (std::size_t n = 0; n < 9; n += 3) {
    EXPECT_EQ(calls[n], (std::pair<std::string, std::vector<std::size_t>>{"b", {0, 1, 3, 4, 5, 6, 7, 8, 9}}));
    EXPECT_EQ(calls[n + 1], (std::pair<std::string, std::vector<std::size_t>>{"b", {2}}));
    EXPECT_EQ(calls[n + 2], (std::pair<std::string, std::vector<std::size_t>>{"a", {4, 1}}));
  }
}

/// What a function says or throws in its third step, in a run of five: the error, and the state of two steps.
template <class Function>
void expect_ends(const Function& function, const std::vector<std::string>& parts) {
  const Way way = ways().front();
  Simulation simulation(bare_scene(way, 3), way.options), two(bare_scene(way, 3), way.options);
  int calls = 0;
  simulation.add_force("first", [](const ForceInput&, ForceOutput&) {});
  two.add_force("first", [](const ForceInput&, ForceOutput&) {});
  simulation.add_force("magnet", {2, 1}, [&](const ForceInput& in, ForceOutput& out) {
    if (++calls == 3) function(in, out);
  });
  two.add_force("magnet", {2, 1}, [](const ForceInput&, ForceOutput&) {});
  try {
    simulation.advance(5);
    ADD_FAILURE() << "not thrown: " << parts.front();
  } catch (const ForceError& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
  two.advance(2);
  EXPECT_EQ(simulation.step_index(), 2);
  expect_same_states(simulation, two, "after " + parts.front());
  for (const Garment& garment : simulation.scene().garments) EXPECT_TRUE(garment.forces.empty());
  simulation.advance(3);
  two.advance(3);
  expect_same_states(simulation, two, "gone on after " + parts.front());
}

TEST(ProgramForces, ThatFailEndTheStepWithTheStateBeforeIt) {
  expect_ends([](const ForceInput&, ForceOutput&) { throw std::runtime_error("no current"); },
              {"force \"magnet\"", "t = 0.01 s", "no current"});
  expect_ends([](const ForceInput&, ForceOutput&) { throw 7; }, {"force \"magnet\"", "no exception"});
  expect_ends([](const ForceInput&, ForceOutput& out) { out.forces[50].y = std::nan(""); },
              {"force \"magnet\"", "t = 0.01 s", "garments[1] \"sheet1\"", "node 1", "nan"});
  expect_ends([](const ForceInput&, ForceOutput& out) { out.forces.resize(49); },
              {"force \"magnet\"", "found 49 forces, expected 98: 2 garments of 49 nodes"});
  expect_ends([](const ForceInput&, ForceOutput& out) { out.damping.resize(7); }, {"found 7 dampings"});
  expect_ends(
      [](const ForceInput&, ForceOutput& out) {
        out.stiffness.resize(98, isotropic_tensor(1));
        out.stiffness[3] = {1, 2, 0, 1, 0, 1};
      },
      {"force \"magnet\"", "garments[2] \"sheet2\"", "node 3", "stiffness", "positive semidefinite"});
  expect_ends([](const ForceInput&, ForceOutput& out) { out.damping.resize(98, isotropic_tensor(INFINITY)); },
              {"damping", "positive semidefinite"});
}

TEST(ProgramForces, CarryWhatTheyThrow) {
  Simulation simulation(bare_scene(ways().front(), 1));
  simulation.add_force("magnet", [](const ForceInput&, ForceOutput&) { throw std::out_of_range("pole"); });
  try {
    simulation.step();
    ADD_FAILURE();
  } catch (const ForceError& error) {
    EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
  }
  simulation.remove_force("magnet");
  simulation.add_force("stop", [](const ForceInput&, ForceOutput&) { throw Interrupted("enough"); });
  EXPECT_THROW(simulation.step(), Interrupted);
  EXPECT_EQ(simulation.step_index(), 0);
}

TEST(ProgramForces, EndWithTheMonitor) {
  Monitor monitor;
  Simulation simulation(bare_scene(ways().front(), 3), {.monitor = &monitor});
  int calls = 0;
  simulation.add_force("button", [&](const ForceInput&, ForceOutput&) { monitor.stop = ++calls == 4; });
  EXPECT_THROW(simulation.advance(10), Interrupted);
  EXPECT_EQ(simulation.step_index(), 3);
  monitor.stop = false;
  simulation.advance(1);
  EXPECT_EQ(simulation.step_index(), 4);
}

// A garment that is frozen stands still, and what is said of it does not count.
TEST(ProgramForces, OnFrozenGarmentsAreNotHeard) {
  Simulation simulation(bare_scene(ways().front(), 3));
  GarmentState state = simulation.state(1);
  state.frozen = true;
  simulation.set_state(1, state);
  simulation.add_force("field", [](const ForceInput& in, ForceOutput& out) {
    ASSERT_EQ(in.garments.size(), 3U);
    for (std::size_t i = 0; i < 49; ++i) out.forces[49 + i] = {NAN, NAN, NAN};
  });
  simulation.advance(2);
  EXPECT_EQ(simulation.positions(1)[7], simulation.scene().garments[1].initial_positions[7]);
  EXPECT_NE(simulation.positions(0)[7], simulation.scene().garments[0].initial_positions[7]);
}

TEST(ProgramForces, ThatAreNoneAreRefused) {
  Scene scene = bare_scene(ways().front(), 2);
  Simulation simulation(scene);
  const ForceFunction none = constant({});
  simulation.add_force("there", none);
  EXPECT_THROW(simulation.add_force("there", none), ShapeError);
  EXPECT_THROW(simulation.add_force("", none), ShapeError);
  EXPECT_THROW(simulation.add_force("new", ForceFunction{}), ShapeError);
  EXPECT_THROW(simulation.add_force("new", {}, none), ShapeError);
  EXPECT_THROW(simulation.add_force("new", {1, 1}, none), ShapeError);
  EXPECT_THROW(simulation.add_force("new", {2}, none), ShapeError);
  EXPECT_THROW(simulation.remove_force("new"), ShapeError);
  EXPECT_EQ(simulation.forces(), std::vector<std::string>{"there"});
  simulation.remove_force("there");
  const Snapshot start = simulation.snapshot();
  const std::vector<Vec3d> places = simulation.positions()[0];
  for (const std::function<void()>& change : std::initializer_list<std::function<void()>>{
           [&] { simulation.step(); }, [&] { simulation.reset(); }, [&] { simulation.reset({0}); },
           [&] { simulation.restore(start); }, [&] { simulation.set_state(0, start.garments[0]); },
           [&] { simulation.set_fabric(0, scene.garments[0].fabric); }, [&] { simulation.set_forces(0, {}); },
           [&] { simulation.set_wind({}); }, [&] { simulation.set_gravity(0, 1); },
           [&] { simulation.set_bodies({}); }, [&] { simulation.set_step_index(3); },
           [&] {
             simulation.write(GarmentField::positions, {0}, {places.data(), places.size()});
           }}) {
    simulation.add_force("again", [&](const ForceInput&, ForceOutput&) { change(); });
    EXPECT_THROW(simulation.step(), ForceError);
    simulation.remove_force("again");
  }
  scene.projection.metric = Metric::mass;
  Simulation massive(scene);
  EXPECT_THROW(massive.add_force("new", none), SceneError);
}

// What a force says of where the cloth is has derivatives that a tape does not know.
TEST(ProgramForces, AreRefusedByTapes) {
  const Scene scene = bare_scene({"", "membrane", {}}, 1);
  Simulation simulation(scene);
  Tape tape(simulation);
  tape.step();
  simulation.add_force("magnet", constant({}));
  EXPECT_THROW(tape.step(), SceneError);
  EXPECT_THROW(Tape{simulation}, SceneError);
  EXPECT_EQ(tape.step_count(), 1U);
}

// Slopes of a scene, and those of a program beside them, given about another place: k of each makes 2 k.
TEST(ProgramForces, AddUpWithTheSlopesOfAScene) {
  const Way way = ways().front();
  Scene scene = bare_scene(way, 1);
  Simulation bare(scene, way.options);
  const double omega2 = 1e4;
  const Vec3d offset{0.01, 0.02, 0};
  const std::vector<Vec3d> start = bare.positions(0), one = even_forces(scene.garments[0], {1, 0, 0});
  bare.add_force("both", springs(start, offset, 2 * omega2, 0, true));
  Garment& sheet = scene.garments[0];
  sheet.forces.resize(49);
  for (std::size_t i = 0; i < 49; ++i)
    sheet.force_slopes.push_back({isotropic_tensor(one[i].x * omega2), {}, start[i] + offset, {}});
  validate_scene(scene);
  Simulation sloped(scene, way.options);
  sloped.add_force("one", springs(start, offset, omega2, 0, true));
  bare.advance(10);
  sloped.advance(10);
  const auto x = bare.positions(0), y = sloped.positions(0);
  for (std::size_t i = 0; i < 49; ++i) EXPECT_LT(norm(x[i] - y[i]), 1e-11);
  EXPECT_GT(norm(x[0] - start[0]), 0.5 * norm(offset));
  scene.garments[0].force_slopes[3].damping = isotropic_tensor(-1);
  EXPECT_THROW(validate_scene(scene), SceneError);
  sloped.set_forces(0, {});
  EXPECT_TRUE(sloped.scene().garments[0].force_slopes.empty());
}

using GpuForces = GpuCase;
// They are computed here, and copied there.
TEST_F(GpuForces, OfSpringsSwingAsOnTheCpu) {
  for (const char* recipe : {"coltraro2022", "bender_iterative"}) {
    const Scene scene = bare_scene({"", recipe, {}}, 3);
    Simulation cpu(scene), gpu(scene, {.backend = "cuda"});
    for (Simulation* each : {&cpu, &gpu}) {
      each->add_force("explicit", {0}, springs(each->positions(0), {0.01, 0, 0}, 400, 1, false));
      each->add_force("implicit", {1}, springs(each->positions(1), {0.01, 0, 0}, 4e4, 1, true));
    }
    for (int n = 0; n < 20; ++n) {
      gpu.restore(cpu.snapshot());
      const int iterations = cpu.step()[1].iterations;
      gpu.step();
      for (std::size_t g = 0; g < 3; ++g)
        EXPECT_LT(distance(cpu, gpu, g), rounding_of_step(iterations, 1e-6)) << recipe;
    }
    for (const std::size_t g : {0, 1})
      EXPECT_GT(cpu.positions(g)[0].x, scene.garments[g].initial_positions[0].x + 1e-3);
  }
}

}  // namespace
}  // namespace isocloth

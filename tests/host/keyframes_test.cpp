// Numbers that change while time runs: the bits of a program that sets them before each step.
#include "engine/model/keyframes.hpp"

#include "engine/core/errors.hpp"
#include "host/energy/energy_balance.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/body_case.hpp"
#include "tests/host/contact_case.hpp"
#include "tests/host/gpu_case.hpp"

namespace isocloth {
namespace {

constexpr double step = 0.005;

/// Three sheets in wind above a table, each held at a corner.
Scene sheets(const std::string& recipe) {
  Scene scene;
  scene.recipe = recipe;
  scene.step = step;
  scene.duration = 1;
  scene.projection.on_violation = OnViolation::go_on;
  scene.wind = {.velocity = {0, 1, 0}};
  scene.obstacles.push_back(obstacle(PlaneShape{}, {0, 0, -0.05}, 0.3));
  for (int i = 0; i < 3; ++i) {
    Garment sheet = square_sheet(5, 0.3, i);
    sheet.name = "sheet " + std::to_string(i);
    sheet.fabric.bending_stiffness = 1e-5;
    sheet.fabric.drag = {.normal = 0.4, .tangential = 0.01};
    sheet.pins = {{.name = "corner", .nodes = {0}, .motion = FixedMotion{}}};
    sheet.time_offset = 0.01 * i;
    if (i == 2) sheet.gravity = 5;
    scene.garments.push_back(sheet);
  }
  return scene;
}

const DrivenNumber falls{{0.01, 0.03, 0.03, 0.05}, {9.8, 3, -2, 0}}, blows{{0, 0.04}, {1, 5}},
    bends{{0.02, 0.06}, {1e-5, 4e-5}}, rubs{{0.02, 0.02}, {0.3, 0.1}};

Scene keyed(const std::string& recipe) {
  Scene scene = sheets(recipe);
  scene.keyframes = {
      {.number = "gravity", .garments = {}, .values = falls},
      {.number = "wind.velocity[0]", .garments = {}, .values = blows},
      {.number = "fabric.bending_stiffness", .garments = {0, 2}, .values = bends},
      {.number = "fabric.drag.normal", .garments = {0}, .values = {{0, 0.03}, {0.4, 0.8}}},
      {.number = "friction.static", .garments = {}, .obstacle = 0, .values = rubs},
      {.number = "friction.dynamic", .garments = {}, .obstacle = 0, .values = {{0}, {0.05}}},
  };
  return scene;
}

/// The number at t, of what changes in keyed(); times of steps are such to a rounding.
double at(const DrivenNumber& number, double t) { return number.at(t + 1e-10 * step); }

/// Says to a simulation of sheets() what its next step has.
void tell(Simulation& simulation) {
  const double t = simulation.time();
  for (const std::size_t g : {0, 1}) simulation.set_gravity(g, at(falls, t));
  Wind wind = simulation.scene().wind;
  wind.velocity.x = at(blows, t);
  simulation.set_wind(wind);
  for (const std::size_t g : {0, 2}) {
    Fabric fabric = simulation.scene().garments[g].fabric;
    fabric.bending_stiffness = at(bends, simulation.time(g));
    if (g == 0) fabric.drag.normal = at({{0, 0.03}, {0.4, 0.8}}, simulation.time(g));
    simulation.set_fabric(g, fabric);
  }
  simulation.set_friction(0, {0, 1, 2}, {.static_ = at(rubs, t), .dynamic = 0.05});
}

void expect_alike(const Simulation& a, const Simulation& b, const std::string& what, double tolerance) {
  for (std::size_t g = 0; g < a.garment_count(); ++g) {
    const std::vector<Vec3d> x = a.positions(g), y = b.positions(g);
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, norm(x[i] - y[i]));
    EXPECT_LE(most, tolerance) << what << ", garment " << g;
  }
}

void follow_as_told(const ExecutionOptions& options, const std::string& recipe) {
  Simulation found(keyed(recipe), options), told(sheets(recipe), options);
  for (int n = 0; n < 16; ++n) {
    tell(told);
    found.step();
    told.step();
  }
  // The values differ by the rounding of the times that tell() adds, 1e-10 of a step.
  expect_alike(found, told, recipe, options.precision == Precision::float32 ? 1e-5 : 1e-9);
  Simulation still(sheets(recipe), options);
  still.advance(16);
  double most = 0;
  for (std::size_t i = 0; i < 25; ++i)
    most = std::max(most, norm(still.positions(0)[i] - found.positions(0)[i]));
  EXPECT_GT(most, 1e-3) << recipe;
}

TEST(Keyframes, AreWhatAProgramSaysBeforeEachStep) {
  for (const Precision precision : both_precisions)
    for (const char* recipe : {"coltraro2022", "membrane", "bender_iterative"})
      follow_as_told({.precision = precision, .threads = 1}, recipe);
  follow_as_told({.solver = StepSolver::direct, .threads = 1}, "membrane");
}

class GpuKeyframes : public GpuCase {};
TEST_F(GpuKeyframes, AreWhatAProgramSaysBeforeEachStep) { follow_as_told({.backend = "cuda"}, "membrane"); }

TEST(Keyframes, AreExactWhereAStepBegins) {
  const Keyframes jump{.number = "gravity", .garments = {}, .values = {{0.07, 0.29, 0.29}, {1, 2, 3}}};
  EXPECT_EQ(jump.at(7 * 0.01, 0.01), 1);
  EXPECT_EQ(jump.at(29 * 0.01, 0.01), 3);
  EXPECT_LT(jump.at(28 * 0.01, 0.01), 2);
  EXPECT_EQ(jump.at(5, 0.01), 3);
  // The first step that begins without gravity keeps the velocity.
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.step = 0.01;
  scene.garments = {square_sheet(3, 0.2, 0)};
  scene.garments[0].fabric.density = scene.garments[0].fabric.gravity_density = 0.2;
  scene.keyframes = {{.number = "gravity", .garments = {}, .values = {{0.29, 0.29}, {10, 0}}}};
  Simulation simulation(scene, {.threads = 1});
  simulation.advance(29);
  EXPECT_NEAR(simulation.velocities(0)[4].z, -10 * 0.29, 1e-9);
  simulation.advance(5);
  EXPECT_NEAR(simulation.velocities(0)[4].z, -10 * 0.29, 1e-9);
}

TEST(Keyframes, GoBackWithTheState) {
  Simulation simulation(keyed("membrane"), {.threads = 1});
  simulation.advance(5);
  const Snapshot snapshot = simulation.snapshot();
  simulation.advance(6);
  const GarmentState after = simulation.state(0);
  simulation.restore(snapshot);
  simulation.advance(6);
  EXPECT_EQ(simulation.state(0), after);
  Simulation other(keyed("membrane"), {.threads = 1});
  other.restore(snapshot);
  other.advance(6);
  EXPECT_EQ(other.state(0), after);
  simulation.reset();
  EXPECT_EQ(simulation.advance(11).size(), 3u);
  EXPECT_EQ(simulation.state(0), after);
}

TEST(Keyframes, LeaveTheBalanceOfEnergyClosed) {
  Scene scene = keyed("membrane");
  scene.keyframes.resize(4);
  scene.obstacles.clear();
  scene.projection.max_substeps = 1;
  scene.projection.tolerance = 1e-10;
  Simulation simulation(scene, {.solver = StepSolver::direct, .threads = 1});
  EnergyBalance balance(simulation);
  balance.advance(14);
  const EnergySums sums = balance.sums(0);
  EXPECT_LT(std::fabs(sums.energy_error), 1e-6 * sums.energy_scale) << sums.energy_scale;
}

TEST(Keyframes, ChangePressureAndSeams) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.step = 0.01;
  scene.gravity = 0;
  Garment sheet = square_sheet(3, 0.2, 0);
  sheet.fabric.density = sheet.fabric.gravity_density = 0.2;
  sheet.pressure = 1;
  scene.garments = {sheet};
  scene.keyframes = {{.number = "pressure", .garments = {0}, .values = {{0.1, 0.1}, {0, 4}}}};
  Simulation simulation(scene, {.threads = 1});
  simulation.advance(10);
  EXPECT_NEAR(norm(simulation.velocities(0)[4]), 0, 1e-12);
  simulation.step();
  EXPECT_NEAR(norm(simulation.velocities(0)[4]), 4 / 0.2 * 0.01, 1e-3);
  // Two strips a seam apart, which is drawn once its force is there.
  const auto opening = [](double force) {
    Scene strips;
    strips.recipe = "membrane";
    strips.step = 0.01;
    strips.gravity = 0;
    Garment garment = square_sheet(3, 0.2, 0);
    Mesh& mesh = garment.mesh;
    const Mesh one = mesh;
    for (const Vec3d& p : one.positions) mesh.positions.push_back(p + Vec3d{0, 0, 0.1});
    for (Index f = 0; f < one.face_count(); ++f) {
      std::vector<Index> nodes;
      for (const Index node : one.face(f)) nodes.push_back(node + one.node_count());
      mesh.add_face(nodes);
    }
    for (const Index node : {0, 1, 2}) mesh.stitches.push_back({node, node + one.node_count(), 0.1});
    mesh.corner_uvs.clear();
    garment.initial_positions = mesh.positions;
    garment.sewing.force = 1e-9;
    strips.garments = {garment};
    if (force > 0)
      strips.keyframes = {{.number = "sewing.force", .garments = {0}, .values = {{0, 0.05}, {1e-9, force}}}};
    Simulation drawn(strips, {.threads = 1});
    drawn.advance(20);
    return norm(drawn.positions(0)[0] - drawn.positions(0)[9]);
  };
  EXPECT_NEAR(opening(0), 0.1, 1e-6);
  EXPECT_LT(opening(5), 0.05);
}

// Once all keyframes are over nothing is to be done between steps.
TEST(Keyframes, LeaveStepsToThemselvesWhenTheyAreOver) {
  const ExecutionOptions options{.threads = 1};
  Simulation once(keyed("membrane"), options), singly(keyed("membrane"), options);
  once.advance(40);
  for (int n = 0; n < 40; ++n) singly.step();
  EXPECT_EQ(once.state(0), singly.state(0));
  const Snapshot over = once.snapshot();
  Simulation other(keyed("membrane"), options);
  other.restore(over);  // at its first step it has the numbers of then
  other.advance(5);
  once.advance(5);
  EXPECT_EQ(other.state(0), once.state(0));
  EXPECT_EQ(other.scene().gravity, 0);
  once.reset();
  EXPECT_EQ(once.step().size(), 3u);
  EXPECT_EQ(once.scene().gravity, 9.8);
}

TEST(Keyframes, OfTheSceneReachBodies) {
  Scene scene = body_scene(hanging_net(5), {body(SphereShape{0.05}, 1, {0, 0, 3}, 0.2)}, 0.01);
  scene.gravity = 10;
  scene.keyframes = {{.number = "gravity", .garments = {}, .values = {{0.1, 0.1}, {10, 0}}}};
  Simulation simulation(scene, {.threads = 1});
  simulation.advance(10);
  EXPECT_NEAR(simulation.bodies()[0].velocity.z, -1, 1e-12);
  simulation.advance(3);
  EXPECT_NEAR(simulation.bodies()[0].velocity.z, -1, 1e-12);
}

TEST(Keyframes, ChangeFrictionOfClothAsACommandDoes) {
  Scene scene;
  scene.recipe = "membrane";
  scene.step = 0.005;
  scene.contact.cloth = true;
  scene.contact.cloth_friction = {.static_ = 0.6, .dynamic = 0.6};
  for (int i = 0; i < 2; ++i) {
    Garment sheet = square_sheet(5, 0.3, 0);
    sheet.name = "sheet " + std::to_string(i);
    sheet.fabric.thickness = 2e-3;
    for (Vec3d& p : sheet.initial_positions) p.z = 2.1e-3 * i;
    if (i == 0) {
      Pin all{.name = "all", .nodes = {}, .motion = FixedMotion{}};
      for (Index node = 0; node < sheet.mesh.node_count(); ++node) all.nodes.push_back(node);
      sheet.pins = {all};
    } else {
      sheet.initial_velocities.assign(sheet.mesh.positions.size(), Vec3d{0.3, 0, 0});
    }
    scene.garments.push_back(sheet);
  }
  const auto slides_to = [](const Scene& of, bool is_told) {
    Simulation simulation(of, {.threads = 1});
    simulation.advance(4);
    if (is_told) simulation.set_cloth_friction({.static_ = 0.05, .dynamic = 0.05});
    simulation.advance(8);
    return simulation.positions(1);
  };
  Scene keyed_scene = scene;
  for (const char* name : {"static", "dynamic"})
    keyed_scene.keyframes.push_back({.number = std::string("contact.cloth_friction.") + name,
                                     .garments = {},
                                     .values = {{0.02, 0.02}, {0.6, 0.05}}});
  const std::vector<Vec3d> found = slides_to(keyed_scene, false);
  EXPECT_EQ(found, slides_to(scene, true));
  EXPECT_GT(found[12].x, slides_to(scene, false)[12].x + 1e-4);
}

TEST(Keyframes, WhatACommandWouldRefuseIsRefusedWithItsNumber) {
  const auto refusal = [](Keyframes keyframes) {
    Scene scene = keyed("membrane");
    scene.keyframes.push_back(std::move(keyframes));
    try {
      Simulation simulation(scene, {.threads = 1});
    } catch (const SceneError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto says = [](const std::string& found, const std::string& expected) {
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  says(refusal({.number = "fabric.density", .garments = {1}, .values = {{0, 1}, {1, -1}}}),
       "keyframes[6].values[1]: at 1 s: garments[1].fabric.density: found -1");
  says(refusal({.number = "fabric.bending_stiffness", .garments = {1}, .values = {{0, 1}, {1, 0}}}),
       "keyframes[6].values[1]: at 1 s: garments[1].fabric.bending_stiffness: found 0, expected 0 if it was "
       "0");
  says(refusal({.number = "fabric.thickness", .garments = {1}, .values = {{0}, {0.01}}}),
       "keyframes[6].values[0]: at 0 s: garments[1].fabric.thickness: found 0.01, expected as at the start");
  says(refusal({.number = "gravity", .garments = {}, .values = {{0}, {1}}}),
       "keyframes[6].number: found \"gravity\", which keyframes[0] has");
  says(refusal({.number = "gravitas", .garments = {1}, .values = {{0}, {1}}}), "the nearest is \"gravity\"");
  says(refusal({.number = "pressure", .garments = {1}, .values = {{0}, {1}}}),
       "garments[1].pressure other than 0");
  says(refusal({.number = "gravity", .garments = {1}, .values = {{0, 1}, {1}}}),
       "keyframes[6].values: found 1");
  says(refusal({.number = "gravity", .garments = {1}, .values = {{1, 0}, {1, 1}}}),
       "keyframes[6].times[1]: found 0, expected at least the time before it, 1");
  says(refusal({.number = "friction.static", .garments = {}, .obstacle = 3, .values = {{0}, {1}}}),
       "keyframes[6].obstacle: found 3");
  says(refusal({.number = "contact.cloth_friction.static", .garments = {}, .values = {{0}, {1}}}),
       "expected contact.cloth");
  says(refusal({.number = "wind.gusts", .garments = {}, .values = {{0}, {-1}}}), "wind.gusts: found -1");
}

}  // namespace
}  // namespace isocloth

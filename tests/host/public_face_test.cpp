// The public class against what its types do not keep out: a garment twice, numbers that are no enumeration,
// objects that were moved from, snapshots of other scenes.
#include <gtest/gtest.h>

#include <functional>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/scene_intersections.hpp"
#include "engine/model/variation.hpp"
#include "host/results/working_folder.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/step_record.hpp"

namespace isocloth {
namespace {

Scene sheets(double width = 1) {
  Scene scene;
  for (int i = 0; i < 2; ++i) {
    Garment sheet;
    sheet.name = i == 0 ? "one" : "other";
    sheet.mesh = quad_grid(4, 4, width, 1);
    for (Vec3d& p : sheet.mesh.positions) p.z += 0.1 * i;
    sheet.pins = {{"corner", {0}, FixedMotion{}, 0}};
    scene.garments.push_back(sheet);
  }
  scene.duration = 1;
  return scene;
}

template <class Kind = Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PublicFace, AGarmentIsWrittenOnce) {
  Simulation simulation(sheets());
  const std::vector<Vec3d> values(32);
  const std::vector<Vec3d> before = simulation.positions(1);
  const std::string expected = "garments[1]: found 1, which is garments[0] already, expected each once";
  EXPECT_EQ(message_of<ShapeError>([&] {
              simulation.write(GarmentField::positions, {1, 1}, values);
            }),
            expected);
  EXPECT_EQ(message_of<ShapeError>([&] {
              simulation.set_fabrics({1, 1}, {Fabric{}, Fabric{.density = 2}});
            }),
            expected);
  EXPECT_EQ(simulation.positions(1), before);
  EXPECT_EQ(simulation.scene().garments[1].fabric.density, sheets().garments[1].fabric.density);
  std::vector<Vec3d> out(32);
  EXPECT_NO_THROW(simulation.read(GarmentField::positions, {1, 1}, out));  // which changes nothing
}

TEST(PublicFace, NumbersThatAreNoEnumerationAreRefused) {
  const auto none = []<class Enum>(Enum&& value) { value = static_cast<std::remove_cvref_t<Enum>>(77); };
  const std::pair<const char*, std::function<void(Scene&)>> changes[] = {
      {"projection.method", [&](Scene& s) { none(s.projection.method); }},
      {"projection.metric", [&](Scene& s) { none(s.projection.metric); }},
      {"projection.integrator", [&](Scene& s) { none(s.projection.integrator); }},
      {"projection.factorization", [&](Scene& s) { none(s.projection.factorization); }},
      {"projection.on_violation", [&](Scene& s) { none(s.projection.on_violation); }},
      {"impulse.mode", [&](Scene& s) { none(s.impulse.mode); }},
      {"impulse.velocity_pass", [&](Scene& s) { none(s.impulse.velocity_pass); }},
      {"impulse.on_violation", [&](Scene& s) { none(s.impulse.on_violation); }},
      {"contact.initial", [&](Scene& s) { none(s.contact.initial); }},
      {"wind.model", [&](Scene& s) { none(s.wind.model); }},
      {"garments[0].fabric.bending", [&](Scene& s) { none(s.garments[0].fabric.bending); }},
      {"garments[0].fabric.curves.warp.between",
       [&](Scene& s) { none(s.garments[0].fabric.curves.warp.between); }},
  };
  for (const auto& [key, change] : changes) {
    Scene scene = sheets();
    change(scene);
    const std::string found = message_of<SceneError>([&] { Simulation{scene}; });
    EXPECT_EQ(found.rfind(std::string(key) + ": found 77, expected a value of its enumeration, 0 to ", 0), 0U)
        << found;
  }
  const auto with = [](const ExecutionOptions& options) { Simulation(sheets(), options); };
  EXPECT_EQ(message_of<SceneError>([&] { with({.precision = static_cast<Precision>(-1)}); }),
            "precision: found -1, expected a value of its enumeration, 0 to 1");
  EXPECT_EQ(message_of<SceneError>([&] { with({.solver = static_cast<StepSolver>(9)}); }),
            "solver: found 9, expected a value of its enumeration, 0 to 4");
  EXPECT_STREQ(to_string(static_cast<StepSolver>(9)), "no value of its enumeration");
  EXPECT_STREQ(to_string(static_cast<GarmentField>(9)), "no value of its enumeration");
  Simulation simulation(sheets());
  const auto field = static_cast<GarmentField>(6);
  std::vector<Vec3d> all(32);
  for (const auto& action : {std::function<void()>([&] { simulation.view(field); }),
                             std::function<void()>([&] { simulation.read(field, all); }),
                             std::function<void()>([&] { simulation.write(field, all); })})
    EXPECT_EQ(message_of<ShapeError>(action), "field: found 6, expected a value of its enumeration, 0 to 5");
  EXPECT_NE(message_of<MeshError>([] { triangle_grid(3, 3, 1, 1, static_cast<Diagonals>(5)); }), "accepted");
  EXPECT_NE(message_of<MeshError>([] { disc(3, 6, 1, static_cast<FaceKind>(5)); }), "accepted");
  EXPECT_NE(message_of<FileError>([] { WorkingFolder("out", static_cast<IfExists>(5)); }), "accepted");
}

TEST(PublicFace, ASimulationThatWasMovedFromSaysSo) {
  Simulation from(sheets());
  Simulation to(std::move(from));
  const Snapshot snapshot = to.snapshot();
  std::vector<Vec3d> all(32);
  const std::function<void()> calls[] = {
      [&] { from.step(); },
      [&] { from.advance(0); },
      [&] { from.scene(); },
      [&] { from.options(); },
      [&] { from.step_index(); },
      [&] { from.time(); },
      [&] { from.time(0); },
      [&] { from.info(0); },
      [&] { from.positions(); },
      [&] { from.positions(0); },
      [&] { from.velocities(0); },
      [&] { from.measure(); },
      [&] { from.measure(0); },
      [&] { from.start_penetration(0); },
      [&] { from.separation(); },
      [&] { from.start_intersections(); },
      [&] { from.strains(); },
      [&] { from.contacts(0); },
      [&] { from.holds(0); },
      [&] { from.cloth_loads(); },
      [&] { from.bodies(); },
      [&] { from.set_bodies({}); },
      [&] { from.garment_count(); },
      [&] { from.frozen(0); },
      [&] { from.view(GarmentField::positions); },
      [&] { from.read(GarmentField::positions, all); },
      [&] { from.write(GarmentField::positions, all); },
      [&] { from.state(0); },
      [&] { from.set_state(0, snapshot.garments[0]); },
      [&] { from.set_step_index(0); },
      [&] { from.reset(); },
      [&] { from.reset({0}); },
      [&] { from.snapshot(); },
      [&] { from.restore(snapshot); },
      [&] { from.set_pin_motion(0, 0, FixedMotion{}); },
      [&] { from.move_pin(0, 0, std::vector<Vec3d>(1), 1); },
      [&] { from.set_gripper_motion(0, 0, FixedMotion{}); },
      [&] { from.close_gripper(0, 0); },
      [&] { from.open_gripper(0, 0); },
      [&] { from.set_obstacle_motion(0, FixedMotion{}); },
      [&] { from.set_body_velocity(0, {}, {}); },
      [&] { from.set_wind({}); },
      [&] { from.set_gravity(0, 1); },
      [&] { from.set_forces(0, all); },
      [&] { from.set_fabric(0, {}); },
      [&] { from.add_force("f", [](const ForceInput&, ForceOutput&) {}); },
      [&] { from.remove_force("f"); },
      [&] { from.forces(); },
      [&] { from.keep_step_records(true); },
      [&] { from.take_step_records(); },
  };
  std::size_t number = 0;
  for (const auto& call : calls)
    EXPECT_EQ(message_of<ShapeError>(call),
              "simulation: found one that was moved from, expected the one that it was moved to")
        << number++;
  from = std::move(to);
  EXPECT_EQ(from.step().size(), 2U);
}

TEST(PublicFace, ASnapshotOfAnotherSceneIsRefused) {
  Simulation simulation(sheets());
  const Snapshot own = simulation.snapshot();
  Scene renamed = sheets();  // what commands change, and what nothing depends on
  renamed.garments[0].fabric.density *= 2;
  renamed.garments[0].pins[0].motion = OscillationMotion{{0, 0, 0.1}, 1};
  renamed.name = "another name";
  EXPECT_NO_THROW(Simulation(renamed).restore(own));
  Scene soft = sheets();
  soft.recipe = "soft_constraints";
  Scene obstructed = sheets();
  obstructed.obstacles.push_back({.name = "floor",
                                  .shape = PlaneShape{},
                                  .position = {0, 0, -1},
                                  .rotation = {},
                                  .motion = FixedMotion{},
                                  .friction = {}});
  Scene turned = sheets();  // of the same sizes
  std::reverse(turned.garments[0].mesh.positions.begin(), turned.garments[0].mesh.positions.end());
  for (const Scene& other : {sheets(1.01), soft, obstructed, turned}) {
    Simulation foreign(other);
    foreign.step();
    const std::vector<Vec3d> before = foreign.positions(0);
    EXPECT_EQ(message_of<ShapeError>([&] { foreign.restore(own); }),
              "snapshot: found that of another scene, expected one with these rest shapes, recipe, obstacles "
              "and bodies");
    EXPECT_EQ(foreign.positions(0), before);
  }
}

TEST(PublicFace, WhatIsFoundAtTheStartIsKept) {
  EXPECT_EQ(Simulation(sheets()).start_intersections(), nullptr);
  Scene scene = sheets();
  scene.contact.cloth = true;
  for (Garment& garment : scene.garments) garment.fabric.thickness = 0.15;  // 0.1 m apart
  const Simulation simulation(scene);
  const IntersectionReport* const found = simulation.start_intersections();
  ASSERT_NE(found, nullptr);
  const IntersectionReport again = SceneIntersections(scene).of_start();
  EXPECT_GT(found->near.near_count, 0);
  EXPECT_EQ(found->near.near_count, again.near.near_count);
  EXPECT_EQ(found->near.nearest.distance, again.near.nearest.distance);
  EXPECT_EQ(found->crossing, 0);
}

}  // namespace
}  // namespace isocloth

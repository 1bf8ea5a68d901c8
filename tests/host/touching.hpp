// A sheet that touches something, and derivatives of its run against central differences of runs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "engine/mesh/generators.hpp"
#include "host/gradients/tape.hpp"
#include "tests/host/gradient_case.hpp"

namespace isocloth {

inline Fabric cotton() {
  Fabric fabric{.density = 0.2,
                .gravity_density = 0.2,
                .bending_stiffness = 2e-4,
                .mass_damping = 0.3,
                .stretch_stiffness = 400,
                .shear_stiffness = 30};
  fabric.thickness = 5e-3;
  return fabric;
}

/// Some steps of a scene that has settled before.
struct Touching {
  Scene scene;
  int settling = 40, steps = 8;
  /// Whether places at the start are changed by a move of all alone: where cloth lies on cloth with a force,
  /// nearer and farther have derivatives of their own.
  bool moves_whole = false;
  std::function<void(Simulation&)> between = [](Simulation&) {};  ///< what happens after it has settled

  Touching() {
    scene.recipe = "membrane";
    scene.step = 0.01;
    scene.duration = 10;
    scene.projection.force_tolerance = 1e-12;
    scene.projection.cg_tolerance = 1e-12;
    scene.projection.max_iterations = 200;
    scene.projection.max_substeps = 1;
    scene.contact.tolerance = 1e-15;
  }
  Garment& sheet() { return scene.garments[0]; }
  void add_sheet(const Mesh& mesh, const std::function<Vec3d(Vec3d)>& place) {
    Garment sheet;
    sheet.name = "sheet";
    sheet.mesh = mesh;
    sheet.fabric = cotton();
    for (const Vec3d& p : mesh.positions) sheet.initial_positions.push_back(place(p));
    scene.garments.push_back(sheet);
  }
  Obstacle& add_obstacle(const ObstacleShape& shape, const Vec3d& position, Friction friction,
                         const Vec3d& rotation = {}) {
    Obstacle obstacle;
    obstacle.name = "obstacle" + std::to_string(scene.obstacles.size());
    obstacle.shape = shape;
    obstacle.position = position;
    obstacle.rotation = rotation;
    obstacle.friction = friction;
    scene.obstacles.push_back(obstacle);
    return scene.obstacles.back();
  }
  /// Keys at every step, of a solid at `center`.
  KeyframeMotion keys(
      const Vec3d& center, const std::function<Vec3d(int)>& translation,
      const std::function<Vec3d(int)>& rotation = [](int) { return Vec3d{}; }) const {
    KeyframeMotion motion;
    motion.center = center;
    for (int n = 0; n <= settling + steps + 1; ++n) {
      motion.times.push_back(n * scene.step);
      motion.translations.push_back(translation(n));
      motion.rotations.push_back(rotation(n));
    }
    return motion;
  }
};

struct Run {
  Touching told;
  Snapshot start;
  bool has_wrenches = false;

  explicit Run(const Touching& touching, bool by_wrenches = false)
      : told(touching), has_wrenches(by_wrenches) {
    Simulation simulation(told.scene, {.threads = 1});
    for (int n = 0; n < told.settling; ++n) {
      const StepReport report = simulation.step()[0];
      EXPECT_NE(report.status, StepStatus::diverged);
    }
    told.between(simulation);
    told.scene = simulation.scene();
    start = simulation.snapshot();
  }
  std::size_t count() const { return told.scene.garments[0].mesh.positions.size(); }
  std::vector<StateGradient> weights() const {
    std::vector<StateGradient> all(static_cast<std::size_t>(told.steps) + 1);
    for (std::size_t n = 2; n < all.size(); n += 3) {
      all[n].positions = random_nodes(count(), 10 + n);
      all[n].velocities = random_nodes(count(), 30 + n, 0.05);
      for (std::size_t o = 0; o < told.scene.obstacles.size() && has_wrenches; ++o)
        all[n].wrenches.push_back({random_nodes(1, 60 + n + o)[0], random_nodes(1, 80 + n + o)[0]});
    }
    return all;
  }
  Loss loss() const {
    Simulation simulation(told.scene, {.threads = 1});
    simulation.restore(start);
    const std::vector<StateGradient> all = weights();
    Loss sum;
    if (has_wrenches) {
      Tape tape(simulation);
      for (std::size_t n = 1; n < all.size(); ++n) tape.step();
      const std::vector<std::vector<Wrench>> found = tape.wrenches(0);
      for (std::size_t n = 1; n < all.size(); ++n)
        for (std::size_t o = 0; o < all[n].wrenches.size(); ++o) {
          sum.add({all[n].wrenches[o].force}, {found[n - 1][o].force});
          sum.add({all[n].wrenches[o].torque}, {found[n - 1][o].torque});
        }
      simulation.restore(start);
    }
    for (std::size_t n = 1; n < all.size(); ++n) {
      const StepReport report = simulation.step()[0];
      EXPECT_EQ(report.status, StepStatus::converged) << n;
      if (all[n].positions.empty()) continue;
      sum.add(all[n].positions, simulation.positions(0));
      sum.add(all[n].velocities, simulation.velocities(0));
    }
    return sum;
  }
};

inline void expect_gradient_of_differences(const Touching& touching, double tolerance,
                                           bool by_wrenches = false) {
  const Run run(touching, by_wrenches);
  Simulation simulation(run.told.scene, {.threads = 1});
  simulation.restore(run.start);
  Tape tape(simulation);
  for (int n = 0; n < run.told.steps; ++n) tape.step();
  const RunGradient found = tape.gradient(0, run.weights());
  // Steps so long that rounding is small and so short that the law of the thickness is a parabola: one of
  // three does.
  const auto expect = [&](const char* what, double by_adjoint, double h, const auto& change) {
    const auto loss = [&](double way) {
      Run other = run;
      change(other, way);
      return other.loss();
    };
    double error = std::numeric_limits<double>::infinity(), value = 0, rounding = 0;
    for (const double way : {h, h / 4, 4 * h}) {
      const Loss ahead = loss(way), behind = loss(-way);
      value = (8 * (ahead.value - behind.value) - (loss(2 * way).value - loss(-2 * way).value)) / (12 * way);
      rounding = std::numeric_limits<double>::epsilon() / 2 * (ahead.size + behind.size) / way;
      error = std::min(error, std::abs(by_adjoint - value) - rounding);
      if (error <= tolerance * std::abs(value)) break;
    }
    EXPECT_LE(error, tolerance * std::abs(value)) << what << ": " << by_adjoint << ", " << value;
  };
  const std::size_t count = run.count();
  const Nodes along = random_nodes(count, 50);
  const auto add = [](double h, const Nodes& way, std::vector<double>& to) {
    for (std::size_t i = 0; i < way.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) to[3 * i + k] += h * (&way[i].x)[k];
  };
  std::vector<Nodes> ways, whole;
  std::vector<RunGradient> all;
  double by_whole = 0;
  for (std::size_t g = 0; g < run.told.scene.garments.size(); ++g) {
    all.push_back(tape.gradient(0, run.weights(), g));
    ways.push_back(g == 0 ? along : random_nodes(all[g].positions.size(), 50 + g));
    whole.emplace_back(all[g].positions.size(), along[0]);
    by_whole += product(all[g].positions, whole[g]);
    expect("velocities", product(all[g].velocities, ways[g]), 1e-6,
           [&](Run& r, double h) { add(h, ways[g], r.start.garments[g].velocities); });
    if (!touching.moves_whole)
      expect("positions", product(all[g].positions, ways[g]), 1e-8,
             [&](Run& r, double h) { add(h, ways[g], r.start.garments[g].positions); });
  }
  expect("position", by_whole, 1e-8, [&](Run& r, double h) {
    for (std::size_t g = 0; g < whole.size(); ++g) add(h, whole[g], r.start.garments[g].positions);
  });
  double by_gravity = 0;
  for (const RunGradient& own : all) by_gravity += own.gravity;
  expect("gravity", by_gravity, 1e-5, [](Run& r, double h) { r.told.scene.gravity += h; });
  if (run.told.scene.contact.cloth_friction.dynamic > 0 && found.cloth_friction != 0)
    expect("cloth friction", found.cloth_friction, 1e-6, [](Run& r, double h) {
      r.told.scene.contact.cloth_friction.static_ += h;
      r.told.scene.contact.cloth_friction.dynamic += h;
    });
  for (const auto& [name, value] : found.fabric) {
    if (name == "density")
      expect("density", value, 1e-6, [](Run& r, double h) { r.told.sheet().fabric.density += h; });
    if (name == "mass_damping")
      expect("damping", value, 1e-4, [](Run& r, double h) { r.told.sheet().fabric.mass_damping += h; });
    if (name == "stretch_stiffness")
      expect("stretch", value, 1e-2, [](Run& r, double h) { r.told.sheet().fabric.stretch_stiffness += h; });
  }
  for (std::size_t o = 0; o < run.told.scene.obstacles.size(); ++o) {
    if (run.told.scene.obstacles[o].friction.static_ > 0 &&
        std::abs(found.friction[o][0] + found.friction[o][1]) > 1e-9)
      expect("friction", found.friction[o][0] + found.friction[o][1], 1e-6, [&](Run& r, double h) {
        r.told.scene.obstacles[o].friction.static_ += h;
        r.told.scene.obstacles[o].friction.dynamic += h;
      });
    const auto* keys = std::get_if<KeyframeMotion>(&run.told.scene.obstacles[o].motion);
    if (keys == nullptr) continue;
    for (const std::size_t n : {std::size_t{0}, std::size_t{3}, static_cast<std::size_t>(run.told.steps)}) {
      const std::size_t key = n + static_cast<std::size_t>(run.told.settling);
      const PoseGradient& by = found.obstacles[n][o];
      const auto motion = [&](Run& r) -> KeyframeMotion& {
        return std::get<KeyframeMotion>(r.told.scene.obstacles[o].motion);
      };
      expect("translation", dot(by.translation, along[0]), 1e-8,
             [&](Run& r, double h) { motion(r).translations[key] += h * along[0]; });
      const Vec3d turn = keys->rotations[key] == Vec3d{} ? along[1] : normalized(keys->rotations[key]);
      expect("rotation", dot(by.rotation, turn), 1e-8,
             [&](Run& r, double h) { motion(r).rotations[key] += h * turn; });
    }
  }
  const std::vector<Gripper>& grippers = run.told.scene.garments[0].grippers;
  for (std::size_t g = 0; g < grippers.size(); ++g)
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, static_cast<std::size_t>(run.told.steps)}) {
      const std::size_t key = n + static_cast<std::size_t>(run.told.settling);
      const PoseGradient& by = found.grippers[n][g];
      const auto motion = [&](Run& r) -> KeyframeMotion& {
        return std::get<KeyframeMotion>(r.told.sheet().grippers[g].motion);
      };
      expect("grip move", dot(by.translation, along[0]), 1e-8,
             [&](Run& r, double h) { motion(r).translations[key] += h * along[0]; });
      const Vec3d rotation = std::get<KeyframeMotion>(grippers[g].motion).rotations[key],
                  turn = rotation == Vec3d{} ? along[1] : normalized(rotation);
      expect("grip turn", dot(by.rotation, turn), 1e-8,
             [&](Run& r, double h) { motion(r).rotations[key] += h * turn; });
    }
}

}  // namespace isocloth

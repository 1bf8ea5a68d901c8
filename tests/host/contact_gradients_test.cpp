// Derivatives of runs among obstacles and grippers against central differences of runs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "host/gradients/tape.hpp"

namespace isocloth {
namespace {

using Nodes = std::vector<Vec3d>;

Nodes random_nodes(std::size_t count, std::uint64_t seed, double size = 1) {
  Random random(seed);
  Nodes nodes;
  for (std::size_t i = 0; i < count; ++i)
    nodes.push_back(size * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
  return nodes;
}

double product(const Nodes& a, const Nodes& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
  return sum;
}

/// A sum, and what its terms come to whatever their signs: they round with their sizes.
struct Loss {
  double value = 0, size = 0;
  void add(const Nodes& weights, const Nodes& nodes) {
    value += product(weights, nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) size += norm(weights[i]) * norm(nodes[i]);
  }
};

Fabric cotton() {
  Fabric fabric{.density = 0.2,
                .gravity_density = 0.2,
                .bending_stiffness = 2e-4,
                .mass_damping = 0.3,
                .stretch_stiffness = 400,
                .shear_stiffness = 30};
  fabric.thickness = 1e-3;
  return fabric;
}

/// Some steps of a scene that has settled before.
struct Touching {
  Scene scene;
  int settling = 40, steps = 8;
  std::function<void(Simulation&)> between = [](Simulation&) {};  ///< what happens after it has settled

  Touching() {
    scene.recipe = "membrane";
    scene.step = 0.01;
    scene.duration = 10;
    scene.projection.force_tolerance = std::getenv("FT") ? std::atof(std::getenv("FT")) : 1e-9;
    scene.projection.cg_tolerance = 1e-12;
    scene.projection.max_iterations = 200;
    scene.projection.max_substeps = 1;
    scene.contact.tolerance = std::getenv("CT") ? std::atof(std::getenv("CT")) : 1e-11;
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

  explicit Run(const Touching& touching) : told(touching) {
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
    }
    return all;
  }
  Loss loss() const {
    Simulation simulation(told.scene, {.threads = 1});
    simulation.restore(start);
    const std::vector<StateGradient> all = weights();
    Loss sum;
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

void expect_gradient_of_differences(const Touching& touching, double tolerance) {
  const Run run(touching);
  Simulation simulation(run.told.scene, {.threads = 1});
  simulation.restore(run.start);
  Tape tape(simulation);
  for (int n = 0; n < run.told.steps; ++n) tape.step();
  const RunGradient found = tape.gradient(0, run.weights());
  int touching_count = 0;
  for (const ContactState& c : simulation.state(0).contacts) touching_count += c.obstacle >= 0;
  ContactChanges changes;
  for (const ContactChanges& own : tape.contact_changes(0)) {
    changes.began += own.began;
    changes.ended += own.ended;
    changes.stuck += own.stuck;
    changes.slid += own.slid;
  }
  std::printf("%d contacts; %d began, %d ended, %d stuck, %d slid; %d buckling\n", touching_count,
              changes.began, changes.ended, changes.stuck, changes.slid, found.buckling_steps);

  const auto expect = [&](const char* what, double by_adjoint, double h, const auto& change) {
    const auto loss = [&](double way) {
      Run other = run;
      change(other, way);
      return other.loss();
    };
    const Loss ahead = loss(h), behind = loss(-h);
    const double value =
        (8 * (ahead.value - behind.value) - (loss(2 * h).value - loss(-2 * h).value)) / (12 * h);
    const double rounding = std::numeric_limits<double>::epsilon() / 2 * (ahead.size + behind.size) / h;
    std::printf("  %-12s %.9e %.9e  %.1e (rounding %.1e)\n", what, by_adjoint, value,
                std::abs(by_adjoint - value) / std::abs(value), rounding / std::abs(value));
    EXPECT_NEAR(by_adjoint, value, tolerance * std::abs(value) + rounding) << what;
  };
  const std::size_t count = run.count();
  const Nodes along = random_nodes(count, 50);
  const auto add = [&](double h, std::vector<double>& to) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < 3; ++k) to[3 * i + k] += h * (&along[i].x)[k];
  };
  expect("positions", product(found.positions, along), 1e-8,
         [&](Run& r, double h) { add(h, r.start.garments[0].positions); });
  expect("velocities", product(found.velocities, along), 1e-6,
         [&](Run& r, double h) { add(h, r.start.garments[0].velocities); });
  expect("gravity", found.gravity, 1e-5, [](Run& r, double h) { r.told.scene.gravity += h; });
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

constexpr double of_runs = 1e-6;
constexpr Friction rough{0.5, 0.5};

Mesh sheet_mesh() { return quad_grid(6, 5, 0.3, 0.25); }

TEST(ContactGradients, OfASheetAtRestOnATable) {
  Touching t;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + Vec3d{0, 0, 0.0005}; });
  t.add_obstacle(PlaneShape{}, {}, rough).motion = t.keys({}, [](int) { return Vec3d{}; });
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfASheetThatSlidesDownASlope) {
  Touching t;
  t.settling = 20;
  const double angle = 0.6;
  t.add_sheet(sheet_mesh(), [&](Vec3d p) {
    return rotated({0, angle, 0}, p) + 0.0005 * Vec3d{std::sin(angle), 0, std::cos(angle)};
  });
  t.add_obstacle(PlaneShape{}, {}, {0.3, 0.3}, {0, angle, 0}).motion =
      t.keys({}, [](int) { return Vec3d{}; });
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfASheetThatDrapesOverASphere) {
  Touching t;
  t.settling = 60;
  t.add_sheet(quad_grid(9, 9, 0.3, 0.3), [](Vec3d p) { return p + Vec3d{-0.14, -0.16, 0.101}; });
  t.add_obstacle(SphereShape{0.1}, {}, rough).motion = t.keys({}, [](int) { return Vec3d{}; });
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfASheetThatIsSqueezed) {
  Touching t;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + Vec3d{0, 0, 0.0005}; });
  t.add_obstacle(PlaneShape{}, {}, rough);
  t.add_obstacle(BoxShape{{0.2, 0.2, 0.05}, 0.005}, {0.15, 0.12, 0.0262}, rough).motion =
      t.keys({0.15, 0.12, 0.0262}, [](int n) {
        return Vec3d{0, 0, -1e-5 * n};
      });
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfASheetThatIsDraggedOverATable) {
  Touching t;
  t.add_sheet(sheet_mesh(), [](Vec3d p) { return p + Vec3d{0, 0, 0.0005}; });
  t.add_obstacle(PlaneShape{}, {}, rough);
  t.sheet().pins.push_back(
      {"edge",
       {0, 6, 12, 18, 24},
       KeyframeMotion{.times = {0, 1}, .translations = {{}, {-0.1, 0, 0}}, .rotations = {}, .center = {}}});
  expect_gradient_of_differences(t, of_runs);
}

TEST(ContactGradients, OfACylinderThatTurnsUnderASheet) {
  Touching t;
  t.settling = 50;
  t.add_sheet(quad_grid(9, 6, 0.3, 0.15), [](Vec3d p) { return p + Vec3d{-0.14, -0.07, 0.0605}; });
  t.add_obstacle(CylinderShape{0.06, 0.4, 0.01}, {}, rough, {std::acos(-1.0) / 2, 0, 0}).motion = t.keys(
      {},
      [](int n) {
        return Vec3d{0, 0, 1e-4 * n};
      },
      [](int n) {
        return Vec3d{0, 0.001 * n, 0};
      });
  expect_gradient_of_differences(t, of_runs);
}

}  // namespace
}  // namespace isocloth

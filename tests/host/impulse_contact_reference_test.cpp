// Whole steps among obstacles against the reference, which knows contacts of nodes.
#include <limits>

#include "host/impulse/impulse_garments.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "host/reference/impulse_cloth.hpp"
#include "tests/host/contact_case.hpp"
#include "tests/host/impulse_case.hpp"

namespace isocloth {
namespace {

using reference::MatrixX3d;

MatrixX3d as_matrix(const std::vector<double>& values) {
  MatrixX3d matrix(static_cast<Eigen::Index>(values.size() / 3), 3);
  for (std::size_t i = 0; i < values.size(); ++i)
    matrix(static_cast<Eigen::Index>(i / 3), static_cast<Eigen::Index>(i % 3)) = values[i];
  return matrix;
}

struct Kind {
  const char* name;
  ObstacleShape shape;
  double top;       ///< height of the solid [m]
  double rounding;  ///< of its distances [m]: those of grids are kept in float
};

Mesh closed_box(double half) {
  Mesh mesh;
  for (int k = 0; k < 8; ++k)
    mesh.positions.push_back({k & 1 ? half : -half, k & 2 ? half : -half, k & 4 ? half : -half});
  for (const auto& face :
       {std::array{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}})
    mesh.add_face({face.begin(), face.end()});
  return mesh;
}

std::vector<Kind> kinds() {
  constexpr double exact = 1e-16, in_float = 1e-8;
  return {{"plane", PlaneShape{}, 0, exact},
          {"sphere", SphereShape{0.3}, 0.3, exact},
          {"capsule", CapsuleShape{0.2, 0.3}, 0.35, exact},
          {"cylinder", CylinderShape{0.3, 0.4, 0.02}, 0.2, exact},
          {"box", BoxShape{{0.5, 0.5, 0.4}, 0.02}, 0.2, exact},
          {"height field", HeightFieldShape{{2, 2}, 1, {0, 0, 0, 0}}, 0, in_float},
          {"mesh", MeshShape{closed_box(0.25), 0, 0}, 0.25, in_float}};
}

/// A sheet that comes down with one corner first, so that edges and faces touch nothing.
Scene corner_scene(const Kind& kind, const char* recipe, ImpulseMode mode, bool moves) {
  Garment sheet = square_sheet(4, 0.15, 0.5);
  sheet.fabric.thickness = 1e-3;
  sheet.fabric.density = 0.4;
  const double tilt = 0.6, x0 = 0.02, y0 = 0.03;
  for (Vec3d& p : sheet.initial_positions) {
    const double along = (p.x + p.y + 0.15) / std::sqrt(2.0), across = (p.x - p.y) / std::sqrt(2.0);
    const double flat = along * std::cos(tilt);
    p = {x0 + (flat + across) / std::sqrt(2.0), y0 + (flat - across) / std::sqrt(2.0),
         kind.top + 0.003 + along * std::sin(tilt)};
  }
  sheet.initial_velocities.assign(sheet.initial_positions.size(), Vec3d{0.1, 0.05, -0.4});
  Vec3d position;
  if (std::holds_alternative<HeightFieldShape>(kind.shape)) position = {-0.5, -0.5, 0};
  Obstacle solid = obstacle(kind.shape, position, 0.4, {0, 0, 0.2});
  solid.friction.dynamic = 0.3;
  if (moves)
    solid.motion = KeyframeMotion{.times = {0, 1},
                                  .translations = {{0, 0, 0}, {0.1, -0.2, 0.1}},
                                  .rotations = {{0, 0, 0.2}, {0.3, 0.2, 1}},
                                  .center = {}};
  Scene scene = contact_scene(sheet, solid, 0.01);
  scene.recipe = recipe;
  scene.impulse.mode = mode;
  scene.impulse.max_sweeps = mode == ImpulseMode::converge ? 100 : 0;
  return scene;
}

struct Compared {
  int steps = 0, touching = 0, eased = 0;
};

/// Step after step from the kernels' state, while only nodes touch.
void compare(const Kind& kind, const Scene& scene, Compared& compared) {
  const Garment& garment = scene.garments[0];
  Simulation simulation(scene, one_thread(StepSolver::batched));
  const auto nodes = static_cast<std::size_t>(garment.mesh.node_count());
  const Device device({.threads = 1});
  const auto solver = make_garment_solver(device, Precision::float64, garment, scene, StepSolver::batched);
  reference::ImpulseCloth cloth(garment, find_recipe(scene.recipe), ResolvedScene(scene).impulse(0),
                                scene.gravity);
  cloth.set_order(dynamic_cast<const ImpulseGarments<double>&>(*solver).sweep_order());
  cloth.set_obstacles(scene.obstacles, garment.fabric.thickness / 2, scene.contact.tolerance);
  if (eases_out(scene)) cloth.set_push_out(scene.contact.initial_penetration_time);
  const double mass = garment.fabric.density * cloth.masses().maxCoeff();
  const double part = scene.step / cloth.settings().substeps;
  // A place is moved by its distance's rounding, or its own of 1 m, once in each sweep, and so are its
  // neighbours; what follows of it is a few times that.
  constexpr double shortest = 0.05;  // edge [m]
  Random random(1);
  const double rounding = std::max(kind.rounding, std::numeric_limits<double>::epsilon());
  for (int step = 0; step < 8; ++step) {
    const GarmentState before = simulation.state(0);
    const StepReport report = simulation.step()[0];
    const GarmentState after = simulation.state(0);
    for (std::size_t c = nodes; c < after.contacts.size(); ++c)
      if (after.contacts[c].obstacle >= 0) return;
    const auto step_from = [&](double change) {
      MatrixX3d start = as_matrix(before.positions);
      for (Eigen::Index i = 0; i < start.rows(); ++i)
        for (int k = 0; k < 3; ++k) start(i, k) += change * random.uniform(-1, 1);
      cloth.set_positions(start);
      cloth.set_velocities(as_matrix(before.velocities));
      return cloth.step(scene.step, MatrixX3d(0, 3), step * scene.step);
    };
    // What rounding does to the reference, and how near the tolerance it decided on a correction.
    const auto moved = step_from(rounding);
    const MatrixX3d moved_positions = cloth.positions();
    const auto result = step_from(0);
    const double sweeps = result.sweeps + result.velocity_sweeps, bound = 100 * sweeps * rounding;
    if (result.sweeps != moved.sweeps || result.velocity_sweeps != moved.velocity_sweeps ||
        !((cloth.positions() - moved_positions).cwiseAbs().maxCoeff() <= bound / 10) ||
        result.margin * shortest <= bound)
      continue;
    ++compared.steps;
    EXPECT_EQ(report.iterations, result.sweeps) << kind.name << ", step " << step;
    EXPECT_LE((as_matrix(after.positions) - cloth.positions()).cwiseAbs().maxCoeff(), bound)
        << kind.name << ", step " << step;
    EXPECT_LE((as_matrix(after.velocities) - cloth.velocities()).cwiseAbs().maxCoeff(), bound / part)
        << kind.name << ", step " << step;
    EXPECT_EQ(report.status == StepStatus::converged, result.converged) << kind.name << ", step " << step;
    EXPECT_NEAR(report.eased_depth, cloth.contact()->depenetration_depth(), bound);
    EXPECT_NEAR(report.penetration - report.eased_depth, cloth.contact()->penetration(cloth.positions()),
                bound);
    compared.eased += report.eased_depth > scene.contact.tolerance;
    const MatrixX3d& forces = cloth.contact()->forces()[0];
    for (std::size_t i = 0; i < nodes; ++i) {
      const Vec3d& p = after.contacts[i].force;
      const auto own = forces.row(static_cast<Eigen::Index>(i));
      EXPECT_LE(norm(p - Vec3d{own.x(), own.y(), own.z()}), cloth.settings().substeps * bound * mass)
          << kind.name << ", step " << step << ", node " << i;
      compared.touching += norm(p) > 0;
    }
  }
}

TEST(ImpulseContactReference, EveryKindOfObstacle) {
  for (const char* recipe : sweep_recipes)
    for (const ImpulseMode mode : both_modes) {
      SCOPED_TRACE(std::string(recipe) + ", " + describe(mode));
      Compared all;
      for (const Kind& kind : kinds())
        for (const bool moves : {false, true}) {
          // Faces may touch a grid for some sweeps, which no contact of the state tells.
          if (mode == ImpulseMode::converge && kind.rounding > 1e-15) continue;
          Compared compared;
          compare(kind, corner_scene(kind, recipe, mode, moves), compared);
          // Sweeps of a fixed number decide on nothing.
          EXPECT_GT(compared.touching, mode == ImpulseMode::substeps ? 1 : -1) << kind.name;
          all.steps += compared.steps;
        }
      EXPECT_GT(all.steps, 40);
    }
}

// The corner starts inside and is eased out while the sheet falls on.
TEST(ImpulseContactReference, EveryKindOfObstacleEasesOut) {
  for (const char* recipe : sweep_recipes) {
    int eased = 0;
    for (const Kind& kind : kinds())
      for (const bool moves : {false, true}) {
        Scene scene = corner_scene(kind, recipe, ImpulseMode::substeps, moves);
        scene.contact.resolve_initial_penetration = true;
        scene.contact.initial_penetration_time = 0.05;
        for (Vec3d& p : scene.garments[0].initial_positions) p.z -= 0.008;
        Compared compared;
        compare(kind, scene, compared);
        eased += compared.eased;
      }
    EXPECT_GT(eased, 25) << recipe;
  }
}

}  // namespace
}  // namespace isocloth

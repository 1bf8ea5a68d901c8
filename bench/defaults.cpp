// Default runs beside what is known of them, and beside their own refinements.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "engine/core/standard_gravity.hpp"
#include "engine/core/text.hpp"
#include "engine/material/fabric_presets.hpp"
#include "engine/mesh/generators.hpp"
#include "host/energy/energy_balance.hpp"

namespace isocloth::bench {
namespace {

/// Where a run ends, and what it showed on the way.
struct Course {
  std::vector<Vec3d> positions;  ///< of the first garment, in the end
  EnergySums energy;             ///< the same
  std::vector<double> probe;     ///< see DefaultCase, at every step
  double iterations = 0, missed_percent = 0, unbalanced = 0;
};

/// A scene in which nothing is said of tolerances, iterations and the integrator.
struct DefaultCase {
  std::string name;
  int side;                         ///< nodes along an edge; 0: the mesh cannot be refined
  std::function<Scene(int)> scene;  ///< of so many nodes along an edge
  std::string quantity = {};        ///< that is known
  double known = 0;
  std::function<double(const Course&)> found = {};
  std::function<double(const Simulation&)> probe = {};
};

const Fabric& preset(std::string_view name) {
  return std::ranges::find(fabric_presets(), name, &FabricPreset::name)->fabric;
}

Garment sheet(const Fabric& fabric, Mesh mesh) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = std::move(mesh);
  garment.fabric = fabric;
  return garment;
}
Garment square(const Fabric& fabric, int side, double width = 0.5) {
  return sheet(fabric, quad_grid(side, side, width, width));
}
void move(Garment& garment, const Vec3d& way, const Vec3d& x = {1, 0, 0}, const Vec3d& y = {0, 1, 0}) {
  garment.initial_positions.clear();
  for (const Vec3d& p : garment.mesh.positions) garment.initial_positions.push_back(way + p.x * x + p.y * y);
}
/// Nodes that satisfy a condition on their place at rest, where they are.
template <class Condition>
void pin(Garment& garment, const Condition& condition) {
  Pin pin{.name = "pin", .nodes = {}, .motion = FixedMotion{}};
  for (std::size_t i = 0; i < garment.mesh.positions.size(); ++i)
    if (condition(garment.mesh.positions[i])) pin.nodes.push_back(static_cast<Index>(i));
  garment.pins.push_back(std::move(pin));
}
Scene scene_of(Garment garment, double step, double duration) {
  Scene scene;
  scene.recipe = "membrane";
  scene.step = step;
  scene.duration = duration;
  scene.projection.on_violation = OnViolation::go_on;
  scene.garments.push_back(std::move(garment));
  return scene;
}
Obstacle plane(double degrees, double friction) {
  Obstacle obstacle;
  obstacle.name = "plane";
  obstacle.shape = PlaneShape{};
  obstacle.rotation = {0, degrees * std::numbers::pi / 180, 0};
  obstacle.friction = {friction, friction};
  return obstacle;
}

double mean_height(const std::vector<Vec3d>& positions) {
  double sum = 0;
  for (const Vec3d& p : positions) sum += p.z;
  return sum / static_cast<double>(positions.size());
}
/// What is left of the amplitude of a swing around 0 after each of two cycles, of three that were seen.
double kept_per_cycle(const std::vector<double>& swing) {
  const auto third = static_cast<std::ptrdiff_t>(swing.size() / 3);
  const auto amplitude = [](auto begin, auto end) {
    return std::transform_reduce(
        begin, end, 0.0, [](double a, double b) { return std::max(a, b); },
        [](double x) { return std::fabs(x); });
  };
  return std::sqrt(amplitude(swing.end() - third, swing.end()) /
                   amplitude(swing.begin(), swing.begin() + third));
}

/// A limp sheet let go while it lies flat, held by two corners of an edge.
Scene swing(const Fabric& fabric, int side, double duration = 1) {
  Garment garment = square(fabric, side);
  pin(garment, [](const Vec3d& p) { return p.y < 1e-6 && (p.x < 1e-6 || p.x > 0.5 - 1e-6); });
  return scene_of(std::move(garment), 0.01, duration);
}
double loss_percent(const Course& course) {
  return 100 * course.energy.loss_integrator / course.energy.work_gravity;
}

/// Sag of a thread of length 1.2 m between points 1 m apart: 2 a sinh(1 / (2 a)) = 1.2, a (cosh(1 / (2 a)) -
/// 1).
double catenary_sag() {
  double low = 0.1, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double a = (low + high) / 2;
    (2 * a * std::sinh(0.5 / a) > 1.2 ? low : high) = a;
  }
  return low * (std::cosh(0.5 / low) - 1);
}

Scene catenary(int side) {
  Fabric fabric = preset("cotton");
  fabric.bending_stiffness = fabric.weft_bending_stiffness = 0;
  fabric.mass_damping = 2;
  Garment garment = sheet(fabric, quad_grid(4 * (side - 1) + 1, (side + 1) / 2, 1.2, 0.1));
  const KeyframeMotion to_left{
      .times = {0, 1}, .translations = {{}, {-0.1, 0, 0}}, .rotations = {}, .center = {}};
  KeyframeMotion to_right = to_left;
  to_right.translations[1].x = 0.1;
  pin(garment, [](const Vec3d& p) { return p.x < 1e-6; });
  garment.pins.back().motion = to_right;
  pin(garment, [](const Vec3d& p) { return p.x > 1.2 - 1e-6; });
  garment.pins.back().motion = to_left;
  return scene_of(std::move(garment), 0.01, 5);
}

Scene hanging_strip(int side) {
  Fabric fabric = preset("cotton");
  fabric.mass_damping = 5;
  Garment garment = sheet(fabric, quad_grid(side, 10 * (side - 1) + 1, 0.1, 1));
  pin(garment, [](const Vec3d& p) { return p.y < 1e-6; });
  move(garment, {}, {1, 0, 0}, {0, 0, -1});
  return scene_of(std::move(garment), 0.01, 2);
}

/// A reed in its lowest modes, without weight.
Scene reed(int side) {
  const Fabric fabric{.density = 0.2,
                      .gravity_density = 0.2,
                      .bending_stiffness = 1e-4,
                      .stretch_stiffness = 1e4,
                      .shear_stiffness = 1e3};
  const int along = 6 * (side - 1);
  const double element = 0.1 / (along - 1);
  Garment garment =
      sheet(fabric, triangle_grid(along + 1, side, 0.1 + element, 0.02, Diagonals::alternating));
  garment.initial_velocities.assign(garment.mesh.positions.size(), Vec3d{0, 0, 0.05});
  pin(garment, [&](const Vec3d& p) { return p.x < 1.5 * element; });
  Scene scene = scene_of(std::move(garment), 0.0025, 2.4);
  scene.gravity = 0;
  return scene;
}

Scene hoop(int side) {
  const Fabric fabric{
      .density = 0.2, .gravity_density = 0.2, .stretch_stiffness = 1e3, .shear_stiffness = 100};
  Garment garment = sheet(fabric, tube(3, 4 * side, 0.1, 0.05, FaceKind::quads));
  for (const Vec3d& p : garment.mesh.positions)
    garment.initial_velocities.push_back(cross(Vec3d{0, 0, 20}, p));
  Scene scene = scene_of(std::move(garment), 0.002, 0.314);
  scene.gravity = 0;
  return scene;
}

/// A sheet that a gripper drags over a plane by the middle of an edge.
Scene dragged(int side) {
  Garment garment = square(preset("cotton"), side);
  move(garment, {0, 0, 0.0005});
  Gripper gripper;
  gripper.name = "hand";
  gripper.region = SphereShape{.radius = 0.02};
  gripper.position = {0.5, 0.25, 0};
  gripper.motion = KeyframeMotion{
      .times = {0, 0.2, 1.2}, .translations = {{}, {}, {0.3, 0, 0.1}}, .rotations = {}, .center = {}};
  gripper.holds = {{0, 10}};
  garment.grippers = {gripper};
  Scene scene = scene_of(std::move(garment), 0.01, 1.5);
  scene.obstacles = {plane(0, 0.3)};
  return scene;
}

/// Coulomb: g (sin a - mu cos a) t^2 / 2.
constexpr double slope_degrees = 20, slope_friction = 0.2, slope_seconds = 0.5;
Scene slope(int side) {
  Garment garment = square(preset("cotton"), side, 0.3);
  const double angle = slope_degrees * std::numbers::pi / 180;
  const Vec3d down{std::cos(angle), 0, -std::sin(angle)}, up{std::sin(angle), 0, std::cos(angle)};
  move(garment, garment.fabric.compression.thickness / 2 * up, down);  // where contact begins
  Scene scene = scene_of(std::move(garment), 0.01, slope_seconds);
  scene.obstacles = {plane(slope_degrees, slope_friction)};
  return scene;
}

Scene on_the_floor(int side) {
  Garment garment = square(preset("cotton"), side, 0.3);
  move(garment, {0, 0, 0.2});
  Scene scene = scene_of(std::move(garment), 0.01, 1);
  scene.obstacles = {plane(0, 0.3)};
  return scene;
}

Scene on_sphere(int side) {
  Garment garment = square(preset("cotton"), side);
  move(garment, {-0.25, -0.25, 0.151});
  Scene scene = scene_of(std::move(garment), 0.01, 1);
  Obstacle ball;
  ball.name = "ball";
  ball.shape = SphereShape{.radius = 0.15};
  ball.friction = {0.3, 0.3};
  scene.obstacles = {ball};
  return scene;
}

Scene cloth_on_cloth(int side) {
  Scene scene = swing(preset("cotton"), side, 0.6);
  pin(scene.garments[0], [](const Vec3d& p) { return p.y > 0.5 - 1e-6 && (p.x < 1e-6 || p.x > 0.5 - 1e-6); });
  Garment other = square(preset("cotton"), side, 0.3);
  other.name = "dropped";
  move(other, {0.1, 0.1, 0.03});
  scene.garments.push_back(std::move(other));
  scene.contact.cloth = true;
  scene.contact.tolerance = 5e-5;
  return scene;
}

/// Mean height of a held sheet of cotton on 129 x 129 quads [m].
constexpr double held_height = -0.2516;
Scene held(Mesh mesh) {
  Fabric fabric = preset("cotton");
  fabric.mass_damping = 3;
  Garment garment = sheet(fabric, std::move(mesh));
  pin(garment, [](const Vec3d& p) { return p.y < 1e-6 && (p.x < 1e-6 || p.x > 0.5 - 1e-6); });
  return scene_of(std::move(garment), 0.01, 3);
}

std::vector<DefaultCase> default_cases() {
  const auto height = [](const Course& c) { return mean_height(c.positions); };
  std::vector<DefaultCase> cases;
  cases.push_back({"free fall", 9, [](int n) { return scene_of(square(preset("cotton"), n), 0.01, 0.4); },
                   "fall [m]", standard_gravity * 0.08, [=](const Course& c) { return -height(c); }});
  for (const char* name : {"cotton", "silk", "denim", "jersey", "paper"})
    cases.push_back({text("swing, ", name), 17, [=](int n) { return swing(preset(name), n); },
                     "lost to the step, of gravity's work [%]", 0, loss_percent});
  cases.push_back({"held, quads", 17, [](int n) { return held(quad_grid(n, n, 0.5, 0.5)); },
                   "mean height [m]", held_height, height});
  cases.push_back({"held, triangles", 17,
                   [](int n) { return held(triangle_grid(n, n, 0.5, 0.5, Diagonals::alternating)); },
                   "mean height [m]", held_height, height});
  cases.push_back({"held, irregular triangles", 0,
                   [](int) { return held(irregular_triangles(16, 256, 0.5, 0.5, 1)); }, "mean height [m]",
                   held_height, height});
  const Fabric& cotton = preset("cotton");
  cases.push_back({"strip under its own weight", 3, hanging_strip, "longer by [mm]",
                   1000 * standard_gravity * cotton.gravity_density / (2 * cotton.weft_stiffness()),
                   [](const Course& c) {
                     double lowest = 0;
                     for (const Vec3d& p : c.positions) lowest = std::min(lowest, p.z);
                     return 1000 * (-lowest - 1);
                   }});
  cases.push_back({"catenary", 9, catenary, "sag [m]", catenary_sag(), [](const Course& c) {
                     double lowest = 0;
                     for (const Vec3d& p : c.positions) lowest = std::min(lowest, p.z);
                     return -lowest;
                   }});
  cases.push_back({"reed", 3, reed, "amplitude kept per cycle", 1,
                   [](const Course& c) { return kept_per_cycle(c.probe); },
                   [](const Simulation& s) { return s.positions(0).back().z; }});
  cases.push_back({"spinning hoop", 12, hoop, "angular momentum kept", 1,
                   [](const Course& c) { return c.probe.back() / c.probe.front(); },
                   [](const Simulation& s) { return s.measure(0).angular_momentum.z; }});
  cases.push_back({"dragged over a plane", 17, dragged});
  const double angle = slope_degrees * std::numbers::pi / 180;
  cases.push_back({"sliding down a slope", 9, slope, "way [m]",
                   standard_gravity * (std::sin(angle) - slope_friction * std::cos(angle)) * slope_seconds *
                       slope_seconds / 2,
                   [=](const Course& c) {
                     Vec3d mean{};
                     for (const Vec3d& p : c.positions) mean = mean + p;
                     mean = (1.0 / static_cast<double>(c.positions.size())) * mean;
                     return mean.x * std::cos(angle) - mean.z * std::sin(angle) - 0.15;
                   }});
  cases.push_back({"falls on a floor", 9, on_the_floor, "height above it [mm]",
                   500 * cotton.compression.thickness_at(cotton.density * standard_gravity),
                   [=](const Course& c) { return 1000 * height(c); }});
  cases.push_back({"falls on a sphere", 17, on_sphere});
  cases.push_back({"falls on held cloth", 13, cloth_on_cloth});
  for (const char* name : {"skirt", "t_shirt"})
    cases.push_back({text('`', name, '`'), 0, [=](int) {
                       Scene scene = bench_scene(name);
                       scene.projection = {};
                       scene.projection.on_violation = OnViolation::go_on;
                       scene.duration = 0.5;
                       return scene;
                     }});
  return cases;
}

Course course_of(const DefaultCase& each, const Scene& scene) {
  Simulation simulation(scene, one_thread());
  EnergyBalance balance(simulation);
  Course course;
  const std::int64_t steps = step_count(scene);
  double count = 0;
  if (each.probe) course.probe.push_back(each.probe(simulation));
  for (std::int64_t n = 0; n < steps; ++n) {
    for (const StepReport& report : balance.step()) {
      ++count;
      course.iterations += report.iterations;
      course.missed_percent += report.status == StepStatus::converged ? 0 : 100;
    }
    course.unbalanced = std::max(course.unbalanced, balance.sums(0).unbalanced_force);
    if (each.probe) course.probe.push_back(each.probe(simulation));
  }
  course.iterations /= count;
  course.missed_percent /= count;
  course.positions = simulation.positions(0);
  course.energy = balance.sums(0);
  return course;
}

/// Mean distance of the nodes [mm]; of a finer mesh those in the places of the coarser one's, in rows of
/// nodes.
double distance(const Scene& coarse, const Course& a, const Scene& fine, const Course& b) {
  const std::vector<Vec3d>&rest = coarse.garments[0].mesh.positions, &finer = fine.garments[0].mesh.positions;
  double sum = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const std::size_t place =
        rest.size() == finer.size() ? i : static_cast<std::size_t>(nearest_node(finer, rest[i]));
    sum += norm(a.positions[i] - b.positions[place]);
  }
  return 1000 * sum / static_cast<double>(rest.size());
}

std::vector<Json> row_of(const DefaultCase& each) {
  const Scene scene = each.scene(each.side);
  const Course own = course_of(each, scene);
  const auto beside = [&](const auto& change) {
    Scene other = scene;
    change(other);
    return distance(scene, own, other, course_of(each, other));
  };
  const double by_step = beside([](Scene&s) { s.step /= 2; }),
               by_tolerance = beside([](Scene&s) { s.projection.tolerance /= 10; });
  Json by_mesh;
  if (each.side > 0) by_mesh = beside([&](Scene& s) { s = each.scene(2 * each.side - 1); });
  say(text(each.name, ": step ", by_step, " mm, tolerance ", by_tolerance, " mm"));
  const EnergySums& e = own.energy;
  return {each.name,
          static_cast<int>(own.positions.size()),
          1000 * scene.step,
          own.iterations,
          own.missed_percent,
          each.found ? Json(each.quantity) : Json(),
          each.found ? Json(each.known) : Json(),
          each.found ? Json(each.found(own)) : Json(),
          by_step,
          by_tolerance,
          by_mesh,
          own.unbalanced,
          100 * (std::fabs(e.error_rows) + std::fabs(e.energy_error)) / e.energy_scale};
}

}  // namespace

std::vector<Table> measure_defaults(const DefaultsRequest& request) {
  std::vector<DefaultCase> cases = default_cases();
  if (!request.cases.empty())
    std::erase_if(cases, [&](const DefaultCase& each) {
      return std::ranges::none_of(
          request.cases, [&](const std::string& part) { return each.name.find(part) != std::string::npos; });
    });
  Table table{
      .title = "Default runs beside what is known of them and beside their refinements",
      .columns = {"scene", "nodes", "step [ms]", "iterations per step", "missed [%]", "quantity", "known",
                  "found", "step / 2 [mm]", "tolerance / 10 [mm]", "mesh x 2 [mm]",
                  "unbalanced force [weights]", "energy not closed [%]"},
      .rows = std::vector<std::vector<Json>>(cases.size()),
      .notes = {"Nothing is said of tolerances, iterations and the integrator. mm: mean distance of the "
                "nodes in the end from those of a run with half the step, a tenth of the tolerance, twice "
                "the nodes along each edge. Unbalanced force: the largest on a node in any step, over the "
                "node's weight. Energy: what rows miss and what no force accounts for, over the turnover."}};
  for_each_case(cases.size(), request.workers, [&](std::size_t i) { table.rows[i] = row_of(cases[i]); });
  return {table};
}

}  // namespace isocloth::bench

// What cloth remembers: loops of bending, shear and tension have the area that their friction says, plastic
// bends stay, and the balance of energy closes. What pins do of a loop is more than friction takes by what
// backward Euler loses of the elastic part, which goes with the step.
#include <cmath>
#include <map>

#include "engine/mesh/topology.hpp"
#include "engine/mesh/triangle_pairs.hpp"
#include "engine/rows/membrane.hpp"
#include "tests/energy/energy_case.hpp"
#include "tests/support/bending_strip.hpp"

namespace isocloth {
namespace {

/// 0 -> 1 -> -1 -> 1 -> -1 ..., a quarter of a cycle a second.
double zigzag(double t) {
  const double phase = std::fmod(t + 1, 4);
  return phase < 2 ? phase - 1 : 3 - phase;
}

/// What pins did of a loop and what friction took of it [J]: from t = 1 s to t = 5 s.
struct Loop {
  EnergySums start, end;
  MeasuredBalance balance;
  double work() const { return end.work_pins - start.work_pins; }
  double lost() const { return end.loss_hysteresis - start.loss_hysteresis; }
};
/// each(step, balance)
Loop loop_of(Simulation& simulation, double step,
             const std::function<void(int, const EnergySums&)>& each = {}) {
  Loop found;
  int n = 0;
  const int per_second = static_cast<int>(std::lround(1 / step));
  found.balance = balance_after(simulation, 5 * per_second, 0, [&](const EnergyBalance& balance) {
    if (++n == per_second) found.start = balance.sums(0);
    if (each) each(n, balance.sums(0));
  });
  found.end = found.balance.sums;
  return found;
}

// Kawabata's bending tester: curvature to 2.5 / cm and back. The moment of a spring of B beside friction that
// holds HB and builds up in the curvature c is a loop of the area 2HB (2 c_max - 2 c), and 2HB high.
TEST(Memory, ABendingLoopHasTheAreaOf2HB) {
  const double most = 250, friction = 2.5e-4, slip = 10, step = 0.005;
  for (const Precision precision : {Precision::float64, Precision::float32})
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
      const BendingStrip strip;
      Scene scene = strip.scene(even_times(2000, 0.0025), [&](double t) { return most * zigzag(t); });
      scene.step = step;
      scene.garments[0].fabric.memory = {.bending_friction = friction, .bending_slip = slip};
      Simulation simulation(scene, {.precision = precision, .solver = solver, .threads = 1});
      // Moments per width at 1 / cm: what the clamp does over the change of curvature.
      std::map<int, double> work;
      const Loop loop =
          loop_of(simulation, step, [&](int n, const EnergySums& sums) { work[n] = sums.work_pins; });
      const auto moment_at = [&](double t, double direction) {
        const int n = static_cast<int>(std::lround(t / step));
        return (work[n + 4] - work[n - 4]) / (direction * most * 8 * step * strip.area());
      };
      const double area = strip.area() * 2 * (2 * friction) * 2 * (most - slip) / 2,
                   height = moment_at(4.4, 1) - moment_at(1.6, -1);
      EXPECT_NEAR(loop.work() / area, 1, 0.03);
      EXPECT_NEAR(loop.lost() / area, 1, 0.01);
      EXPECT_NEAR(height / (2 * friction), 1, 0.05);
      if (precision == Precision::float64) expect_closed(loop.balance, 1e-3, "a loop of bending");
    }
}

// Beyond the curvature c_y a bend is plastic, a share s of its stiffness goes on: of c_max
// (1 - s) (c_max - c_y) is left without moment, and of friction HB / B more.
TEST(Memory, ABendThatYieldedStays) {
  const double most = 250, yield = 120, share = 0.2, step = 0.005;
  for (const double friction : {0.0, 2e-4}) {
    const BendingStrip strip;
    const double stiffness = 1e-5;
    Scene scene =
        strip.scene(even_times(800, 0.0025), [&](double t) { return most * (1 - std::fabs(t - 1)); });
    scene.step = step;
    scene.garments[0].fabric.memory = {
        .bending_friction = friction, .bending_yield = yield, .hardening = share};
    Simulation simulation(scene, {.threads = 1});
    std::map<int, double> work;
    int n = 0;
    const MeasuredBalance balance =
        balance_after(simulation, 400, 0, [&](const EnergyBalance& b) { work[++n] = b.sums(0).work_pins; });
    expect_closed(balance, 1e-3, "a bend that yields");
    EXPECT_GT(balance.sums.loss_hysteresis, 0);
    // Where the moment changes its sign on the way back.
    int at = 210;
    while (at < 390 && work[at + 2] - work[at - 2] < 0) ++at;
    const double left = most * (1 - std::fabs(at * step - 1)),
                 expected = (1 - share) * (most - yield) + friction / stiffness;
    EXPECT_NEAR(left, expected, 0.03 * most) << friction;
  }
}

// At a constant curvature what is beyond yield flows as exp(-t / T).
TEST(Memory, BendsFlowWithTheirTime) {
  const double most = 250, yield = 100, share = 0.1, time = 0.5, step = 0.005;
  const BendingStrip strip;
  Scene scene =
      strip.scene(even_times(1000, 0.0025), [&](double t) { return most * std::min(t / 0.05, 1.0); });
  scene.step = step;
  scene.garments[0].fabric.memory = {.bending_yield = yield, .hardening = share, .flow_time = time};
  Simulation simulation(scene, {.threads = 1});
  const auto plastic = [&] {  // mean of those that yielded
    double sum = 0;
    int count = 0;
    for (const double x : simulation.state(0).plastic_strains)
      if (x > 0.3 * (most - yield)) sum += x, ++count;
    return sum / count;
  };
  simulation.advance(110);  // half a second at the curvature, nearly
  const double early = plastic();
  simulation.advance(100);
  const double late = plastic(), factor = std::pow(1 + step / time, -100);
  EXPECT_GT(early, 0.4 * (most - yield));
  EXPECT_NEAR((most - yield - late) / (most - yield - early), factor, 0.05 * factor);
}

/// A sheet of 9 x 9 nodes between rails, whose rows move by displacement(y) at t.
Scene between_rails(const std::function<Vec3d(const Vec3d&)>& displacement, double step) {
  Garment sheet = square_sheet(9, 0.1, 0);
  sheet.fabric.density = sheet.fabric.gravity_density = 0.1;
  sheet.initial_positions = sheet.mesh.positions;
  sheet.pins.clear();
  const std::vector<double> times = even_times(1000, 0.005);
  for (std::size_t i = 0; i < sheet.mesh.positions.size(); ++i) {
    const Vec3d p = sheet.mesh.positions[i];
    const bool is_inner = std::fabs(p.x) < 0.049 && std::fabs(p.y) < 0.049;
    if (is_inner) continue;
    KeyframeMotion motion{.times = times, .translations = {}, .rotations = {}, .center = {}};
    for (const double t : times) motion.translations.push_back(zigzag(t) * displacement(p));
    sheet.pins.push_back({text("node ", i), {static_cast<Index>(i)}, motion});
  }
  Scene scene = energy_scene(sheet, step);
  scene.gravity = 0;
  return scene;
}
/// Area of the pairs of triangles that have rows.
double area_of_rows(const Garment& garment) {
  std::vector<char> is_pinned(garment.mesh.positions.size());
  for (const Pin& pin : garment.pins)
    for (const Index node : pin.nodes) is_pinned[static_cast<std::size_t>(node)] = 1;
  double area = 0;
  for (const TrianglePair& pair : membrane_pairs(garment.mesh, build_topology(garment.mesh), is_pinned)) {
    const auto [first, second] = areas_of(garment.mesh, pair);
    area += first + second;
  }
  return area;
}

// Shear by 8 degrees and back, friction f + g |x| of the angle x that builds up with the stiffness k = f /
// slip: of 2 (2 f x_m + g x_m^2) the corners are missing, 4 H^2 / (k + g) with H = f + g x_m.
TEST(Memory, AShearLoopHasTheAreaOf2HG) {
  const double most = std::tan(8 * std::numbers::pi / 180), step = 0.005;
  for (const auto& [friction, growth] : {std::pair{2.0, 0.0}, {2.0, 10.0}}) {
    Scene scene = between_rails([&](const Vec3d& p) { return Vec3d{most * p.y, 0, 0}; }, step);
    Garment& sheet = scene.garments[0];
    sheet.fabric.memory = {.shear_friction = friction, .shear_friction_growth = growth};
    const double slip = sheet.fabric.memory.shear_slip, steep = friction / slip,
                 top = friction + growth * most,
                 area = area_of_rows(sheet) *
                        (2 * (2 * friction * most + growth * most * most) - 4 * top * top / (steep + growth));
    Simulation simulation(scene, {.threads = 1});
    const Loop loop = loop_of(simulation, step);
    EXPECT_NEAR(loop.work() / area, 1, 0.04) << growth;
    EXPECT_NEAR(loop.lost() / area, 1, 0.01) << growth;
    expect_closed(loop.balance, 1e-3, "a loop of shear");
  }
}

// Pulled along warp between -1 and 1 % of Green's strain, less what friction builds up in.
TEST(Memory, ATensileLoopHasTheAreaOfItsFriction) {
  const double strain = 0.01, step = 0.005, friction = 2;
  Scene scene = between_rails([&](const Vec3d& p) { return Vec3d{strain * p.x, 0, 0}; }, step);
  Garment& sheet = scene.garments[0];
  sheet.fabric.stretch_stiffness = 1000;
  sheet.fabric.memory = {.stretch_friction = friction};
  Simulation simulation(scene, {.threads = 1});
  const Loop loop = loop_of(simulation, step);
  const double area = area_of_rows(sheet) * 4 * friction * (strain - sheet.fabric.memory.stretch_slip);
  EXPECT_NEAR(loop.work() / area, 1, 0.03);
  EXPECT_NEAR(loop.lost() / area, 1, 0.01);
  expect_closed(loop.balance, 1e-3, "a loop of tension");
}

// A sheet that swings and crumples, all of its laws remembering.
TEST(Memory, OfCrumpledClothLosesWhatTheBalanceSays) {
  for (const char* recipe : {"membrane", "soft_constraints"}) {
    Garment sheet = half_kilogram(9);
    sheet.pins = {{"corners", {0, 8}, FixedMotion{}}};
    const Mesh triangles = triangle_grid(9, 9, 1, 1, Diagonals::alternating);
    sheet.mesh.face_begin = triangles.face_begin;
    sheet.mesh.face_nodes = triangles.face_nodes;
    sheet.mesh.corner_uvs.clear();
    sheet.fabric.bending = BendingModel::discrete_shells;
    sheet.fabric.memory = {.bending_friction = 2e-3,
                           .bending_slip = 0.5,
                           .bending_yield = 2,
                           .stretch_friction = 0.2,
                           .stretch_yield = 0.002,
                           .shear_friction = 0.3,
                           .shear_yield = 0.05,
                           .flow_time = 0.05};
    Scene scene = energy_scene(sheet, 0.01, recipe);
    scene.projection.tolerance = 1e-5;
    scene.projection.force_tolerance = 1e-4;
    scene.projection.max_iterations = 200;
    const MeasuredBalance b = balance_of(scene, 80);
    expect_closed(b, 1e-4, recipe);
    EXPECT_GT(b.sums.loss_hysteresis, 0.01 * b.sums.energy_scale);
  }
}

}  // namespace
}  // namespace isocloth

// Cloth whose motion or rest shape is known in closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/host/batch_case.hpp"

namespace isocloth {
namespace {

constexpr double gravity = 9.8;

const ExecutionOptions one_thread{.threads = 1};  // small meshes gain nothing from more

Garment cloth(Mesh mesh) {
  Garment garment;
  garment.name = "cloth";
  garment.mesh = std::move(mesh);
  return garment;
}

Scene scene_of(Garment garment, double step, double tolerance) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments.push_back(std::move(garment));
  scene.gravity = gravity;
  scene.step = scene.duration = step;
  scene.projection.tolerance = tolerance;
  return scene;
}

/// Steps until time t; every step must meet its tolerance.
void run_until(Simulation& simulation, double t) {
  while (simulation.time() < t - simulation.scene().step / 2)
    ASSERT_EQ(simulation.step()[0].status, StepStatus::converged) << "t = " << simulation.time();
}

/// Nodes first, first + stride, ... of a grid.
std::vector<Index> every(Index first, Index stride, Index count) {
  std::vector<Index> nodes;
  for (Index i = 0; i < count; ++i) nodes.push_back(first + i * stride);
  return nodes;
}

// A strip of length L between two edges 1 m apart: L = 2 a sinh(1 / 2a), sag = a (cosh(1 / 2a) - 1).

double catenary_sag(double length) {
  double low = 0.05, high = 5;  // L falls with a
  for (int i = 0; i < 200; ++i) {
    const double a = (low + high) / 2;
    (2 * a * std::sinh(1 / (2 * a)) > length ? low : high) = a;
  }
  return low * (std::cosh(1 / (2 * low)) - 1);
}

/// Sag of the middle of a strip of `nodes` x 3 nodes that starts as an arc of a circle, all its edges
/// unstretched.
double settled_sag(Index nodes, double length) {
  const double edge = length / (nodes - 1);
  double low = 1e-6, high = std::numbers::pi / (nodes - 1);  // half the angle of an edge
  auto chord = [&](double half) { return edge * std::sin((nodes - 1) * half) / std::sin(half); };
  for (int i = 0; i < 200; ++i) {
    const double half = (low + high) / 2;
    (chord(half) > 1 ? low : high) = half;
  }
  const double radius = edge / (2 * std::sin(low)), start = (nodes - 1) * low;
  Garment garment = cloth(quad_grid(nodes, 3, length, 0.05));
  garment.fabric = {
      .density = 1, .gravity_density = 1, .bending_stiffness = 0, .mass_damping = 6, .stiffness_damping = 0};
  for (const Vec3d& p : garment.mesh.positions) {
    const double angle = start - 2 * low * std::round(p.x / edge);
    garment.initial_positions.push_back(
        {0.5 - radius * std::sin(angle), p.y, radius * (std::cos(start) - std::cos(angle))});
  }
  garment.pins = {{"left", every(0, nodes, 3), FixedMotion{}},
                  {"right", every(nodes - 1, nodes, 3), FixedMotion{}}};
  Simulation simulation(scene_of(std::move(garment), 0.02, 1e-6), one_thread);
  run_until(simulation, 6);
  EXPECT_LE(simulation.measure(0).kinetic_energy, 1e-9 * gravity * length * 0.05);
  return -simulation.positions(0)[nodes + nodes / 2].z;
}

TEST(Catenary, SagOfTheClosedForm) {
  for (const auto& [length, sag] : {std::pair{1.2, 0.292344}, {1.5, 0.502633}, {2.0, 0.796388}}) {
    ASSERT_NEAR(catenary_sag(length), sag, 1e-6);
    const double coarse = std::fabs(settled_sag(17, length) / sag - 1);
    const double fine = std::fabs(settled_sag(65, length) / sag - 1);
    EXPECT_LE(fine, 0.005) << "L = " << length;
    EXPECT_LE(fine, coarse / 8) << "second order over two halvings would be 16; L = " << length;
  }
}

// A strip of length L hung by one edge swings freely about the vertical: modes J0(j0n sqrt(s / L)), s from
// the free end, periods 4 pi / j0n sqrt(L / g).

constexpr double first_zero_of_j0 = 2.404825557695773;

/// Period of the first mode, from the zero crossings of its amplitude; modes are orthogonal in the mass.
double first_period(double length, double rho, double delta) {
  const Index nodes = 17;
  const double angle = 0.05, h = 0.0025;
  Garment garment = cloth(quad_grid(3, nodes, 0.05, length));
  for (Vec3d& p : garment.mesh.positions) {
    const double from_top = length - p.y;
    p = {p.x, from_top * std::sin(angle), -from_top * std::cos(angle)};
  }
  garment.fabric = {.density = rho,
                    .gravity_density = delta,
                    .bending_stiffness = 0,
                    .mass_damping = 0,
                    .stiffness_damping = 0};
  garment.pins = {{"top", every(3 * (nodes - 1), 1, 3), FixedMotion{}}};
  Simulation simulation(scene_of(std::move(garment), h, 1e-6), one_thread);
  auto amplitude = [&] {
    const std::vector<Vec3d> p = simulation.positions(0);
    double sum = 0;
    for (Index j = 0; j < nodes; ++j) {
      const double s = static_cast<double>(j) / (nodes - 1), mass = j == 0 ? 0.5 : 1.0;
      sum += mass * std::cyl_bessel_j(0, first_zero_of_j0 * std::sqrt(s)) * p[3 * j + 1].y;
    }
    return sum;
  };
  std::vector<double> crossings;
  double before = amplitude();
  while (crossings.size() < 3 && simulation.time() < 10) {
    EXPECT_EQ(simulation.step()[0].status, StepStatus::converged);
    const double now = amplitude();
    if ((before < 0) != (now < 0)) crossings.push_back(simulation.time() - h * now / (now - before));
    before = now;
  }
  return crossings.size() < 3 ? 0 : crossings[2] - crossings[0];
}

TEST(HangingStrip, FirstPeriodOfTheClosedForm) {
  const double length = 0.8, period = 4 * std::numbers::pi / first_zero_of_j0 * std::sqrt(length / gravity);
  ASSERT_NEAR(period, 5.22548 * std::sqrt(length / gravity), 1e-5);
  EXPECT_NEAR(first_period(length, 1, 1) / period, 1, 0.01);
}

// Gravity pulls on delta, inertia is rho: a light fabric in air swings more slowly.
TEST(HangingStrip, VirtualMassStretchesThePeriod) {
  const double length = 0.8, period = 4 * std::numbers::pi / first_zero_of_j0 * std::sqrt(length / gravity);
  EXPECT_NEAR(first_period(length, 0.9, 0.4) / period, 1.5, 0.015);
}

// A strip of length L clamped level at one end and bent by its weight: theta'' = -Gamma (1 - s) cos theta,
// theta(0) = 0, theta'(1) = 0, Gamma = delta g L^3 / D.

struct Elastica {
  double drop = 0, reach = 0;  ///< of the free end, over L
  double energy = 0;           ///< over delta g L^2 and width
};

/// Integrates from the clamp with this slope; returns the slope at the free end.
double shoot(double gamma, double slope, Elastica* shape) {
  const int steps = 2000;
  const double h = 1.0 / steps;
  double theta = 0, x = 0, z = 0, energy = 0;
  auto bend = [&](double s, double t) { return -gamma * (1 - s) * std::cos(t); };
  for (int i = 0; i < steps; ++i) {
    const double s = (i + 0.5) * h;
    const double middle = theta + h / 2 * slope, middle_slope = slope + h / 2 * bend(i * h, theta);
    x += h * std::cos(middle);
    energy += h * (middle_slope * middle_slope / (2 * gamma) - (z + h / 2 * std::sin(middle)));
    z += h * std::sin(middle);
    theta += h * middle_slope;
    slope += h * bend(s, middle);
  }
  if (shape != nullptr) *shape = {z, x, energy};
  return slope;
}

Elastica heavy_elastica(double gamma) {
  double low = 0, high = gamma;
  for (int i = 0; i < 100; ++i) {
    const double slope = (low + high) / 2;
    (shoot(gamma, slope, nullptr) < 0 ? low : high) = slope;
  }
  Elastica shape;
  shoot(gamma, low, &shape);
  return shape;
}

/// A strip of 1 m with five rows of nodes along it, clamped by two columns.
struct Strip {
  const char* recipe;
  bool is_plate;
  FaceKind faces;
  bool is_weft = false;  ///< the strip lies along weft, whose stiffness is another
};

// Two pinned columns fix the direction of the edges between them. A plate's clamp is at the second of them.
// Isometric bending is that of interior nodes: direction belongs to an edge's middle, so the clamp is half an
// edge from the first free edge, L = (along - 1.5) edges, and the outermost half edges on both sides do not
// resist, D = kappa (across - 2) / (across - 1).
Elastica settled_cantilever(const Strip& strip, double gamma) {
  const Index along = 17, across = 5;
  const double fixed = strip.is_plate ? 2 : 1.5, edge = 1 / (along - fixed), width = 4 * edge;
  const double length = edge * (along - 1), stiffness = gravity / gamma;
  const Mesh grid = strip.faces == FaceKind::quads
                        ? quad_grid(along, across, length, width)
                        : triangle_grid(along, across, length, width, Diagonals::alternating);
  Garment garment = cloth(grid);
  garment.fabric = {.density = 1,
                    .gravity_density = 1,
                    .bending_stiffness = stiffness,
                    .mass_damping = 4,
                    .stretch_stiffness = 1e5,
                    .shear_stiffness = 3e4};
  if (!strip.is_plate) garment.fabric.bending_stiffness *= (across - 1.0) / (across - 2);
  if (strip.is_weft) {
    garment.fabric.bending_stiffness = 5 * stiffness;
    garment.fabric.weft_bending_stiffness = stiffness;
    for (Vec3d& p : garment.mesh.positions) p = {-p.y, p.x, 0};
    garment.mesh.corner_uvs.clear();
  }
  if (strip.is_plate) garment.fabric.bending = BendingModel::plate;
  std::vector<Index> clamped = every(0, along, across);
  for (const Index node : every(1, along, across)) clamped.push_back(node);
  garment.pins = {{"clamp", clamped, FixedMotion{}}};
  Scene scene = scene_of(std::move(garment), 0.01, 1e-6);
  scene.recipe = strip.recipe;
  Simulation simulation(std::move(scene), one_thread);
  run_until(simulation, 3);
  const double scale = gravity * width;
  EXPECT_LE(simulation.measure(0).kinetic_energy, 1e-5 * scale);
  const Vec3d tip = simulation.positions(0)[along * (across / 2) + along - 1];
  return {-tip.z, (strip.is_weft ? tip.y : tip.x) - (fixed - 1) * edge,
          simulation.measure(0).potential_energy / scale};
}

TEST(Cantilever, RestsAsTheHeavyElastica) {
  struct Known {
    double gamma, drop, reach;
  };
  for (const auto& [gamma, drop, reach] :
       {Known{1, 0.123471, 0.991246}, {5, 0.495905, 0.846657}, {20, 0.829881, 0.445232}}) {
    const Elastica expected = heavy_elastica(gamma);
    ASSERT_NEAR(expected.drop, drop, 1e-5);
    ASSERT_NEAR(expected.reach, reach, 1e-5);
    for (const Strip& strip : {Strip{"coltraro2022", false, FaceKind::quads},
                               {"coltraro2022", true, FaceKind::quads},
                               {"membrane", true, FaceKind::quads},
                               {"membrane", true, FaceKind::triangles},
                               {"membrane", true, FaceKind::triangles, true}}) {
      SCOPED_TRACE(text(strip.recipe, strip.is_plate ? " plate" : " isometric", ", Gamma = ", gamma));
      const Elastica found = settled_cantilever(strip, gamma);
      const double bound = strip.is_plate ? 0.01 : 0.02;
      EXPECT_NEAR(found.drop / drop, 1, bound);
      EXPECT_NEAR(found.reach / reach, 1, bound);
      EXPECT_NEAR(found.energy / expected.energy, 1, 0.03);
    }
  }
}

// A strip of length L that hangs by one edge stretches by its own weight: the force per width at a height s
// above its lower edge is delta g s, and the strain there what the fabric's curve has for it.
TEST(HangingStrip, StretchesByItsCurve) {
  const auto force = [](double strain) { return 50 * strain + 4e4 * strain * strain * strain; };
  const double length = 1, density = 4;
  StressCurve curve;
  for (int i = 1; i <= 12; ++i) curve.points.push_back({i / 60.0, force(i / 60.0)});
  double expected = 0;  // integral of the strain by the middle rule
  const int parts = 1000;
  for (int i = 0; i < parts; ++i) {
    double low = 0, high = 1;
    for (int k = 0; k < 60; ++k) {
      const double middle = (low + high) / 2;
      (force(middle) > density * gravity * length * (i + 0.5) / parts ? high : low) = middle;
    }
    expected += low * length / parts;
  }
  struct Way {
    const char* recipe;
    bool is_weft;
  };
  for (const auto& [recipe, is_weft] : {Way{"membrane", false},
                                        {"membrane", true},
                                        {"soft_constraints", false},
                                        {"soft_constraints", true},
                                        {"springs", false}}) {
    const bool has_springs = std::string(recipe) == "springs";
    Mesh mesh = has_springs ? quad_grid(5, 33, 0.1, length)
                            : triangle_grid(5, 65, 0.1, length, Diagonals::alternating);
    for (Vec3d& p : mesh.positions) p = is_weft ? Vec3d{p.x, 0, p.y} : Vec3d{p.y, p.x, 0};
    mesh.corner_uvs.clear();  // warp is x, and weft z of a mesh in the plane y = 0
    Garment garment = cloth(std::move(mesh));
    garment.fabric = {.density = density,
                      .gravity_density = density,
                      .mass_damping = 12,
                      .stretch_stiffness = 100,
                      .shear_stiffness = 200};
    if (has_springs) garment.fabric.shear_stiffness = 0.01;  // its diagonals would carry, too
    (is_weft ? garment.fabric.curves.weft : garment.fabric.curves.warp) = curve;
    for (const Vec3d& p : garment.mesh.positions)  // warp is along x at rest, and hangs
      garment.initial_positions.push_back(is_weft ? p : Vec3d{0, p.y, p.x});
    garment.pins = {{"top", every(has_springs ? 5 * 32 : 5 * 64, 1, 5), FixedMotion{}}};
    Scene scene = scene_of(std::move(garment), 0.02, 1e-6);
    scene.recipe = recipe;
    Simulation simulation(std::move(scene), one_thread);
    run_until(simulation, 5);
    EXPECT_NEAR(-simulation.positions(0)[2].z / expected, 1, 0.002)
        << recipe << (is_weft ? " weft" : " warp");
  }
}

// Threads whose force is k times their elongation, viscous, and hardly any inertia: the strip creeps as a
// spring beside a dashpot does, u = u_end (1 - exp(-t / tau)) with u_end = delta g L^2 / (2 k), tau = eta /
// k, and ends with the energy width (delta g)^2 L^3 / (6 k).
TEST(HangingStrip, CreepsAsASpringBesideADashpot) {
  const double length = 1, width = 0.1, density = 0.5, stiffness = 500, tau = 0.2, load = density * gravity;
  for (const char* const recipe : {"soft_constraints", "springs"}) {
    Garment garment = cloth(quad_grid(3, 33, width, length));
    for (Vec3d& p : garment.mesh.positions) p = {p.y, p.x, 0};
    garment.mesh.corner_uvs.clear();
    garment.fabric = {
        .density = 1e-4, .gravity_density = density, .stretch_stiffness = stiffness, .shear_stiffness = 0.01};
    garment.fabric.viscosity = {.stretch = tau * stiffness, .shear = 1e-3};
    for (const Vec3d& p : garment.mesh.positions) garment.initial_positions.push_back({0, p.y, p.x});
    garment.pins = {{"top", every(3 * 32, 1, 3), FixedMotion{}}};
    Scene scene = scene_of(std::move(garment), tau / 200, 1e-8);
    scene.recipe = recipe;
    const double end = load * length * length / (2 * stiffness);
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
      Simulation simulation(scene, {.solver = solver, .threads = 1});
      for (const double t : {0.5, 1.0, 2.0, 8.0}) {
        run_until(simulation, t * tau);
        EXPECT_NEAR(-simulation.positions(0)[1].z / end, 1 - std::exp(-t), 0.005)
            << recipe << ", t / tau " << t;
      }
      EXPECT_NEAR(simulation.measure(0).elastic_energy,
                  width * load * load * length * length * length / (6 * stiffness),
                  0.005 * end * load * width)
          << recipe;
    }
  }
}

TEST(Measures, SeeTheLastElementOfALargeMesh) {
  Garment garment = cloth(quad_grid(57, 57, 0.56, 0.56));
  garment.initial_positions = garment.mesh.positions;
  garment.initial_positions.back().x += 0.005;
  Scene scene = scene_of(std::move(garment), 0.01, 1e-3);
  scene.recipe = "membrane";
  const Simulation simulation(std::move(scene), one_thread);
  EXPECT_GT(simulation.measure(0).residual, 0.3);
  EXPECT_GT(simulation.measure(0).elastic_energy, 0);
}

// Free flight.

/// A sheet rolled onto a cylinder about the x axis, so that no direction of it is flat.
Garment rolled_sheet() {
  Garment garment = cloth(quad_grid(7, 6, 0.3, 0.25));
  for (Vec3d& p : garment.mesh.positions) p = {p.x, 0.1 * std::sin(p.y / 0.1), 0.1 * std::cos(p.y / 0.1)};
  garment.mesh.corner_uvs.clear();
  garment.fabric = {.density = 0.7,
                    .gravity_density = 0.4,
                    .bending_stiffness = 1e-4,
                    .mass_damping = 0,
                    .stiffness_damping = 0};
  return garment;
}

// To rounding: forces of the rows cancel, but are 1 / eps larger than the momentum that they leave alone.
TEST(FreeFlight, MomentumFollowsGravityToRounding) {
  Garment garment = rolled_sheet();
  for (const Vec3d& p : garment.mesh.positions)
    garment.initial_velocities.push_back({3 * p.z, -2 * p.x * p.y, 0.4 - p.y});
  const double area = 0.3 * 5 * 0.2 * std::sin(0.25),
               weight = garment.fabric.gravity_density * gravity * area;
  const Scene scene = scene_of(std::move(garment), 0.005, 1e-6);
  std::vector<ExecutionOptions> ways{{.solver = StepSolver::direct, .threads = 1}};
  for (const std::string& simd : simd_names()) ways.push_back({.simd = simd, .threads = 1});
  for (const ExecutionOptions& options : ways) {
    SCOPED_TRACE(to_string(options.solver) + (" " + options.simd));
    Simulation simulation(scene, options);
    const Vec3d start = simulation.measure(0).linear_momentum;
    for (const double t : {0.005, 0.5}) {
      run_until(simulation, t);
      const Vec3d change = simulation.measure(0).linear_momentum - start;
      EXPECT_NEAR(change.x, 0, 1e-11);
      EXPECT_NEAR(change.y, 0, 1e-11);
      EXPECT_NEAR(change.z, -weight * t, 1e-11);
    }
  }
}

TEST(FreeFlight, TranslationLeavesTheShapeAlone) {
  Garment garment = rolled_sheet();
  garment.fabric.bending_stiffness = 0;
  const Vec3d velocity{1.5, -2, 0.25};
  const std::vector<Vec3d> start = garment.mesh.positions;
  garment.initial_velocities.assign(start.size(), velocity);
  Scene scene = scene_of(std::move(garment), 0.01, 1e-10);
  scene.gravity = 0;
  Simulation simulation(scene, one_thread);
  for (int n = 0; n < 50; ++n) EXPECT_LE(simulation.step()[0].iterations, 1);
  const std::vector<Vec3d> p = simulation.positions(0);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_LE(norm(p[i] - start[i] - 0.5 * velocity), 50 * 4e-16);
}

// A flat sheet turning in its own plane: the step goes along the chord x_n - x_{n-1}, the projection turns it
// back onto the circle. With e^{i phi} for x and Delta = phi_n - phi_{n-1}: Delta -> arg(2 - e^{-i Delta}),
// at first atan(omega h); the angular momentum is that of sin(Delta) / h. Backward Euler loses it, at a rate
// that vanishes with h.
TEST(FreeFlight, AngularMomentumDecaysAsBackwardEulerDictates) {
  Garment garment = cloth(quad_grid(6, 5, 0.3, 0.2));
  const double omega = 3, h = 0.01;
  for (const Vec3d& p : garment.mesh.positions)
    garment.initial_velocities.push_back({-omega * (p.y - 0.1), omega * (p.x - 0.15), 0});
  Scene scene = scene_of(std::move(garment), h, 1e-12);
  scene.gravity = 0;
  Simulation simulation(scene, one_thread);
  const double start = simulation.measure(0).angular_momentum.z;
  double turn = std::atan(omega * h);
  for (int n = 1; n <= 20; ++n) {
    ASSERT_EQ(simulation.step()[0].status, StepStatus::converged);
    EXPECT_NEAR(simulation.measure(0).angular_momentum.z / start, std::sin(turn) / (omega * h), 1e-10)
        << "step " << n;
    turn = std::atan2(std::sin(turn), 2 - std::cos(turn));
  }
}

// The same sheet, pinned, falls the same way wherever it hangs and whichever way it faces. Rows see some
// motions of a cylinder to second order only, so rounding of the rest lengths shows as its square root in
// each step.
TEST(RigidMotion, OfTheSceneMovesTheResultAlong) {
  const double angle = 0.7;
  const Vec3d shift{0.3, -0.2, 0.5};
  auto moved = [&](const Vec3d& p) {
    return Vec3d{std::cos(angle) * p.x - std::sin(angle) * p.y, std::sin(angle) * p.x + std::cos(angle) * p.y,
                 p.z} +
           shift;
  };
  Garment here = rolled_sheet(), there = here;
  for (Garment* garment : {&here, &there}) garment->pins = {{"corner", {0}, FixedMotion{}}};
  for (Vec3d& p : there.mesh.positions) p = moved(p);
  Simulation first(scene_of(std::move(here), 0.01, 1e-3), one_thread);
  Simulation second(scene_of(std::move(there), 0.01, 1e-3), one_thread);
  const int steps = 20;
  for (int n = 0; n < steps; ++n) ASSERT_EQ(first.step()[0].iterations, second.step()[0].iterations);
  const std::vector<Vec3d> p = first.positions(0), q = second.positions(0);
  double difference = 0;
  for (std::size_t i = 0; i < p.size(); ++i) difference = std::max(difference, norm(q[i] - moved(p[i])));
  EXPECT_LE(difference, steps * 0.3 * std::sqrt(std::numeric_limits<double>::epsilon()));
}

}  // namespace
}  // namespace isocloth

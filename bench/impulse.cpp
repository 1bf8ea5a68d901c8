#include "bench/impulse.hpp"

#include <algorithm>
#include <cmath>

#include "bench/runner.hpp"
#include "bench/timing.hpp"
#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/model/resolved_scene.hpp"

namespace isocloth::bench {
namespace {

/// Angle between the neighbours among `segments` equal chords of a circle whose ends are `ratio` of the
/// chords' length apart: sin(segments a / 2) = ratio segments sin(a / 2), by bisection.
double arc_angle(Index segments, double ratio) {
  double low = 0, high = std::acos(-1) / segments;
  for (int i = 0; i < 100; ++i) {
    const double a = (low + high) / 2;
    (std::sin(segments * a / 2) > ratio * segments * std::sin(a / 2) ? low : high) = a;
  }
  return low;
}

/// Node j n + i of a unit sheet bent about y so that its sides' ends are `ratio` apart, middle below.
std::vector<Vec3d> bent_sheet(const Mesh& sheet, Index n, double ratio) {
  std::vector<Vec3d> positions = sheet.positions;
  if (ratio >= 1) return positions;
  const Index segments = n - 1;
  const double a = arc_angle(segments, ratio), half = segments * a / 2;
  const double radius = 0.5 / (segments * std::sin(a / 2));
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const double angle = static_cast<double>(k % n) * a - half;
    positions[k].x = radius * (std::sin(angle) + std::sin(half));
    positions[k].z = -radius * (std::cos(angle) - std::cos(half));
  }
  return positions;
}

}  // namespace

Scene swinging_sheet(const SheetCase& c) {
  // So that explicit steps of 1/30 s are stable on every grid: with k = stiffness rho dx^2 and c alike, a
  // corner's springs give h (C/2 + sqrt(C^2/4 + K/4)) = 0.81 <= 1.
  constexpr double stiffness = 50, damping = 0.5;  // [1/s^2], [1/s]
  Scene scene;
  scene.name = "swinging sheet";
  scene.recipe = "bender_iterative";
  scene.gravity = 9.81;
  scene.step = 1.0 / 30;
  scene.duration = 500 * scene.step;
  scene.seed = c.seed;
  scene.garments.emplace_back();
  Garment& sheet = scene.garments[0];
  sheet.name = "sheet";
  sheet.mesh = quad_grid(c.side, c.side, 1, 1);
  sheet.initial_positions = bent_sheet(sheet.mesh, c.side, c.pin_ratio);
  const double angle = c.inclination * std::acos(-1) / 180;
  for (Vec3d& p : sheet.initial_positions)
    p = {p.x, std::cos(angle) * p.y + std::sin(angle) * p.z, std::cos(angle) * p.z - std::sin(angle) * p.y};
  sheet.initial_velocities.resize(sheet.mesh.positions.size());
  Random random(c.seed);
  for (std::size_t k = 0; k < sheet.initial_velocities.size(); ++k) {
    if (k == 0 || k + 1 == static_cast<std::size_t>(c.side) || random.uniform() >= c.moving_nodes) continue;
    Vec3d& v = sheet.initial_velocities[k];
    v.x = random.uniform(-1, 1);
    v.y = random.uniform(-1, 1);
    v.z = random.uniform(-1, 1);
  }
  sheet.fabric.mass_damping = c.alpha;
  if (c.springs) {
    const double node_mass = 1.0 / ((c.side - 1) * (c.side - 1));
    sheet.fabric.shear_spring =
        sheet.fabric.bend_spring = {.stiffness = stiffness * node_mass, .damping = damping * node_mass};
    sheet.fabric.shear_diagonals = 1;
  }
  sheet.pins.push_back({.name = "corners", .nodes = {0, c.side - 1}, .motion = FixedMotion{}});
  return scene;
}

Scene sheet_from_45_degrees(Index side) {
  return swinging_sheet({.side = side, .inclination = 45, .springs = false, .moving_nodes = 0, .alpha = 0.5});
}

EdgeLengths::EdgeLengths(const Mesh& mesh) : edges_(build_topology(mesh).edges) {
  for (const auto& [a, b] : edges_) lengths_.push_back(norm(mesh.positions[b] - mesh.positions[a]));
}

EdgeStrain EdgeLengths::strain(const std::vector<Vec3d>& positions) const {
  EdgeStrain result;
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const auto [a, b] = edges_[e];
    const double own = std::fabs(norm(positions[b] - positions[a]) / lengths_[e] - 1);
    if (!(own <= result.largest)) result.largest = std::isfinite(own) ? own : HUGE_VAL;
    result.mean += own / static_cast<double>(edges_.size());
  }
  return result;
}

SheetFigures run_sheet(const Scene& scene, int steps, double budget, Precision precision) {
  const EdgeLengths edges(scene.garments[0].mesh);
  const ResolvedScene resolved(scene);
  const bool edge_rows = resolved.holds_edges;
  const double tolerance = resolved.tolerance;
  // Two computations of |d| / l - 1 differ by a few roundings of coordinates of 1 m in edges of length l.
  const double rounding = 16 * (precision == Precision::float64 ? 0x1p-53 : 0x1p-24) / edges.rest_length(0);
  Simulation simulation(scene, one_thread(precision));
  SheetFigures f;
  std::int64_t sweeps = 0;
  while (f.steps < steps && f.cpu_seconds < budget) {
    StepReport report;
    f.cpu_seconds += thread_cpu_seconds([&] { report = simulation.step()[0]; });
    f.finite = !has_failed(report.status);
    if (!f.finite) break;
    ++f.steps;
    sweeps += report.iterations;
    f.sweeps_max = std::max(f.sweeps_max, report.iterations);
    f.parts = report.substeps;
    f.fallbacks += static_cast<int>(report.fallbacks);
    f.missed += report.status == StepStatus::stalled;
    f.residual_worst = std::max(f.residual_worst, report.residual);
    f.strain_final = edges.strain(simulation.positions(0)).largest;
    f.strain_worst = std::max(f.strain_worst, f.strain_final);
    f.strain_mean += f.strain_final;
    const bool met = report.status == StepStatus::converged;
    if (edge_rows)
      f.contradicted += met ? f.strain_final > tolerance + rounding : f.strain_final < tolerance - rounding;
  }
  const double done = std::max(1, f.steps);
  f.sweeps_mean = static_cast<double>(sweeps) / done;
  f.strain_mean /= done;
  return f;
}

}  // namespace isocloth::bench

// Scenes of bench/scenes with a known answer, and ours beside it.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "engine/core/text.hpp"

namespace isocloth::bench {
namespace {

/// Rows of one table; a group of scenes adds its own.
class Comparison {
 public:
  explicit Comparison(double eps) : eps_(eps) {}
  double eps() const { return eps_; }
  /// What a run reached, for the rows that follow.
  void ran(const std::string& scene, const RunFigures& figures, const Strain& strain) {
    scene_ = scene, figures_ = figures, strain_ = strain;
    say(text(scene, ": ", figures.iterations_mean, " iterations per step, ", figures.cpu_seconds, " s"));
  }
  void add(const std::string& quantity, const Json& known, double ours, const std::string& bound,
           const Json& met) {
    rows_.push_back({scene_, quantity, known, ours, bound, figures_.finite ? met : Json(false),
                     figures_.iterations_mean, figures_.iterations_max, figures_.violated_percent,
                     100 * strain_.max, 100 * strain_.stretch_max, 100 * strain_.compression_max,
                     100 * figures_.row_strain_max});
  }
  /// Relative deviation against a bound.
  void relative(const std::string& quantity, double known, double ours, double bound) {
    const double deviation = ours / known - 1;
    add(quantity, known, ours, text("found ", short_number(100 * deviation), " % off, at most ", 100 * bound),
        std::fabs(deviation) <= bound);
  }
  void at_most(const std::string& quantity, const Json& known, double ours, double bound) {
    add(quantity, known, ours, text("at most ", short_number(bound)), ours <= bound);
  }
  const std::vector<std::vector<Json>>& rows() const { return rows_; }

 private:
  double eps_;
  std::string scene_;
  RunFigures figures_;
  Strain strain_;
  std::vector<std::vector<Json>> rows_;
};

struct SceneRun {
  Simulation simulation;
  RunFigures figures;
  Measures worst;  ///< largest of each measure over some of the steps
  Strain strain;   ///< worst of all steps
};

void take_larger(Measures& worst, const Measures& m) {
  for (const auto member : {&Measures::residual, &Measures::area_error_total, &Measures::area_error_mean,
                            &Measures::area_error_dispersion, &Measures::area_error_element_max})
    worst.*member = std::max(worst.*member, m.*member);
}

/// Runs a whole scene; measures every few steps.
SceneRun run_whole(const std::string& name, Comparison& comparison, const StepObserver& observe = {}) {
  Scene scene = bench_scene(name);
  scene.projection.eps = comparison.eps();
  SceneRun run{Simulation(std::move(scene), one_thread()), {}, {}, {}};
  run.figures = run_until(run.simulation, run.simulation.scene().duration,
                          [&](const Simulation& s, const StepReport& report) {
                            keep_worst(s.strains()[0], run.strain);
                            if (s.step_index() % 5 == 0) take_larger(run.worst, s.measure(0));
                            if (observe) observe(s, report);
                          });
  comparison.ran(name, run.figures, run.strain);
  return run;
}

const std::vector<Vec3d>& rest_positions(const Simulation& simulation) {
  return simulation.scene().garments[0].mesh.positions;
}

void compare_catenary(Comparison& comparison) {
  const SceneRun run = run_whole("catenary", comparison);
  double lowest = 0;
  for (const Vec3d& p : run.simulation.positions(0)) lowest = std::min(lowest, p.z);
  comparison.relative("sag [m], L = 1.2, distance 1", 0.292344, -lowest, 0.005);
}

void compare_hanging_strip(Comparison& comparison) {
  constexpr double first_zero_of_j0 = 2.404825557695773;
  std::vector<double> crossings, weights;
  double before = 0;
  run_whole("hanging_strip", comparison, [&](const Simulation& s, const StepReport&) {
    const std::vector<Vec3d> p = s.positions(0);
    const auto nodes = p.size() / 3;
    double now = 0;  // amplitude of the first mode, J0 of the distance from the free end
    for (std::size_t j = 0; j < nodes; ++j) {
      const double mode = std::cyl_bessel_j(
          0, first_zero_of_j0 * std::sqrt(static_cast<double>(j) / static_cast<double>(nodes - 1)));
      now += (j == 0 ? 0.5 : 1.0) * mode * p[3 * j + 1].x;
    }
    if (s.step_index() > 1 && (before < 0) != (now < 0))
      crossings.push_back(s.time() - s.scene().step * now / (now - before));
    before = now;
  });
  const double period = crossings.size() < 3 ? 0 : crossings[2] - crossings[0];
  comparison.relative("first period [s], L = 1", 5.22548 * std::sqrt(1 / 9.8), period, 0.01);
}

void compare_cantilever(Comparison& comparison) {
  const SceneRun run = run_whole("cantilever", comparison);
  const std::vector<Vec3d> p = run.simulation.positions(0);
  const Vec3d tip = p[17 * 2 + 16];
  const double edge = 0.3 / 15.5;
  comparison.relative("drop / L, Gamma = 5", 0.495905, -tip.z / 0.3, 0.02);
  comparison.relative("reach / L, Gamma = 5", 0.846657, (tip.x - edge / 2) / 0.3, 0.02);
}

void compare_free_flight(Comparison& comparison) {
  Vec3d start;
  double momentum = 0, angular = 0, change = 0;
  run_whole("free_flight", comparison, [&](const Simulation& s, const StepReport&) {
    const Measures m = s.measure(0);
    if (s.step_index() == 1) start = m.linear_momentum, angular = norm(m.angular_momentum);
    momentum = std::max(momentum, norm(m.linear_momentum - start) / norm(start));
    change = norm(m.angular_momentum) / angular - 1;
  });
  comparison.at_most("relative change of linear momentum", 0, momentum, 1e-10);
  comparison.add("relative change of angular momentum in 2 s", Json(), change,
                 "none: backward Euler loses it, O(h)", Json());
}

void compare_rigid_motion(Comparison& comparison) {
  double distance = 0;
  run_whole("rigid_motion", comparison, [&](const Simulation& s, const StepReport&) {
    const Scene& scene = s.scene();
    const std::vector<Vec3d> p = s.positions(0);
    for (std::size_t i = 0; i < p.size(); ++i)
      distance = std::max(distance, norm(p[i] - evaluate_motion(scene.garments[0].pins[0].motion,
                                                                rest_positions(s)[i], 0, s.time())));
  });
  comparison.at_most("inner node's distance from the rigid sheet [m]", 0, distance, 0.003);
}

void compare_locking(Comparison& comparison) {
  const Vec3d expected{0.57, 0.57, -0.665};
  std::map<std::string, Vec3d> tips;
  for (const char* name : {"locking_quad_529", "locking_quad_900", "locking_tri_472", "locking_tri_941"}) {
    const SceneRun run = run_whole(name, comparison);
    const Vec3d tip = run.simulation.positions(0)[nearest_node(rest_positions(run.simulation), {1, 1, 0})];
    comparison.at_most(text("tip (", short_number(tip.x), ", ", short_number(tip.y), ", ",
                            short_number(tip.z), "), distance from the known one [m]"),
                       "(0.57, 0.57, -0.665)", norm(tip - expected), 0.04);
    double pair = 0;
    for (const auto& [other, position] : tips) pair = std::max(pair, norm(position - tip));
    if (!tips.empty())
      comparison.at_most("largest distance from the tips above [m]", "0.014 to 0.037", pair, 0.05);
    tips[name] = tip;
  }
  const SceneRun run = run_whole("locking_control", comparison);
  const double z = run.simulation.positions(0)[nearest_node(rest_positions(run.simulation), {1, 1, 0})].z;
  comparison.add("tip z of the sheet that must lock [m]", Json(), z, "more than -0.35", z > -0.35);
}

/// Positions of the 9 x 9 shared nodes of an nx x ny grid.
std::vector<Vec3d> shared_nodes(const std::vector<Vec3d>& p, int nx, int ny) {
  std::vector<Vec3d> shared;
  for (int j = 0; j < 9; ++j)
    for (int i = 0; i < 9; ++i)
      shared.push_back(p[static_cast<std::size_t>(j * (ny - 1) / 8 * nx + i * (nx - 1) / 8)]);
  return shared;
}

void compare_shake(Comparison& comparison) {
  std::vector<std::vector<Vec3d>> coarse;
  for (const auto& [nx, ny] : {std::pair{9, 9}, {17, 9}, {9, 17}, {17, 17}, {33, 33}}) {
    double mean = 0, area_norm = 0;
    std::size_t frame = 0;
    const SceneRun run = run_whole(text("shake_fast_", nx, "x", ny), comparison,
                                   [&, nx = nx, ny = ny](const Simulation& s, const StepReport&) {
                                     if (s.step_index() % 10 != 0 || s.time() < 2) return;
                                     const std::vector<Vec3d> shared = shared_nodes(s.positions(0), nx, ny);
                                     if (nx == 9 && ny == 9) coarse.push_back(shared);
                                     double squares = 0;
                                     for (std::size_t k = 0; k < shared.size(); ++k) {
                                       const double d = norm(shared[k] - coarse[frame][k]);
                                       const double share =
                                           (k % 9 % 8 == 0 ? 0.5 : 1) * (k / 9 % 8 == 0 ? 0.5 : 1);
                                       mean += d / 81;
                                       squares += 0.297 * 0.42 / 64 * share * d * d;
                                     }
                                     area_norm += std::sqrt(squares);
                                     ++frame;
                                   });
    comparison.at_most("total area error", "0.001", run.worst.area_error_total, 1e-3);
    comparison.at_most("mean element area error", "0.03", run.worst.area_error_mean, 0.03);
    if (nx == 9 && ny == 9) continue;
    const double frames = static_cast<double>(frame);
    comparison.at_most("mean node distance from 9x9 after 2 s [m]", Json(), mean / frames, 0.003);
    comparison.add("area-mass norm (24)-(25) of the same [m^2]", Json(), area_norm / frames, "none", Json());
  }
  const SceneRun slow = run_whole("shake_slow_9x9", comparison);
  comparison.at_most("total area error", "0.001", slow.worst.area_error_total, 1e-3);
}

void compare_tank_top(Comparison& comparison) {
  const SceneRun run = run_whole("tank_top", comparison);
  comparison.at_most("peak of the mean element area error", "about 0.01", run.worst.area_error_mean, 0.015);
  comparison.at_most("peak of its dispersion (21)", "less than 0.07", run.worst.area_error_dispersion, 0.07);
  comparison.at_most("peak of the total area error", "0.001", run.worst.area_error_total, 1e-3);
}

using Compare = void (*)(Comparison&);
const std::vector<std::pair<std::string, Compare>>& groups_of_scenes() {
  static const std::vector<std::pair<std::string, Compare>> groups = {
      {"shake", compare_shake},
      {"locking", compare_locking},
      {"tank_top", compare_tank_top},
      {"catenary", compare_catenary},
      {"hanging_strip", compare_hanging_strip},
      {"cantilever", compare_cantilever},
      {"free_flight", compare_free_flight},
      {"rigid_motion", compare_rigid_motion}};
  return groups;
}

}  // namespace

std::vector<std::string> scene_groups() {
  std::vector<std::string> names;
  for (const auto& group : groups_of_scenes()) names.push_back(group.first);
  return names;
}

std::vector<Table> compare_scenes(const std::vector<std::string>& groups, double eps, int workers) {
  std::vector<Compare> chosen;
  for (const auto& [name, compare] : groups_of_scenes())
    if (groups.empty() || std::find(groups.begin(), groups.end(), name) != groups.end())
      chosen.push_back(compare);
  std::vector<Comparison> comparisons(chosen.size(), Comparison(eps));
  for_each_case(chosen.size(), workers, [&](std::size_t i) { chosen[i](comparisons[i]); });
  Table table{
      .title = "Scenes with a known answer (double precision)",
      .columns = {"scene", "quantity", "known", "ours", "bound", "met", "iterations per step", "max",
                  "violated [%]", "edges [%]", "elements stretched [%]", "compressed [%]", "rows [%]"},
      .rows = {},
      .notes = {}};
  for (const Comparison& comparison : comparisons)
    table.rows.insert(table.rows.end(), comparison.rows().begin(), comparison.rows().end());
  return {table};
}

}  // namespace isocloth::bench

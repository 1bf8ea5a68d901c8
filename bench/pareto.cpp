// Time per simulated second against reached strain, of every solver of inextensible cloth.
#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/commands.hpp"
#include "bench/impulse.hpp"
#include "bench/plot.hpp"
#include "bench/runner.hpp"
#include "bench/timing.hpp"
#include "engine/core/text.hpp"

namespace isocloth::bench {
namespace {

constexpr double frame = 0.01;        // [s], between measurements
constexpr double least_error = 1e-6;  // that a picture shows

/// A solver with its knobs.
struct Setting {
  std::string curve, label;
  std::string recipe;
  double step = frame;  ///< [s], divides a frame
  ProjectionSettings projection{};
  ImpulseSettings impulse{};
  double stretch_stiffness = 1000, strain_limit = 0;  ///< see Fabric
};

struct Run {
  double simulated = 0, cpu_seconds = 0;      ///< [s]
  double residual = 0;                        ///< worst that the solver says
  double strain_worst = 0, strain_final = 0;  ///< over edges, from positions
  double elements_p95 = 0;                    ///< worst Strain::stretch_p95 of all frames
  double area_error = 0;                      ///< worst |area / area at rest - 1| of the whole sheet
  // [m], mean over nodes and frames; NAN: no reference
  double distance = 0, own_distance = 0;  ///< to converged projections on the same mesh
  double fine_distance = 0;               ///< to a membrane on a fine one
  double iterations = 0;                  ///< per simulated second
  std::int64_t steps = 0, missed = 0;
  bool finite = true;
};

/// Positions at the end of each frame, shape [frame][node].
using Path = std::vector<std::vector<Vec3d>>;

double whole_area(const Mesh& mesh, const std::vector<Vec3d>& positions) {
  double area = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    // A quad that is not flat: the mean of both ways to cut it.
    const Index size = mesh.face_size(f);
    for (Index k = 0; k < (size == 4 ? 4 : 1); ++k) {
      const Vec3d corner = positions[nodes[k]], next = positions[nodes[(k + 1) % size]],
                  last = positions[nodes[(k + size - 1) % size]];
      area += (size == 4 ? 0.25 : 0.5) * norm(cross(next - corner, last - corner));
    }
  }
  return area;
}

double mean_distance(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += norm(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

Scene pareto_scene(Index side, const Setting& setting, double seconds) {
  Scene scene = sheet_from_45_degrees(side);
  scene.recipe = setting.recipe;
  scene.step = setting.step;
  scene.duration = seconds;
  scene.projection = setting.projection;
  scene.projection.on_violation = OnViolation::go_on;
  scene.impulse = setting.impulse;
  Fabric& fabric = scene.garments[0].fabric;
  fabric.stretch_stiffness = setting.stretch_stiffness;
  fabric.shear_stiffness = setting.stretch_stiffness / 20;
  fabric.strain_limit = setting.strain_limit;
  return scene;
}

/// Of a grid of `to` x `to` nodes, from those of one of `from` x `from` on the same sheet: bilinear.
std::vector<Vec3d> resampled(const std::vector<Vec3d>& positions, Index from, Index to) {
  const auto split = [&](Index i) {
    const double s = static_cast<double>(i) * (from - 1) / (to - 1);
    const Index below = std::min(static_cast<Index>(s), from - 2);
    return std::pair{below, s - below};
  };
  const auto at = [&](Index row, Index column) {
    return positions[static_cast<std::size_t>(row) * static_cast<std::size_t>(from) +
                     static_cast<std::size_t>(column)];
  };
  std::vector<Vec3d> result;
  for (Index row = 0; row < to; ++row)
    for (Index column = 0; column < to; ++column) {
      const auto [r, v] = split(row);
      const auto [c, u] = split(column);
      result.push_back((1 - v) * ((1 - u) * at(r, c) + u * at(r, c + 1)) +
                       v * ((1 - u) * at(r + 1, c) + u * at(r + 1, c + 1)));
    }
  return result;
}

/// What errors are taken against, as far as it goes: motions of the same nodes.
struct References {
  const Path *isometric = nullptr, *own = nullptr, *fine = nullptr;
};

/// `path` not null: positions of each frame go there.
Run run_setting(const Scene& scene, double budget, const References& references, Path* path) {
  const Mesh& mesh = scene.garments[0].mesh;
  const EdgeLengths edges(mesh);
  const double rest_area = whole_area(mesh, mesh.positions);
  const auto frames = static_cast<std::size_t>(std::llround(scene.duration / frame));
  const int steps = static_cast<int>(std::llround(frame / scene.step));
  Simulation simulation(scene, one_thread());
  Run run;
  double iterations = 0;
  std::size_t compared = 0, compared_finely = 0;
  for (std::size_t k = 0; k < frames && run.cpu_seconds < budget; ++k) {
    for (int s = 0; s < steps; ++s) {
      StepReport report;
      run.cpu_seconds += thread_cpu_seconds([&] { report = simulation.step()[0]; });
      run.finite = !has_failed(report.status);
      if (!run.finite) break;
      ++run.steps;
      run.missed += report.status == StepStatus::stalled;
      run.residual = std::max(run.residual, report.residual);
      iterations += report.iterations;
    }
    if (!run.finite) break;
    run.simulated = frame * static_cast<double>(k + 1);
    const std::vector<Vec3d> positions = simulation.positions(0);
    run.strain_final = edges.strain(positions).largest;
    run.strain_worst = std::max(run.strain_worst, run.strain_final);
    run.elements_p95 = std::max(run.elements_p95, simulation.strains()[0].stretch_p95);
    run.area_error = std::max(run.area_error, std::fabs(whole_area(mesh, positions) / rest_area - 1));
    const auto [isometric, own, fine] = references;
    if (isometric != nullptr && own != nullptr && k < std::min(isometric->size(), own->size())) {
      run.distance += mean_distance(positions, (*isometric)[k]);
      run.own_distance += mean_distance(positions, (*own)[k]);
      ++compared;
    }
    if (fine != nullptr && k < fine->size()) {
      run.fine_distance += mean_distance(positions, (*fine)[k]);
      ++compared_finely;
    }
    if (path != nullptr) path->push_back(positions);
  }
  run.distance /= static_cast<double>(compared);
  run.own_distance /= static_cast<double>(compared);
  run.fine_distance /= static_cast<double>(compared_finely);
  run.iterations = iterations / std::max(run.simulated, frame);
  return run;
}

ProjectionSettings projection_to(double tolerance) {
  ProjectionSettings settings;
  settings.tolerance = tolerance;
  return settings;
}

std::vector<Setting> make_settings(bool quick) {
  std::vector<Setting> all;
  for (const std::string recipe : {"coltraro2022", "inextensible_edges"}) {
    const std::string curve =
        recipe == "coltraro2022" ? "projection on isometry rows" : "projection on edges";
    for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5})
      for (const double step : {0.01, 0.005, 0.0025})
        if (step == 0.01 || (!quick && (tolerance == 1e-3 || tolerance == 1e-4)))
          all.push_back({.curve = curve,
                         .label = text("tolerance ", tolerance, ", h = ", 1000 * step, " ms"),
                         .recipe = recipe,
                         .step = step,
                         .projection = projection_to(tolerance)});
  }
  for (const double limit : {0.0, 0.01, 0.001})
    for (const double stiffness : {200.0, 1000.0, 5000.0, 25000.0, 125000.0})
      for (const double step : {0.01, 0.005})
        if ((step == 0.01 || !quick) && (limit == 0 || stiffness == 1000 || stiffness == 25000))
          all.push_back(
              {.curve = limit > 0 ? "membrane with a limit of edges" : "membrane",
               .label = text(stiffness, " N/m", limit > 0 ? text(", limit ", 100 * limit, " %") : "",
                             ", h = ", 1000 * step, " ms"),
               .recipe = "membrane",
               .step = step,
               .projection = projection_to(std::min(5e-3, 100 / stiffness)),
               .stretch_stiffness = stiffness,
               .strain_limit = limit});
  for (const std::string recipe : {"bender_iterative", "isometric_impulse"}) {
    const std::string curve =
        recipe == "bender_iterative" ? "impulses on edges" : "impulses on isometry rows";
    for (const int parts : quick ? std::vector{5, 20, 100} : std::vector{2, 5, 10, 20, 50, 100, 200, 500})
      for (const int sweeps : {1, 5})
        if (sweeps == 1 || parts == 20) {
          ImpulseSettings settings;
          settings.substeps = parts;
          settings.max_sweeps = sweeps;
          all.push_back(
              {.curve = curve + ", parts",
               .label = text(parts, " parts of 10 ms, ", sweeps, sweeps == 1 ? " sweep" : " sweeps"),
               .recipe = recipe,
               .impulse = settings});
        }
    for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-4})
      for (const int parts : {1, 10})
        if (!quick || parts == 1) {
          ImpulseSettings settings;
          settings.mode = ImpulseMode::converge;
          settings.tolerance = tolerance;
          settings.substeps = parts;
          all.push_back({.curve = curve + ", converge",
                         .label = text("tolerance ", tolerance, ", ", parts, " parts of 10 ms"),
                         .recipe = recipe,
                         .impulse = settings});
        }
  }
  for (const double tolerance : {1e-2, 1e-3, 1e-4})
    for (const int parts : {1, 2, 5, 10})
      if (!quick || parts == 1) {
        ImpulseSettings settings;
        settings.mode = ImpulseMode::converge;
        settings.tolerance = tolerance;
        settings.substeps = parts;
        all.push_back({.curve = "linear system on edges",
                       .label = text("tolerance ", tolerance, ", ", parts, " parts of 10 ms"),
                       .recipe = "bender_sle",
                       .impulse = settings});
      }
  return all;
}

double simulated_seconds(Index side, bool quick) {
  const double seconds = side <= 20 ? 2 : side <= 50 ? 0.5 : 0.1;
  return quick ? std::min(seconds, side <= 20 ? 0.5 : 0.1) : seconds;
}

/// The points that no other beats in both, from left to right; the rest join `others`.
Curve front(const std::string& name, std::vector<std::pair<double, double>> points,
            std::vector<std::pair<double, double>> others) {
  Curve curve{.name = name, .points = {}, .others = std::move(others)};
  std::sort(points.begin(), points.end());
  double least = HUGE_VAL;
  for (const auto& point : points)
    if (point.second < least)
      least = point.second, curve.points.push_back(point);
    else
      curve.others.push_back(point);
  return curve;
}

/// Time against one of the errors of the runs; errors below `least_error` stand there. Runs that their budget
/// ended have seen less of the motion: they are not on a line.
Panel make_panel(const std::string& title, double Run::*error, const std::vector<Setting>& settings,
                 const std::vector<Run>& runs) {
  Panel panel{.title = title, .curves = {}};
  std::vector<std::string> names;
  for (const Setting& setting : settings)
    if (names.empty() || names.back() != setting.curve) names.push_back(setting.curve);
  for (const std::string& name : names) {
    std::vector<std::pair<double, double>> points, cut_short;
    double longest = 0;
    for (const Run& run : runs) longest = std::max(longest, run.simulated);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (settings[i].curve != name || !runs[i].finite || !(runs[i].simulated > 0)) continue;
      auto& list = runs[i].simulated < longest - frame / 2 ? cut_short : points;
      list.emplace_back(std::max(runs[i].*error, least_error), runs[i].cpu_seconds / runs[i].simulated);
    }
    if (!points.empty() || !cut_short.empty())
      panel.curves.push_back(front(name, std::move(points), std::move(cut_short)));
  }
  return panel;
}

}  // namespace

std::vector<Table> measure_pareto(const ParetoRequest& request) {
  const std::vector<Setting> settings = make_settings(request.quick);
  Table table{
      .title =
          "Time against strain: a sheet that swings from 45 degrees, hung by two corners 5 % nearer than at "
          "rest",
      .columns = {"sheet", "solver", "setting", "simulated [s]", "steps", "CPU per simulated second [s]",
                  "largest edge error of all frames", "of the last frame",
                  "95 % of elements' principal stretches, worst frame", "largest residual (own rows)",
                  "largest error of the whole area", "mean node distance to fine isometric projection [mm]",
                  "to fine projection on the same rows [mm]", "to a membrane on a fine mesh [mm]",
                  "iterations or sweeps per simulated second", "steps that missed [%]"},
      .rows = {},
      .notes = {
          "One definition for all: 1 m sheet of quads, rho = delta = 1 kg/m^2, alpha = 0.5, no springs and "
          "kappa "
          "= 0, so that the models differ by their rows alone; g = 9.81 m/s^2. Membranes have a shear "
          "stiffness of a twentieth, and a tolerance of 5e-3, or of the strain that 100 N/m stretch them by. "
          "Edge rows do not resist "
          "shear: "
          "their sheets move differently from isometric ones, whatever the solver. The largest edge error is "
          "that of all mesh edges from positions, at the end of every 10 ms, for all; isometry rows bound "
          "the "
          "error of averages over elements, not that of every edge. Parts of a mode without tolerance are "
          "counted as missed against 1e-2. One thread, double precision, processor time; a run ends after " +
          short_number(request.budget) +
          " s of it and is then not on a line of the picture. Fine: h = 1 ms up to 20 x 20, else 2.5 ms, "
          "tolerance 1e-5. The fine mesh: " +
          grid_name(request.fine_side) +
          " nodes as a membrane of 25,000 N/m at 2.5 ms, between whose nodes places are interpolated."}};
  std::vector<Panel> panels;
  // Of the longest run; each mesh sees as much of it as it simulates.
  Path on_fine_mesh;
  if (request.fine_side > 1) {
    double longest = 0;
    for (const Index side : request.sides)
      longest = std::max(longest, simulated_seconds(side, request.quick));
    const Setting setting{.curve = "",
                          .label = "",
                          .recipe = "membrane",
                          .step = 0.0025,
                          .projection = projection_to(1e-3),
                          .stretch_stiffness = 25000};
    const Run run =
        run_setting(pareto_scene(request.fine_side, setting, longest), HUGE_VAL, {}, &on_fine_mesh);
    say(text(grid_name(request.fine_side), ", fine membrane: ", run.simulated, " s simulated, ",
             run.cpu_seconds, " s, edge error ", run.strain_worst, ", missed ", run.missed, " of ",
             run.steps));
  }
  for (const Index side : request.sides) {
    const double seconds = simulated_seconds(side, request.quick);
    const char* const reference_recipes[] = {"coltraro2022", "inextensible_edges"};
    Path references[2];
    for_each_case(2, request.workers, [&](std::size_t k) {
      const Setting fine{.curve = "",
                         .label = "",
                         .recipe = reference_recipes[k],
                         .step = side <= 20 ? 0.001 : 0.0025,
                         .projection = projection_to(1e-5)};
      const Run run = run_setting(pareto_scene(side, fine, seconds), 10 * request.budget, {}, &references[k]);
      say(text(grid_name(side), ", fine, ", fine.recipe, ": ", run.simulated, " s simulated, ",
               run.cpu_seconds, " s, edge error ", run.strain_worst, ", missed ", run.missed, " of ",
               run.steps));
    });
    Path fine_here;
    for (const std::vector<Vec3d>& positions : on_fine_mesh)
      fine_here.push_back(resampled(positions, request.fine_side, side));
    std::vector<Run> runs(settings.size());
    for_each_case(settings.size(), request.workers, [&](std::size_t i) {
      const Setting& s = settings[i];
      const bool edges = find_recipe(s.recipe).holds_edges();
      runs[i] = run_setting(pareto_scene(side, s, seconds), request.budget,
                            {&references[0], &references[edges], &fine_here}, nullptr);
      say(text(grid_name(side), ", ", s.curve, ", ", s.label, ": ", runs[i].cpu_seconds / runs[i].simulated,
               " s/s, edge error ", runs[i].strain_worst, runs[i].finite ? "" : ", not finite"));
    });
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run& run = runs[i];
      table.rows.push_back({grid_name(side), settings[i].curve, settings[i].label,
                            run.finite ? Json(run.simulated) : Json(text("not finite after ", run.simulated)),
                            run.steps, run.cpu_seconds / run.simulated, run.strain_worst, run.strain_final,
                            run.elements_p95, run.residual, run.area_error, 1000 * run.distance,
                            1000 * run.own_distance, 1000 * run.fine_distance, run.iterations,
                            100 * static_cast<double>(run.missed) /
                                static_cast<double>(std::max<std::int64_t>(1, run.steps))});
    }
    const std::string nodes = grid_name(side) + " nodes: ";
    panels.push_back(make_panel(nodes + "edges", &Run::strain_worst, settings, runs));
    panels.push_back(make_panel(nodes + "95 % of elements", &Run::elements_p95, settings, runs));
    if (!on_fine_mesh.empty())
      panels.push_back(
          make_panel(nodes + "distance to a fine mesh [m]", &Run::fine_distance, settings, runs));
  }
  if (!request.svg.empty())
    write_text(request.svg, log_panels("largest relative error of all frames (not below 1e-6)",
                                       "CPU time per simulated second [s]", panels));
  return {table};
}

}  // namespace isocloth::bench

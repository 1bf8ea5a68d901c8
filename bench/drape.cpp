// Drape coefficient (Cusick's test) against mesh size and stiffness: of a ring whose inner circle is pinned,
// as published for coltraro2022, or of a membrane whose middle is clamped.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "bench/commands.hpp"
#include "bench/plot.hpp"
#include "bench/runner.hpp"
#include "engine/core/text.hpp"
#include "engine/geometry/drape_shadow.hpp"
#include "engine/mesh/generators.hpp"
#include "host/scene/rest_noise.hpp"

namespace isocloth::bench {
namespace {

constexpr double inner_radius = 0.09, outer_radius = 0.15;
constexpr double fold_height = 0.003;  ///< of the edge of the shadow [m]

DrapeShadow shadow_of(const Mesh& mesh, const std::vector<Vec3d>& positions) {
  return drape_shadow(mesh, positions, {.center = {}, .disc = inner_radius});
}

struct Case {
  int circles = 0, seed = 0;
  double kappa = 0;
  Index nodes = 0;
  double coefficient = 0, change = 0, kinetic = 0, strain = 0;
  int folds = 0;
  RunFigures figures;
};

/// A ring with its inner circle, or a disc with all of its middle.
std::pair<Mesh, std::vector<Index>> pinned_mesh(const Case& c, bool is_disc) {
  std::vector<Index> pinned;
  if (!is_disc) {
    const int around = 8 * (c.circles - 1);
    for (Index i = 0; i < around; ++i) pinned.push_back(i);
    return {ring(c.circles, around, inner_radius, outer_radius, FaceKind::quads), pinned};
  }
  const int around = static_cast<int>(std::lround(3.2 * c.circles));
  Mesh mesh = disc(c.circles, around, outer_radius, FaceKind::triangles);
  for (Index i = 0; i < mesh.node_count(); ++i)
    if (norm(mesh.positions[static_cast<std::size_t>(i)]) < inner_radius * 1.001) pinned.push_back(i);
  return {std::move(mesh), pinned};
}

void run_case(Case& c, const DrapeRequest& request) {
  Scene scene = bench_scene("ring_drape_medium");
  Garment& sheet = scene.garments[0];
  const auto [flat, pinned] = pinned_mesh(c, request.membrane);
  sheet.mesh = flat;
  add_normal_noise(sheet.mesh, 1e-4, static_cast<std::uint64_t>(c.seed));
  sheet.pins[0].nodes = pinned;
  if (request.membrane) {
    scene.recipe = "membrane";
    sheet.fabric = {.density = 0.2,
                    .gravity_density = 0.2,
                    .mass_damping = 0.6,
                    .stretch_stiffness = 1000,
                    .shear_stiffness = 50};
  }
  sheet.fabric.bending_stiffness = c.kappa;
  scene.projection.eps = request.eps;
  scene.projection.on_violation = OnViolation::go_on;
  const double whole = shadow_of(flat, flat.positions).area, duration = scene.duration;
  Simulation simulation(std::move(scene), one_thread());
  double earlier = 0;
  c.figures = run_until(simulation, duration, [&](const Simulation& s, const StepReport&) {
    if (s.step_index() % 20 == 0) c.strain = std::max(c.strain, s.strains()[0].max);
    if (std::fabs(s.time() - (duration - 0.5)) < s.scene().step / 2)
      earlier = shadow_of(flat, s.positions(0)).area / whole;
  });
  c.nodes = flat.node_count();
  const DrapeShadow shadow = shadow_of(flat, simulation.positions(0));
  c.coefficient = shadow.area / whole;
  c.folds = count_folds(shadow.radii, fold_height);
  c.change = c.coefficient - earlier;
  c.kinetic = simulation.measure(0).kinetic_energy;
  say(text(request.membrane ? "disc " : "ring ", c.nodes, " nodes, kappa ", c.kappa, ", seed ", c.seed, ": ",
           100 * c.coefficient, " %, ", c.folds, " folds, ", c.figures.iterations_mean, " iterations, ",
           c.figures.cpu_seconds, " s"));
}

std::string csv_text(const std::vector<Case>& cases) {
  std::ostringstream out;
  out << "nodes,circles,kappa,seed,drape_coefficient,folds,change_in_last_half_second,kinetic_energy,"
         "iterations_per_step,violated_percent,strain_max\n";
  for (const Case& c : cases)
    out << c.nodes << ',' << c.circles << ',' << c.kappa << ',' << c.seed << ',' << c.coefficient << ','
        << c.folds << ',' << c.change << ',' << c.kinetic << ',' << c.figures.iterations_mean << ','
        << c.figures.violated_percent << ',' << c.strain << '\n';
  return out.str();
}

struct Spread {
  double mean = 0, least = 1, most = 0;
};

Spread spread_of(const std::vector<const Case*>& runs) {
  Spread s;
  for (const Case* c : runs) {
    s.mean += c->coefficient / static_cast<double>(runs.size());
    s.least = std::min(s.least, c->coefficient);
    s.most = std::max(s.most, c->coefficient);
  }
  return s;
}

std::vector<const Case*> runs_of(const std::vector<Case>& cases, int circles, double kappa) {
  std::vector<const Case*> runs;
  for (const Case& c : cases)
    if (c.circles == circles && c.kappa == kappa) runs.push_back(&c);
  return runs;
}

/// A curve per stiffness: mean over seeds, bars from the least to the largest.
std::string svg_text(const DrapeRequest& request, const std::vector<Case>& cases) {
  const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
  Index most_nodes = 1;
  for (const Case& c : cases) most_nodes = std::max(most_nodes, c.nodes);
  auto x = [&](double nodes) { return 60 + 480 * nodes / (1.05 * most_nodes); };
  auto y = [](double coefficient) { return 320 - 290 * coefficient; };
  std::ostringstream out;
  for (int percent = 0; percent <= 100; percent += 20)
    out << "<path d='M60 " << y(percent / 100.0) << "H540' stroke='#ddd'/><text x='52' y='"
        << y(percent / 100.0) + 4 << "' text-anchor='end'>" << percent << " %</text>\n";
  const Index between = most_nodes <= 1600 ? 200 : 500;
  for (Index nodes = 0; nodes <= most_nodes; nodes += between)
    out << "<text x='" << x(nodes) << "' y='338' text-anchor='middle'>" << nodes << "</text>\n";
  out << "<text x='300' y='360' text-anchor='middle'>nodes</text><text x='60' y='18'>drape "
         "coefficient</text>\n";
  for (std::size_t k = 0; k < request.kappas.size(); ++k) {
    std::ostringstream line;
    double last = 0;
    for (const int circles : request.circles) {
      const auto runs = runs_of(cases, circles, request.kappas[k]);
      const Spread s = spread_of(runs);
      const double at = x(runs[0]->nodes);
      line << (line.tellp() == 0 ? 'M' : 'L') << at << ' ' << y(s.mean) << ' ';
      out << "<path d='M" << at << ' ' << y(s.least) << 'V' << y(s.most) << "' stroke='" << colours[k % 6]
          << "' stroke-width='4' opacity='.4'/>\n";
      last = y(s.mean);
    }
    out << "<path d='" << line.str() << "' fill='none' stroke='" << colours[k % 6]
        << "' stroke-width='2'/><text x='545' y='" << last + 4 << "' fill='" << colours[k % 6] << "'>kappa "
        << short_number(request.kappas[k]) << "</text>\n";
  }
  return svg_page(640, 370, out.str());
}

}  // namespace

std::vector<Table> measure_drape(const DrapeRequest& request) {
  std::vector<Case> cases;
  for (auto circles = request.circles.rbegin(); circles != request.circles.rend();
       ++circles)  // the longest first
    for (const double kappa : request.kappas)
      for (int seed = 1; seed <= request.seeds; ++seed)
        cases.push_back({.circles = *circles, .seed = seed, .kappa = kappa, .figures = {}});
  for_each_case(cases.size(), request.workers, [&](std::size_t i) { run_case(cases[i], request); });
  Table table{
      .title = request.membrane ? "Drape coefficient of a membrane of 0.15 m, clamped up to 0.09 m"
                                : "Drape coefficient of a ring, 0.09 to 0.15 m, on a disc",
      .columns = {"nodes", "kappa [N m]", "mean [%]", "least [%]", "largest [%]", "folds, least",
                  "folds, most", "seeds", "change in the last 0.5 s [%]", "iterations per step",
                  "violated [%]", "largest strain of an edge"},
      .rows = {},
      .notes = {
          text("(area of the shadow - disc) / (flat area - disc). ",
               request.membrane ? "Triangles, rho = delta = 0.2 kg/m^2, 1000 N/m, shear 50 N/m"
                                : "Quads, rho = delta = 1 kg/m^2, metric B",
               ", rest shape with 0.1 mm of noise, whose seed decides the folds: compare coefficients of as "
               "many folds, each is worth some two per cent.")}};
  for (const double kappa : request.kappas)
    for (const int circles : request.circles) {
      const auto runs = runs_of(cases, circles, kappa);
      const Spread s = spread_of(runs);
      double change = 0, iterations = 0, violated = 0, strain = 0;
      int fewest = runs[0]->folds, most = fewest;
      for (const Case* c : runs) {
        fewest = std::min(fewest, c->folds);
        most = std::max(most, c->folds);
        change = std::max(change, std::fabs(c->change));
        iterations += c->figures.iterations_mean / static_cast<double>(runs.size());
        violated = std::max(violated, c->figures.violated_percent);
        strain = std::max(strain, c->strain);
      }
      table.rows.push_back({runs[0]->nodes, kappa, 100 * s.mean, 100 * s.least, 100 * s.most, fewest, most,
                            request.seeds, 100 * change, iterations, violated, strain});
    }
  if (!request.csv.empty()) write_text(request.csv, csv_text(cases));
  if (!request.svg.empty()) write_text(request.svg, svg_text(request, cases));
  return {table};
}

}  // namespace isocloth::bench

// Test rigs: a tensile tester pulls and shears a specimen, and what its jaw feels is compared with what the
// fabric's curves say (Volino, Magnenat-Thalmann, Faure 2009, section 4.1 and appendix).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "bench/commands.hpp"
#include "bench/plot.hpp"
#include "bench/runner.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/kes_sheet.hpp"
#include "host/files/names.hpp"

namespace isocloth::bench {
namespace {

/// Specimens are 5 cm between jaws of 20 cm, as Kawabata's are.
constexpr double length = 0.05, width = 0.2;
constexpr int points = 40;  ///< of a curve
constexpr double seconds = 2;

/// A wool gabardine's; EMT and LT are such that neither thread is linear.
constexpr KesSheet wool{.warp = {6.3, 0.62, 0.09}, .weft = {9.0, 0.58, 0.06}, .weight = 21, .shear = 0.6};

struct Rig {
  std::string name;
  bool is_weft = false, is_shear = false;
  double most = 0;  ///< displacement over length
  /// Force per width that the fabric's curves have for an even deformation [N/m].
  double (*even)(const Fabric&, double) = nullptr;
};

/// f(C) of a law.
double stress(const std::vector<CurvePiece>& law, double c) {
  double found = 0;
  for (const CurvePiece& p : law)
    if (const double t = c - p.begin; t >= 0) found = p.value + t * (p.slope + t * (p.square + t * p.cube));
  return found;
}
/// (16): sigma (1 + d), where sigma = k f / 2 at C = (1 + d)^2 - 1.
double pulled(const StressCurve& curve, double stiffness, double d) {
  return stiffness / 2 * stress(thread_law(curve, stiffness), d * (2 + d)) * (1 + d);
}
double pulled_warp(const Fabric& f, double d) { return pulled(f.curves.warp, f.stretch_stiffness, d); }
double pulled_weft(const Fabric& f, double d) { return pulled(f.curves.weft, f.weft_stiffness(), d); }
/// (15), (16) between jaws that keep their distance: the threads between them stretch by d^2 / 2.
double sheared(const Fabric& f, double d) {
  const double stretched =
      f.stretch_stiffness / 2 * stress(thread_law(f.curves.warp, f.stretch_stiffness), d * d);
  return f.shear_stiffness * d + stretched * d;
}

const Rig rigs[] = {{"warp", false, false, 0.063, pulled_warp},
                    {"weft", true, false, 0.09, pulled_weft},
                    {"shear", false, true, std::tan(8 * std::numbers::pi / 180), sheared}};

struct Found {
  Index nodes = 0;
  std::vector<std::array<double, 2>> curve;  ///< displacement over length, force per width [N/m]
  double iterations = 0;
};

/// The jaw at x = length moves steadily; `divisions` triangles along the specimen.
Found pull(const Rig& rig, int divisions) {
  const int across = 4 * divisions;
  Scene scene;
  scene.recipe = "membrane";
  scene.gravity = 0;
  scene.step = seconds / (4 * points);
  scene.projection.tolerance = 1e-6;
  Garment specimen;
  specimen.name = "specimen";
  specimen.mesh = triangle_grid(divisions + 1, across + 1, length, width, Diagonals::alternating);
  specimen.initial_positions = specimen.mesh.positions;
  if (rig.is_weft) {  // warp is x at rest
    for (Vec3d& p : specimen.mesh.positions) p = {-p.y, p.x, 0};
    specimen.mesh.corner_uvs.clear();
  }
  specimen.fabric = kes_fabric(wool);
  specimen.fabric.alpha = 0.5;
  Pin fixed{"fixed jaw", {}, FixedMotion{}};
  for (Index j = 0; j <= across; ++j) fixed.nodes.push_back(j * (divisions + 1));
  specimen.pins = {fixed};
  const Vec3d end = rig.most * length * (rig.is_shear ? Vec3d{0, 1, 0} : Vec3d{1, 0, 0});
  Gripper jaw;
  jaw.name = "moving jaw";
  jaw.region = BoxShape{.size = {length / divisions, 1.01 * width, 0.01}};
  jaw.position = {length, width / 2, 0};
  jaw.motion =
      KeyframeMotion{.times = {0, seconds}, .translations = {{}, end}, .rotations = {}, .center = {}};
  jaw.holds = {{0, 2 * seconds}};
  specimen.grippers = {jaw};
  scene.duration = seconds;
  scene.garments.push_back(std::move(specimen));
  Simulation simulation(std::move(scene), one_thread());
  Found found{.nodes = static_cast<Index>((divisions + 1) * (across + 1)), .curve = {}};
  found.iterations =
      run_until(simulation, seconds, [&](const Simulation& s, const StepReport&) {
        if (s.step_index() % 4 != 0) return;
        const Vec3d force = s.holds(0).force;
        found.curve.push_back({rig.most * s.time() / seconds, (rig.is_shear ? force.y : force.x) / width});
      }).iterations_mean;
  say(text(rig.name, ", ", found.nodes, " nodes: ", found.curve.back()[1], " N/m"));
  return found;
}

/// Curves on linear axes, one panel per rig.
std::string svg_text(const std::vector<std::vector<Found>>& all, const Fabric& fabric) {
  std::ostringstream out;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const Rig& rig = rigs[r];
    double top = 0;
    for (const auto& [d, f] : all[r].back().curve) top = std::max({top, f, rig.even(fabric, d)});
    const double left = 60 + 300 * static_cast<double>(r), bottom = 280, wide = 220, high = 220;
    const auto x = [&](double d) { return left + wide * d / rig.most; };
    const auto y = [&](double f) { return bottom - high * f / top; };
    out << "<path d='M" << left << ' ' << bottom - high << 'V' << bottom << 'H' << left + wide
        << "' fill='none' stroke='#444'/><text x='" << left + wide / 2 << "' y='40' text-anchor='middle'>"
        << (rig.is_shear ? "shear" : "pulled along " + rig.name) << "</text>";
    for (int i = 0; i <= 4; ++i)
      out << "<text x='" << x(rig.most * i / 4) << "' y='298' text-anchor='middle'>"
          << short_number(std::round(1000 * rig.most * i / 4) / 10) << "</text><text x='" << left - 6
          << "' y='" << y(top * i / 4) + 4 << "' text-anchor='end'>"
          << short_number(std::round(10 * top * i / 4) / 10) << "</text>";
    out << "<text x='" << left + wide / 2
        << "' y='318' text-anchor='middle'>displacement over length [%]</text>\n";
    std::ostringstream line;
    for (int i = 0; i <= 200; ++i) {
      const double d = rig.most * i / 200;
      line << (i == 0 ? 'M' : 'L') << x(d) << ' ' << y(rig.even(fabric, d)) << ' ';
    }
    out << "<path d='" << line.str() << "' fill='none' stroke='#0072b2' stroke-width='2'/>\n";
    for (const auto& [d, f] : all[r].back().curve)
      out << "<circle cx='" << x(d) << "' cy='" << y(f) << "' r='2.5' fill='#d55e00'/>";
    out << '\n';
  }
  out << "<text x='60' y='18'>force per width [N/m]: </text><text x='200' y='18' fill='#0072b2'>the fabric's "
         "curve, "
         "even deformation</text><text x='470' y='18' fill='#d55e00'>what the jaw feels</text>\n";
  return svg_page(960, 330, out.str());
}

}  // namespace

std::vector<Table> measure_rigs(const std::string& svg, int workers) {
  constexpr int divisions[] = {8, 16};
  const std::size_t count = std::size(rigs);
  std::vector<std::vector<Found>> all(count, std::vector<Found>(2));
  for_each_case(2 * count, workers,
                [&](std::size_t i) { all[i / 2][i % 2] = pull(rigs[i / 2], divisions[i % 2]); });
  const Fabric fabric = kes_fabric(wool);
  Table table{
      .title = "A tensile tester: 5 cm between jaws of 20 cm, wool by its KES figures",
      .columns = {"rig", "nodes", "most [%]", "force there [N/m]", "the curve there [N/m]",
                  "farthest from the curve [% of the largest force]", "iterations per step"},
      .rows = {},
      .notes = {"160 steps of 12.5 ms, tolerance 1e-6. The curve is that of an even deformation: between "
                "jaws of shear it is uneven near the free edges, for which there is no closed form."}};
  for (std::size_t r = 0; r < count; ++r)
    for (const Found& found : all[r]) {
      double off = 0;
      for (const auto& [d, f] : found.curve) off = std::max(off, std::fabs(f - rigs[r].even(fabric, d)));
      const double last = found.curve.back()[1];
      table.rows.push_back({rigs[r].name, found.nodes, 100 * rigs[r].most, last,
                            rigs[r].even(fabric, rigs[r].most), 100 * off / last, found.iterations});
    }
  if (!svg.empty()) write_text(svg, svg_text(all, fabric));
  return {table};
}

}  // namespace isocloth::bench

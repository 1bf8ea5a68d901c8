// Test rigs: a tensile tester pulls and shears a specimen, and what its jaw feels is compared with what the
// fabric's curves say (Volino, Magnenat-Thalmann, Faure 2009, section 4.1 and appendix). A picture frame and
// a bias extension test shear it by its threads, and the force that drives them is that of its energy.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "bench/commands.hpp"
#include "bench/disc_rig.hpp"
#include "bench/plot.hpp"
#include "bench/runner.hpp"
#include "bench/sheet_rigs.hpp"
#include "engine/core/text.hpp"
#include "engine/material/kes_sheet.hpp"
#include "engine/mesh/generators.hpp"
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

/// (16): sigma (1 + d), where sigma = k f / 2 at C = (1 + d)^2 - 1.
double pulled(const StressCurve& curve, double stiffness, double d) {
  return stiffness / 2 * response(thread_law(curve, stiffness), d * (2 + d)) * (1 + d);
}
double pulled_warp(const Fabric& f, double d) { return pulled(f.curves.warp, f.stretch_stiffness, d); }
double pulled_weft(const Fabric& f, double d) { return pulled(f.curves.weft, f.weft_stiffness(), d); }
/// (15), (16) between jaws that keep their distance: the threads between them stretch by d^2 / 2.
double sheared(const Fabric& f, double d) {
  const double stretched =
      f.stretch_stiffness / 2 * response(thread_law(f.curves.warp, f.stretch_stiffness), d * d);
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
  specimen.fabric.mass_damping = 0.5;
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

/// The frame and the bias test turn threads by `angle` gamma, and the engine's energy is read on the way.
struct ShearRig {
  std::string name;
  Scene (*scene)(const ShearRig&, int divisions);
  double (*displacement)(double angle);                  ///< of the crosshead [m]
  double (*energy)(const Fabric& fabric, double angle);  ///< of threads that keep their length [J]
};
constexpr double most_angle = 30 * std::numbers::pi / 180;
constexpr double frame_side = 0.1, bias_width = 0.1, bias_length = 2 * bias_width;

/// Threads hardly stretch beside shear, as the closed forms have it.
Fabric woven() {
  Fabric fabric;
  fabric.density = fabric.gravity_density = 0.2;
  fabric.mass_damping = 0.5;
  fabric.bending_stiffness = 1e-5;
  fabric.stretch_stiffness = 20000;
  fabric.shear_stiffness = 30;
  return fabric;
}

Scene shear_scene(Garment specimen) {
  Scene scene;
  scene.recipe = "membrane";
  scene.gravity = 0;
  scene.step = seconds / (4 * points);
  scene.duration = seconds;
  scene.projection.tolerance = 1e-6;
  specimen.name = "specimen";
  specimen.fabric = woven();
  scene.garments.push_back(std::move(specimen));
  return scene;
}

/// Bars along the threads at all four edges, hinged at the corners: every point shears alike.
Scene picture_frame(const ShearRig&, int divisions) {
  Garment specimen;
  specimen.mesh = triangle_grid(divisions + 1, divisions + 1, frame_side, frame_side, Diagonals::alternating);
  Pin bars{"bars", {}, FixedMotion{}};
  RecordedMotion motion{.file = "", .times = {}, .positions = {}};
  for (Index node = 0; node < specimen.mesh.node_count(); ++node) {
    const Index i = node % (divisions + 1), j = node / (divisions + 1);
    if (i == 0 || j == 0 || i == divisions || j == divisions) bars.nodes.push_back(node);
  }
  for (int k = 0; k <= points; ++k) {
    const double half = most_angle / 2 * k / points;
    motion.times.push_back(seconds * k / points);
    for (const Index node : bars.nodes) {
      const Vec3d& p = specimen.mesh.positions[static_cast<std::size_t>(node)];
      motion.positions.push_back(
          {p.x * std::cos(half) + p.y * std::sin(half), p.x * std::sin(half) + p.y * std::cos(half), 0});
    }
  }
  bars.motion = motion;
  specimen.pins = {bars};
  return shear_scene(std::move(specimen));
}
double frame_displacement(double angle) {
  return 2 * frame_side * (std::cos(std::numbers::pi / 4 - angle / 2) - std::cos(std::numbers::pi / 4));
}
/// A G gamma_uv^2 / 2 of a fabric that is linear in shear, gamma_uv = F_u . F_v = sin(gamma).
double shear_energy(const Fabric& fabric, double area, double angle) {
  return area * fabric.shear_stiffness * std::sin(angle) * std::sin(angle) / 2;
}
double frame_energy(const Fabric& fabric, double angle) {
  return shear_energy(fabric, frame_side * frame_side, angle);
}

/// Threads at 45 degrees to the pull, between jaws that are half as wide as far.
Scene bias_extension(const ShearRig& rig, int divisions) {
  Garment specimen;
  specimen.mesh =
      triangle_grid(2 * divisions + 1, divisions + 1, bias_length, bias_width, Diagonals::alternating);
  specimen.mesh.corner_uvs.clear();
  for (const Index node : specimen.mesh.face_nodes) {
    const Vec3d& p = specimen.mesh.positions[static_cast<std::size_t>(node)];
    specimen.mesh.corner_uvs.push_back({(p.x + p.y) / std::sqrt(2.0), (p.y - p.x) / std::sqrt(2.0)});
  }
  Pin left{"left jaw", {}, FixedMotion{}}, right{"right jaw", {}, FixedMotion{}};
  for (Index j = 0; j <= divisions; ++j) {
    left.nodes.push_back(j * (2 * divisions + 1));
    right.nodes.push_back(j * (2 * divisions + 1) + 2 * divisions);
  }
  KeyframeMotion motion;
  for (int k = 0; k <= points; ++k) {
    motion.times.push_back(seconds * k / points);
    motion.translations.push_back({rig.displacement(most_angle * k / points), 0, 0});
  }
  right.motion = motion;
  specimen.pins = {left, right};
  return shear_scene(std::move(specimen));
}
/// Threads from jaw to free edge keep their length: the square in the middle shears by gamma.
double bias_displacement(double angle) {
  const double middle = bias_length - bias_width;
  return middle * (std::sqrt(2.0) * std::cos(std::numbers::pi / 4 - angle / 2) - 1);
}
/// The middle by gamma, what lies between it and the triangles at the jaws by half of that.
double bias_energy(const Fabric& fabric, double angle) {
  const double square = bias_width * bias_width;
  return shear_energy(fabric, square / 2, angle) + shear_energy(fabric, square, angle / 2);
}

const ShearRig shear_rigs[] = {{"picture frame", picture_frame, frame_displacement, frame_energy},
                               {"bias extension", bias_extension, bias_displacement, bias_energy}};

/// Force of the crosshead [N] between one point and the next, from energies at both.
double driving_force(const ShearRig& rig, double energy, double before, int point) {
  return (energy - before) / (rig.displacement(most_angle * point / points) -
                              rig.displacement(most_angle * (point - 1) / points));
}

Found shear(const ShearRig& rig, int divisions) {
  Simulation simulation(rig.scene(rig, divisions), one_thread());
  Found found{.nodes = simulation.info(0).node_count, .curve = {}};
  double before = 0;
  found.iterations = run_until(simulation, seconds, [&](const Simulation& s, const StepReport&) {
                       if (s.step_index() % 4 != 0) return;
                       const int point = static_cast<int>(s.step_index() / 4);
                       const double energy = s.measure(0).elastic_energy;
                       found.curve.push_back(
                           {most_angle * (point - 0.5) / points, driving_force(rig, energy, before, point)});
                       before = energy;
                     }).iterations_mean;
  say(text(rig.name, ", ", found.nodes, " nodes: ", found.curve.back()[1], " N"));
  return found;
}

constexpr int shear_divisions[] = {8, 16, 32, 64, 128};
constexpr std::size_t sizes = std::size(shear_divisions);

Table shear_table(const std::vector<Found>& all) {
  const Fabric fabric = woven();
  Table table{
      .title = "Shear by threads: a picture frame of 10 cm, bias extension of 20 x 10 cm",
      .columns = {"rig", "nodes", "force at 7.5 degrees [N]", "at 15", "at 30",
                  "of threads that keep their length at 7.5 [N]", "at 15", "at 30", "iterations per step"},
      .rows = {},
      .notes = {"Force of the crosshead by its work on the elastic energy."}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ShearRig& rig = shear_rigs[i / sizes];
    std::vector<Json> row{rig.name, all[i].nodes};
    std::vector<Json> expected;
    for (const int point : {points / 4, points / 2, points}) {
      const auto energy = [&](int k) { return rig.energy(fabric, most_angle * k / points); };
      row.push_back(all[i].curve[static_cast<std::size_t>(point) - 1][1]);
      expected.push_back(driving_force(rig, energy(point), energy(point - 1), point));
    }
    row.insert(row.end(), expected.begin(), expected.end());
    row.push_back(all[i].iterations);
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The same in all directions, as disc_forces() has it.
Fabric isotropic() {
  Fabric fabric;
  fabric.density = fabric.gravity_density = 0.2;
  fabric.stretch_stiffness = 1000;
  fabric.shear_stiffness = 500;
  return fabric;
}
constexpr int disc_circles[] = {9, 17, 33};
std::vector<double> closed_disc_forces(const DiscTest& test) {
  std::vector<double> depths;
  for (const auto& [depth, force] : test.curve) depths.push_back(depth);
  return disc_forces(isotropic().stretch_stiffness, depths, 200);
}

Table disc_table(const std::vector<DiscTest>& isotropic_cloth, const std::vector<DiscTest>& of_wool) {
  Table table{.title = "A disc of 6 cm pressed into cloth on a round frame of 30 cm",
              .columns = {"cloth", "nodes", "force at 25 mm [N]", "at 50 mm", "off [%]", "off there [%]",
                          "iterations per step"},
              .rows = {},
              .notes = {"Off: of cloth that is alike in all directions from the membrane on a radius, see "
                        "disc_forces(); of wool by its KES figures from the finest mesh."}};
  const auto add = [&](const char* name, const DiscTest& test, double half, double whole) {
    const double at_half = test.curve[test.curve.size() / 2 - 1][1], at_end = test.curve.back()[1];
    table.rows.push_back({name, test.nodes, at_half, at_end, 100 * (at_half / half - 1),
                          100 * (at_end / whole - 1), test.iterations});
  };
  for (const DiscTest& test : isotropic_cloth) {
    const std::vector<double> closed = closed_disc_forces(test);
    add("1,000 N/m in all directions", test, closed[closed.size() / 2 - 1], closed.back());
  }
  for (const DiscTest& test : of_wool) {
    const auto& fine = of_wool.back().curve;
    add("wool", test, fine[fine.size() / 2 - 1][1], fine.back()[1]);
  }
  return table;
}

/// One rig on linear axes: dots over a line.
struct RigPanel {
  std::string title, x_label;
  double most = 0;  ///< of x
  std::vector<std::array<double, 2>> dots, line;
};

std::string svg_text(const std::vector<RigPanel>& panels) {
  std::ostringstream out;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const RigPanel& panel = panels[k];
    double top = 0;
    for (const auto* curve : {&panel.dots, &panel.line})
      for (const auto& point : *curve) top = std::max(top, point[1]);
    const double left = 60 + 300 * static_cast<double>(k % 3), wide = 220, high = 220;
    const double bottom = 280 + 300 * static_cast<double>(k / 3);
    const auto x = [&](double d) { return left + wide * d / panel.most; };
    const auto y = [&](double f) { return bottom - high * f / top; };
    out << "<path d='M" << left << ' ' << bottom - high << 'V' << bottom << 'H' << left + wide
        << "' fill='none' stroke='#444'/><text x='" << left + wide / 2 << "' y='" << bottom - high - 20
        << "' text-anchor='middle'>" << panel.title << "</text>";
    for (int i = 0; i <= 4; ++i)
      out << "<text x='" << x(panel.most * i / 4) << "' y='" << bottom + 18 << "' text-anchor='middle'>"
          << short_number(std::round(10 * panel.most * i / 4) / 10) << "</text><text x='" << left - 6
          << "' y='" << y(top * i / 4) + 4 << "' text-anchor='end'>"
          << short_number(std::round(10 * top * i / 4) / 10) << "</text>";
    out << "<text x='" << left + wide / 2 << "' y='" << bottom + 36 << "' text-anchor='middle'>"
        << panel.x_label << "</text>\n<path d='";
    for (std::size_t i = 0; i < panel.line.size(); ++i)
      out << (i == 0 ? 'M' : 'L') << x(panel.line[i][0]) << ' ' << y(panel.line[i][1]) << ' ';
    out << "' fill='none' stroke='#0072b2' stroke-width='2'/>\n";
    for (const auto& [d, f] : panel.dots)
      out << "<circle cx='" << x(d) << "' cy='" << y(f) << "' r='2.5' fill='#d55e00'/>";
    out << '\n';
  }
  out << "<text x='60' y='18'>force per width of the tester [N/m], of the others [N]: </text><text "
         "x='450' y='18' fill='#0072b2'>closed form</text><text x='545' y='18' "
         "fill='#d55e00'>isocloth</text>\n";
  return svg_page(960, 330 + 300 * static_cast<double>((panels.size() - 1) / 3), out.str());
}

RigPanel panel_of(const Rig& rig, const Found& found, const Fabric& fabric) {
  RigPanel panel{.title = rig.is_shear ? "shear" : "pulled along " + rig.name,
                 .x_label = "displacement over length [%]",
                 .most = 100 * rig.most,
                 .dots = {},
                 .line = {}};
  for (const auto& [d, f] : found.curve) panel.dots.push_back({100 * d, f});
  for (int i = 0; i <= 200; ++i) {
    const double d = rig.most * i / 200;
    panel.line.push_back({100 * d, rig.even(fabric, d)});
  }
  return panel;
}
RigPanel panel_of(const ShearRig& rig, const Found& found) {
  const auto degrees = [](double angle) { return angle * 180 / std::numbers::pi; };
  RigPanel panel{.title = rig.name,
                 .x_label = "shear of threads [degrees]",
                 .most = degrees(most_angle),
                 .dots = {},
                 .line = {}};
  const Fabric fabric = woven();
  for (int point = 1; point <= points; ++point) {
    const auto [angle, force] = found.curve[static_cast<std::size_t>(point) - 1];
    panel.dots.push_back({degrees(angle), force});
    const auto energy = [&](int k) { return rig.energy(fabric, most_angle * k / points); };
    panel.line.push_back({degrees(angle), driving_force(rig, energy(point), energy(point - 1), point)});
  }
  return panel;
}

RigPanel panel_of(const DiscTest& test) {
  RigPanel panel{.title = "disc of 6 cm in a frame of 30 cm",
                 .x_label = "depth [mm]",
                 .most = 1000 * disc_depth,
                 .dots = {},
                 .line = {}};
  const std::vector<double> closed = closed_disc_forces(test);
  for (std::size_t i = 0; i < test.curve.size(); ++i) {
    panel.dots.push_back({1000 * test.curve[i][0], test.curve[i][1]});
    panel.line.push_back({1000 * test.curve[i][0], closed[i]});
  }
  return panel;
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
  std::vector<Found> sheared(std::size(shear_rigs) * sizes);
  for_each_case(sheared.size(), workers, [&](std::size_t i) {
    sheared[i] = shear(shear_rigs[i / sizes], shear_divisions[i % sizes]);
  });
  constexpr std::size_t discs = std::size(disc_circles);
  std::vector<DiscTest> pressed(2 * discs);
  for_each_case(pressed.size(), workers, [&](std::size_t i) {
    pressed[i] = press_disc(i < discs ? isotropic() : fabric, disc_circles[i % discs]);
  });
  const std::vector<DiscTest> alike(pressed.begin(), pressed.begin() + discs),
      woollen(pressed.begin() + discs, pressed.end());
  if (!svg.empty()) {
    std::vector<RigPanel> panels;
    for (std::size_t r = 0; r < count; ++r) panels.push_back(panel_of(rigs[r], all[r].back(), fabric));
    for (std::size_t r = 0; r < std::size(shear_rigs); ++r)
      panels.push_back(panel_of(shear_rigs[r], sheared[(r + 1) * sizes - 1]));
    panels.push_back(panel_of(alike.back()));
    write_text(svg, svg_text(panels));
  }
  return {table, shear_table(sheared), disc_table(alike, woollen), sheet_table()};
}

}  // namespace isocloth::bench

#include "bench/sheet_rigs.hpp"

#include <cmath>
#include <numbers>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "engine/mesh/generators.hpp"
#include "host/run/equilibrium_search.hpp"

namespace isocloth::bench {

const KesSheet kes_suiting{.warp = {6.3, 0.62, 0.09}, .weft = {9.0, 0.58, 0.06}, .weight = 21, .shear = 0.6};
const FastSheet fast_suiting{.warp = {0.6, 1.7, 3.1, 9.1},
                             .weft = {0.9, 2.6, 5.2, 6.4},
                             .bias = 3.4,
                             .weight = 185,
                             .thickness = 0.42};

namespace {

enum class Lay { warp, weft, bias };
constexpr double gf_per_cm = 0.980665, degree = std::numbers::pi / 180;
constexpr double seconds = 4;
constexpr int steps = 320;

/// Where the threads lie on a sheet in the plane z = 0.
void lay(Mesh& mesh, Lay threads) {
  mesh.corner_uvs.clear();
  const double turn = threads == Lay::warp ? 0 : threads == Lay::weft ? -90 * degree : -45 * degree;
  const double c = std::cos(turn), s = std::sin(turn);
  for (const Index node : mesh.face_nodes) {
    const Vec3d& p = mesh.positions[static_cast<std::size_t>(node)];
    mesh.corner_uvs.push_back({c * p.x - s * p.y, s * p.x + c * p.y});
  }
}

/// Force per width on the moving jaw [N/m] against its displacement over the length.
struct Curve {
  std::vector<double> displacement, force;
  double at(double x) const { return between(displacement, force, x); }
  double where(double f) const { return between(force, displacement, f); }

 private:
  static double between(const std::vector<double>& xs, const std::vector<double>& ys, double x) {
    for (std::size_t i = 1; i < xs.size(); ++i)
      if (xs[i] >= x) return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    return std::nan("");
  }
};

struct Specimen {
  Fabric fabric;
  Lay threads = Lay::warp;
  double length = 0, width = 0;
  int along = 8, across = 8;
};

/// Of the jaw at x = length, over its length.
struct Way {
  Vec3d by;            ///< straight on
  double turn_to = 0;  ///< or, where this is not 0, on the arc on which threads keep their length [rad]

  double most() const { return turn_to > 0 ? turn_to : norm(by); }
  Vec3d at(double part) const {
    const double angle = part * turn_to;
    return turn_to > 0 ? Vec3d{std::cos(angle) - 1, std::sin(angle), 0} : part * by;
  }
  /// In which force is measured.
  Vec3d direction() const { return turn_to > 0 ? Vec3d{0, 1, 0} : normalized(by); }
};

Curve tested(const Specimen& specimen, const Way& way) {
  Scene scene;
  scene.gravity = 0;
  scene.step = seconds / steps;
  scene.duration = seconds;
  scene.projection.tolerance = 1e-7;
  Garment cloth;
  cloth.name = "specimen";
  cloth.mesh = triangle_grid(specimen.along + 1, specimen.across + 1, specimen.length, specimen.width,
                             Diagonals::alternating);
  lay(cloth.mesh, specimen.threads);
  cloth.fabric = specimen.fabric;
  cloth.fabric.mass_damping = 2;
  Pin fixed{"fixed jaw", {}, FixedMotion{}};
  for (Index j = 0; j <= specimen.across; ++j) fixed.nodes.push_back(j * (specimen.along + 1));
  cloth.pins = {fixed};
  Gripper jaw;
  jaw.name = "moving jaw";
  jaw.region = BoxShape{.size = {specimen.length / specimen.along, 1.01 * specimen.width, 0.01}};
  jaw.position = {specimen.length, specimen.width / 2, 0};
  KeyframeMotion motion;
  constexpr int parts = 32;
  for (int k = 0; k <= parts; ++k) {
    const double part = static_cast<double>(k) / parts;
    motion.times.push_back(seconds * part);
    motion.translations.push_back(specimen.length * way.at(part));
  }
  jaw.motion = motion;
  jaw.holds = {{0, 2 * seconds}};
  cloth.grippers = {jaw};
  scene.garments.push_back(std::move(cloth));
  Simulation simulation(std::move(scene), one_thread());
  Curve curve{.displacement = {0}, .force = {0}};
  run_until(simulation, seconds, [&](const Simulation& s, const StepReport&) {
    curve.displacement.push_back(way.most() * s.time() / seconds);
    curve.force.push_back(dot(s.holds(0).force, way.direction()) / specimen.width);
  });
  return curve;
}

/// Of the line from the edge of the table to the end of a strip that hangs over it by `overhang` [degrees].
double angle(const Fabric& fabric, Lay threads, double overhang) {
  constexpr Index along = 41, across = 3;
  const double edge = overhang / (along - 2);
  Scene scene;
  scene.gravity = 9.80665;
  Garment strip;
  strip.name = "strip";
  strip.mesh = quad_grid(along, across, edge * (along - 1), 4 * edge);
  lay(strip.mesh, threads);
  strip.fabric = fabric;
  strip.fabric.mass_damping = 2;
  Pin table{"table", {}, FixedMotion{}};
  for (Index j = 0; j < across; ++j)
    for (const Index i : {0, 1}) table.nodes.push_back(j * along + i);
  strip.pins = {table};
  scene.garments.push_back(std::move(strip));
  Simulation simulation(std::move(scene), one_thread());
  EquilibriumSearch search(simulation, {.tolerance = 1e-4});
  for (int i = 0; i < 400 && !search.has_converged(); ++i) search.step();
  const Vec3d tip = simulation.positions(0)[along + along - 1];
  return std::atan2(-tip.z, tip.x - edge) / degree;
}

/// Half of the overhang at 41.5 degrees [m], by regula falsi.
double bending_length(const Fabric& fabric, Lay threads) {
  double low = 0.01, high = 0.06;
  double below = angle(fabric, threads, low) - 41.5, above = angle(fabric, threads, high) - 41.5;
  double middle = low;
  for (int i = 0; i < 12; ++i) {
    // With a bisection now and then, as the angle is far from a line.
    middle = i % 3 == 2 ? (low + high) / 2 : low + (high - low) * below / (below - above);
    const double found = angle(fabric, threads, middle) - 41.5;
    if (std::fabs(found) < 0.005) break;
    (found < 0 ? low : high) = middle;
    (found < 0 ? below : above) = found;
  }
  return middle / 2;
}

}  // namespace

std::vector<SheetFigure> test_kes(const KesSheet& sheet) {
  const Fabric fabric = kes_fabric(sheet);
  std::vector<SheetFigure> all;
  for (const auto& [name, threads, thread] :
       {std::tuple{"warp", Lay::warp, sheet.warp}, {"weft", Lay::weft, sheet.weft}}) {
    const std::string of = std::string(", ") + name;
    const double full = 500 * gf_per_cm;
    const Curve curve =
        tested({fabric, threads, 0.05, 0.2, 4, 16}, {.by = {1.05 * thread.extension / 100, 0, 0}});
    const double extension = curve.where(full);
    all.push_back({"EMT" + of, thread.extension, 100 * extension});
    double work = 0;
    constexpr int parts = 500;
    for (int i = 0; i < parts; ++i) work += curve.at(extension * (i + 0.5) / parts) * extension / parts;
    all.push_back({"LT" + of, thread.linearity, work / (full * extension / 2)});
    const double length = bending_length(fabric, threads);
    all.push_back({"B" + of, thread.bending, fabric.density * 9.80665 * std::pow(length, 3) / 98.0665e-6});
  }
  // The jaw is free to follow, under a tension that is little beside what threads resist.
  const Curve curve = tested({fabric, Lay::warp, 0.05, 0.2, 8, 32}, {.by = {}, .turn_to = 3 * degree});
  const double slope = (curve.at(2.5 * degree) - curve.at(0.5 * degree)) / (2 * gf_per_cm);
  all.push_back({"G", sheet.shear, slope});
  return all;
}

std::vector<SheetFigure> test_fast(const FastSheet& sheet) {
  const Fabric fabric = fast_fabric(sheet);
  std::vector<SheetFigure> all;
  for (const auto& [name, threads, thread] :
       {std::tuple{"warp", Lay::warp, sheet.warp}, {"weft", Lay::weft, sheet.weft}}) {
    const std::string of = std::string(", ") + name;
    const Curve curve =
        tested({fabric, threads, 0.1, 0.05, 8, 4}, {.by = {1.05 * thread.at_100 / 100, 0, 0}});
    all.push_back({"E5" + of, thread.at_5, 100 * curve.where(5 * gf_per_cm)});
    all.push_back({"E20" + of, thread.at_20, 100 * curve.where(20 * gf_per_cm)});
    all.push_back({"E100" + of, thread.at_100, 100 * curve.where(100 * gf_per_cm)});
    const double sheet_length = std::cbrt(thread.bending / (9.80665e-6 * sheet.weight));
    all.push_back({"C" + of, sheet_length, 1000 * bending_length(fabric, threads)});
  }
  for (const int across : {4, 12, 24}) {
    const double width = 0.05 * across / 12;
    const Curve curve =
        tested({fabric, Lay::bias, 0.1, width, 24, across}, {.by = {2 * sheet.bias / 100, 0, 0}});
    all.push_back({"EB5 of " + std::to_string(std::lround(1000 * width)) + " mm between jaws", sheet.bias,
                   100 * curve.where(5 * gf_per_cm)});
  }
  return all;
}

Table sheet_table() {
  Table table{
      .title = "Sheets through the rigs: a fabric from its figures, tested as they are measured",
      .columns = {"sheet", "figure", "on the sheet", "by the rig", "off [%]"},
      .rows = {},
      .notes = {"Cloth between jaws cannot narrow there: a strip on the bias stretches less the wider "
                "it is, G = 123 / EB5 is that of a narrow one."}};
  const auto add = [&](const char* name, const std::vector<SheetFigure>& figures) {
    for (const SheetFigure& f : figures)
      table.rows.push_back({name, f.name, f.sheet, f.rig, 100 * (f.rig / f.sheet - 1)});
  };
  add("KES", test_kes(kes_suiting));
  add("FAST", test_fast(fast_suiting));
  return table;
}

}  // namespace isocloth::bench

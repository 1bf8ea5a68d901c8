// Bender and Bayer, Figure 4: the same sheet at rest with four tolerances, drawn.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>

#include "bench/commands.hpp"
#include "bench/impulse.hpp"
#include "bench/runner.hpp"
#include "engine/core/text.hpp"

namespace isocloth::bench {
namespace {

constexpr std::array<const char*, 4> names{"10", "1", "0p1", "0p01"};
constexpr double scale = 260, panel_width = 310, panel_height = 460;  // [px/m], [px], [px]

struct Colour {
  double r, g, b;
};

/// Of a strain between 1e-5 (blue) and 1e-1 (red), by its logarithm.
Colour strain_colour(double strain) {
  constexpr std::array<Colour, 5> stops{
      {{49, 54, 149}, {116, 173, 209}, {255, 255, 191}, {253, 174, 97}, {165, 0, 38}}};
  const double at = std::clamp(std::log10(std::max(strain, 1e-9)) + 5, 0.0, 3.999999);
  const auto k = static_cast<std::size_t>(at);
  const double s = at - static_cast<double>(k);
  const auto mix = [&](double a, double b) { return a + s * (b - a); };
  return {mix(stops[k].r, stops[k + 1].r), mix(stops[k].g, stops[k + 1].g), mix(stops[k].b, stops[k + 1].b)};
}

std::string hex(const Colour& c, double light) {
  char buffer[8];
  const auto byte = [&](double value) { return static_cast<unsigned>(std::lround(light * value)) & 0xffu; };
  std::snprintf(buffer, sizeof buffer, "#%02x%02x%02x", byte(c.r), byte(c.g), byte(c.b));
  return buffer;
}

/// Faces from the farthest to the nearest, seen from 25 degrees to the side and 12 above, coloured by the
/// largest strain of their edges. `origin` comes to (0, 0).
void draw_sheet(std::ostream& out, const Mesh& mesh, const std::vector<Vec3d>& positions,
                const Vec3d& origin) {
  const double side = 25 * std::acos(-1) / 180, above = 12 * std::acos(-1) / 180;
  const Vec3d right{std::cos(side), std::sin(side), 0},
      toward{std::sin(side) * std::cos(above), -std::cos(side) * std::cos(above), std::sin(above)},
      up = cross(toward, right);
  struct Face {
    double depth, strain, light;
    Index index;
  };
  const auto at = [&](Index node) { return positions[static_cast<std::size_t>(node)]; };
  const auto rest = [&](Index node) { return mesh.positions[static_cast<std::size_t>(node)]; };
  std::vector<Face> faces;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    const auto size = static_cast<std::size_t>(mesh.face_size(f));
    Face face{.depth = 0, .strain = 0, .light = 1, .index = f};
    for (std::size_t k = 0; k < size; ++k) {
      const Index a = nodes[k], b = nodes[(k + 1) % size];
      face.depth += dot(at(a), toward) / static_cast<double>(size);
      face.strain = std::max(face.strain, std::fabs(norm(at(b) - at(a)) / norm(rest(b) - rest(a)) - 1));
    }
    const Vec3d normal = cross(at(nodes[2]) - at(nodes[0]), at(nodes[size - 1]) - at(nodes[1]));
    if (norm(normal) > 0) face.light = 0.6 + 0.4 * std::fabs(dot(normalized(normal), toward));
    faces.push_back(face);
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.depth < b.depth; });
  out.precision(5);
  for (const Face& face : faces) {
    const std::string colour = hex(strain_colour(face.strain), face.light);
    out << "<path fill='" << colour << "' stroke='" << hex(strain_colour(face.strain), 0.75 * face.light)
        << "' d='";
    char pen = 'M';
    for (Index k = 0; k < mesh.face_size(face.index); ++k, pen = 'L') {
      const Vec3d p = at(mesh.face(face.index)[static_cast<std::size_t>(k)]) - origin;
      out << pen << std::round(10 * scale * dot(p, right)) / 10 << ' '
          << std::round(-10 * scale * dot(p, up)) / 10;
    }
    out << "Z'/>\n";
  }
}

void draw_scale(std::ostream& out) {
  const double left = panel_width * 2 - 200, top = panel_height - 22;
  for (int k = 0; k < 80; ++k)
    out << "<rect x='" << left + 5 * k << "' y='" << top << "' width='5.5' height='10' fill='"
        << hex(strain_colour(std::pow(10, -5 + k / 20.0)), 1) << "'/>\n";
  const char* const labels[] = {"0.001 %", "0.01 %", "0.1 %", "1 %", "10 %"};
  for (int k = 0; k < 5; ++k)
    out << "<text x='" << left + 100 * k << "' y='" << top - 4 << "' text-anchor='middle'>" << labels[k]
        << "</text>\n";
  out << "<text x='" << left - 40 << "' y='" << top + 9
      << "' text-anchor='end'>largest strain of a face's edges</text>\n";
}

}  // namespace

std::vector<Table> draw_figure4(const std::filesystem::path& svg, int workers) {
  Table table{
      .title = "Bender and Bayer, Figure 4: 40 x 40 nodes at four tolerances",
      .columns = {"tolerance [%]", "constraints", "steps", "missed", "largest strain at the end [%]",
                  "mean [%]", "lowest node [m]", "kinetic energy [J]", "CPU time [s]"},
      .rows = {},
      .notes = {
          "The corners come 5 % nearer within the first second and stay: at their distance at rest tight "
          "tolerances are not feasible. Drawn: seen from 25 degrees to the side and 12 above."}};
  table.rows.resize(names.size());
  std::array<std::string, names.size()> pictures;
  for_each_case(names.size(), workers, [&](std::size_t i) {
    const Scene scene = bench_scene(std::string("bender_figure4_") + names[i]);
    const Mesh& mesh = scene.garments[0].mesh;
    Simulation simulation(scene, one_thread());
    const RunFigures run = run_until(simulation, scene.duration);
    const std::vector<Vec3d> positions = simulation.positions(0);
    const EdgeLengths edges(mesh);
    const EdgeStrain strain = edges.strain(positions);
    double lowest = HUGE_VAL;
    for (const Vec3d& p : positions) lowest = std::min(lowest, p.z);
    table.rows[i] = {100 * scene.impulse.tolerance,
                     edges.count(),
                     run.finite ? Json(run.steps) : Json(text("not finite after ", run.steps)),
                     std::lround(run.violated_percent * static_cast<double>(run.steps) / 100),
                     100 * strain.largest,
                     100 * strain.mean,
                     lowest,
                     simulation.measure(0).kinetic_energy,
                     run.cpu_seconds};
    Vec3d between_pins;
    for (const Pin& pin : scene.garments[0].pins)
      between_pins += 0.5 * positions[static_cast<std::size_t>(pin.nodes[0])];
    std::ostringstream picture;
    picture << "<g transform='translate(" << panel_width * (static_cast<double>(i) + 0.5)
            << " 90)' stroke-width='.4'>\n";
    draw_sheet(picture, mesh, positions, between_pins);
    picture << "</g>\n<text x='" << panel_width * (static_cast<double>(i) + 0.5)
            << "' y='24' text-anchor='middle' font-size='15'>tolerance "
            << short_number(100 * scene.impulse.tolerance) << " %, reached "
            << short_number(100 * strain.largest) << " %</text>\n";
    pictures[i] = picture.str();
    say(text(names[i], ": strain ", strain.largest, ", ", run.iterations_mean, " sweeps a step, ",
             run.cpu_seconds, " s"));
  });
  if (!svg.empty()) {
    std::ostringstream out;
    const double width = panel_width * static_cast<double>(names.size());
    out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << panel_height
        << "' font-family='sans-serif' font-size='12' stroke-linejoin='round'>\n<rect width='" << width
        << "' height='" << panel_height << "' fill='white'/>\n";
    for (const std::string& picture : pictures) out << picture;
    draw_scale(out);
    out << "</svg>\n";
    write_text(svg, out.str());
  }
  return {table};
}

}  // namespace isocloth::bench

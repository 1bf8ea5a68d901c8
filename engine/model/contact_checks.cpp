#include "engine/model/contact_checks.hpp"

// What may be asked of contact.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/enum_check.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

/// The first shortest of edges.
struct ShortestEdge {
  double length = HUGE_VAL;  ///< [m]
  Index a = -1, b = -1;
  void add(const ShortestEdge& edge) {
    if (edge.length < length) *this = edge;
  }
};

/// Two nodes of a garment that start nearer to each other than `within` [m], the lower first; -1: none do.
/// Those that are sewn together do not count. Cost O(n log n) where few are near others.
std::pair<Index, Index> coincident_nodes(const Garment& garment, double within) {
  const std::vector<Vec3d>& positions = start_positions(garment);
  const std::vector<Index> sewn = sewn_nodes(garment.mesh);
  using Cell = std::array<double, 3>;
  std::map<Cell, std::vector<Index>> cells;
  const double size = 1e3 * within;  // most nodes see but one cell
  const auto cell_of = [size](const Vec3d& p) {
    return Cell{std::floor(p.x / size), std::floor(p.y / size), std::floor(p.z / size)};
  };
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Vec3d beyond{within, within, within};
    const Cell low = cell_of(positions[i] - beyond), high = cell_of(positions[i] + beyond);
    for (const double x : {low[0], high[0]})
      for (const double y : {low[1], high[1]})
        for (const double z : {low[2], high[2]})
          if (const auto cell = cells.find({x, y, z}); cell != cells.end())
            for (const Index other : cell->second)
              if (sewn[static_cast<std::size_t>(other)] != sewn[i] &&
                  norm(positions[static_cast<std::size_t>(other)] - positions[i]) < within)
                return {other, static_cast<Index>(i)};
    cells[cell_of(positions[i])].push_back(static_cast<Index>(i));
  }
  return {-1, -1};
}

/// What lies within two thicknesses of itself at rest keeps half of that distance alone (MeasurePairs), so
/// that a few short edges do not thin a garment. Sides of a seam have no distance at rest.
void check_edges(const Mesh& mesh, double thickness, const std::string& name) {
  std::vector<char> is_sewn(mesh.positions.size(), 0);
  for (const Stitch& stitch : mesh.stitches) is_sewn[stitch.a] = is_sewn[stitch.b] = 1;
  std::vector<double> lengths;
  ShortestEdge of_all, at_seams;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const Index a = nodes[k], b = nodes[(k + 1) % nodes.size()];
      const double length = norm(mesh.positions[b] - mesh.positions[a]);
      lengths.push_back(length);
      of_all.add({length, a, b});
      if (is_sewn[a] != 0 || is_sewn[b] != 0) at_seams.add({length, a, b});
    }
  }
  if (lengths.empty()) return;
  const auto between = [](const ShortestEdge& edge) {
    return text(", between nodes ", std::min(edge.a, edge.b), " and ", std::max(edge.a, edge.b), " [m]");
  };
  // What is beside a seam is as near to its other side as half an edge.
  if (thickness > at_seams.length / 2)
    refuse_above(name, thickness, at_seams.length / 2,
                 text(" with contact.cloth, half of the shortest edge at a seam", between(at_seams)));
  const auto median = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), median, lengths.end());
  if (thickness > *median)
    refuse_above(name, thickness, *median, " with contact.cloth, the median edge of the mesh [m]");
  constexpr double most_edges = 20;
  if (thickness > most_edges * of_all.length)
    refuse_above(name, thickness, most_edges * of_all.length,
                 text(" with contact.cloth, ", most_edges, " times the shortest edge of the mesh, ",
                      of_all.length, " m", between(of_all), "; mesh.repair collapses such of a file"));
}

void check_cloth_contact(const Scene& scene) {
  if (!scene.contact.cloth) return;
  validate_friction(scene.contact.cloth_friction, "contact.cloth_friction");
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    const double thickness = garment.fabric.thickness;
    const std::string name = text("garments[", g, "].fabric.thickness");
    if (!(thickness > 0)) refuse(name, thickness, "more than 0 with contact.cloth");
    if (4 * scene.contact.tolerance > thickness)
      refuse_above("contact.tolerance", scene.contact.tolerance, thickness / 4,
                   text(" with contact.cloth, a quarter of ", name));
    if (is_kinematic(garment)) continue;  // it does not meet itself
    for (std::size_t b = 0; b < garment.mesh.buttons.size(); ++b)
      if (const double distance = garment.mesh.buttons[b].distance; distance < thickness)
        refuse_below(text("garments[", g, "].mesh.buttons[", b, "].distance"), distance, thickness,
                     ", fabric.thickness, with contact.cloth, which keeps its sides so far apart [m]");
    check_edges(garment.mesh, thickness, name);
    // No direction leads from one to the other, and no force parts them.
    const double within = 1e-4 * thickness;
    if (const auto [a, b] = coincident_nodes(garment, within); b >= 0)
      refuse(text("garments[", g, "]"), text("nodes ", a, " and ", b, " at one place"),
             text("all more than ", within,
                  " m apart with contact.cloth: set mesh.weld to unite the nodes of an open seam, or move "
                  "layers apart by their thickness"));
  }
}

}  // namespace

double default_contact_tolerance(const Scene& scene) {
  double tolerance = ContactSettings{}.tolerance;
  if (scene.contact.cloth)
    for (const Garment& garment : scene.garments)
      if (garment.fabric.thickness > 0) tolerance = std::min(tolerance, garment.fabric.thickness / 4);
  return tolerance;
}

void check_contact(const Scene& scene) {
  require_enum("contact.initial", scene.contact.initial, ClothStart::separate);
  require_positive("contact.tolerance", scene.contact.tolerance);
  require_not_negative("contact.margin", scene.contact.margin);
  require_not_negative("contact.initial_penetration_time", scene.contact.initial_penetration_time);
  check_cloth_contact(scene);
  const std::size_t solids = scene.obstacles.size() + scene.bodies.size();
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;  // and the number of the pair
  for (std::size_t p = 0; p < scene.contact.pairs.size(); ++p) {
    const FrictionPair& pair = scene.contact.pairs[p];
    const std::string key = text("contact.pairs[", p, "]");
    const auto check_number = [&key](const char* what, std::size_t number, std::size_t count) {
      if (number >= count)
        refuse(text(key, ".", what), number, text("less than ", count, ", the number of ", what, "s"));
    };
    check_number("garment", pair.garment, scene.garments.size());
    check_number("obstacle", pair.obstacle, solids);
    validate_friction(pair.friction, key);
    const auto [earlier, is_new] = known.emplace(std::pair{pair.garment, pair.obstacle}, p);
    if (!is_new) {
      refuse(key,
             text("garment ", pair.garment, " with obstacle ", pair.obstacle, ", already in pairs[",
                  earlier->second, "]"),
             "each two of them once");
    }
  }
  std::set<std::array<std::size_t, 2>> cloths;
  for (std::size_t p = 0; p < scene.contact.cloth_pairs.size(); ++p) {
    const ClothFrictionPair& pair = scene.contact.cloth_pairs[p];
    const std::string key = text("contact.cloth_pairs[", p, "]");
    for (const auto& [name, number] : {std::pair{".garment", pair.garment}, {".other", pair.other}})
      if (number >= scene.garments.size())
        refuse(key + name, number, text("less than ", scene.garments.size(), ", the number of garments"));
    validate_friction(pair.friction, key);
    if (!cloths.insert({std::min(pair.garment, pair.other), std::max(pair.garment, pair.other)}).second)
      refuse(key, text("garment ", pair.garment, " with ", pair.other, " again"), "each two of them once");
  }
  std::set<std::array<std::size_t, 2>> bodies;
  for (std::size_t p = 0; p < scene.contact.body_pairs.size(); ++p) {
    const BodyFrictionPair& pair = scene.contact.body_pairs[p];
    const std::string key = text("contact.body_pairs[", p, "]");
    if (pair.body >= scene.bodies.size())
      refuse(key + ".body", pair.body, text("less than ", scene.bodies.size(), ", the number of bodies"));
    const std::size_t own = scene.obstacles.size() + pair.body;
    if (pair.other >= solids || pair.other == own)
      refuse(key + ".other", pair.other,
             text("another obstacle or body than ", own, ", less than ", solids, ", the number of both"));
    validate_friction(pair.friction, key);
    if (!bodies.insert({std::min(own, pair.other), std::max(own, pair.other)}).second)
      refuse(key, text("body ", pair.body, " with ", pair.other, " again"), "each two of them once");
  }
}

}  // namespace isocloth

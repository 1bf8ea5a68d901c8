#include "engine/models/drape/hanging_sheet.hpp"

#include <algorithm>

#include "engine/core/bound_text.hpp"
#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

constexpr double rounding = 1e-9;  ///< relative, of lengths that a file gives

/// Lays the mesh into the plane normal to its mean area vector; returns how far nodes are from that [m].
double lay_flat(const Mesh& mesh, std::vector<Vec2d>& flat) {
  Vec3d normal, center;
  for (Index f = 0; f < mesh.face_count(); ++f) normal += area_vector(mesh, f);
  for (const Vec3d& p : mesh.positions) center += (1.0 / mesh.node_count()) * p;
  if (!(norm(normal) > 0)) return norm(mesh.positions.front() - center);  // closed
  normal = normalized(normal);
  const Vec3d along = std::fabs(normal.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d first = normalized(along - dot(along, normal) * normal), second = cross(normal, first);
  double farthest = 0;
  for (const Vec3d& p : mesh.positions) {
    flat.push_back({dot(p - center, first), dot(p - center, second)});
    farthest = std::max(farthest, std::fabs(dot(p - center, normal)));
  }
  return farthest;
}

bool turns_left_only(const Topology& topology, const std::vector<Vec2d>& flat) {
  if (topology.boundary_loops.size() != 1) return false;
  const std::vector<Index>& rim = topology.boundary_loops[0];
  for (std::size_t i = 0; i < rim.size(); ++i) {
    const Vec2d &a = flat[rim[i]], &b = flat[rim[(i + 1) % rim.size()]], &c = flat[rim[(i + 2) % rim.size()]];
    if (cross(b - a, c - b) < -1e-3 * norm(b - a) * norm(c - b)) return false;
  }
  return true;
}

void require_reach(const std::string& key, const HangingPoint& a, const HangingPoint& b, double length) {
  const double distance = norm(b.position - a.position);
  if (distance <= (1 + rounding) * length) return;
  const ToldApart told = told_apart(distance, length, 9);
  throw SceneError(text(key, ": nodes ", a.node, " and ", b.node, " hang ", told.found,
                        " m apart, expected at most ", told.bound,
                        " m, the length of the cloth between them; bring them closer together"));
}

/// The points at the ends of the sides, in the rest shape, to a tenth of an element.
bool lie_on_a_line(const Mesh& mesh, const std::vector<HangingPoint>& points,
                   const std::vector<RimSide>& sides) {
  const auto position = [&](const RimSide& side) { return mesh.positions[points[side.from].node]; };
  const Vec3d first = position(sides[0]);
  const auto distance = [&](const RimSide& side) { return norm(position(side) - first); };
  const Vec3d way = normalized(position(*std::ranges::max_element(sides, {}, distance)) - first);
  return std::ranges::all_of(sides, [&](const RimSide& side) {
    return norm(cross(position(side) - first, way)) <= 0.1 * mean_element_size(mesh);
  });
}

}  // namespace

HangingSheet::HangingSheet(const Mesh& of_mesh, std::vector<HangingPoint> of_points,
                           const DrapeSettings& settings, const std::string& key)
    : mesh(of_mesh),
      topology(build_topology(of_mesh)),
      points(std::move(of_points)),
      element_size(mean_element_size(of_mesh)) {
  require_enum(key + ".method", settings.method, DrapeMethod::laplace);
  const bool is_weil = settings.method == DrapeMethod::weil;
  const std::size_t least = is_weil ? 2 : 3;
  if (points.size() < least)
    throw SceneError(text(key, ": found ", points.size(),
                          points.size() == 1 ? " pinned node" : " pinned nodes", ", expected at least ",
                          least, " to hang the cloth from; pin more"));
  if (points.size() == mesh.positions.size())
    throw SceneError(text(key, ": every node is pinned, expected some that hang; take pins away, or ",
                          "leave the drape out"));
  const double deviation = lay_flat(mesh, flat);
  const bool is_flat = deviation <= 0.1 * element_size;
  is_convex = is_flat && turns_left_only(topology, flat);
  const bool has_one_rim = topology.boundary_loops.size() == 1;
  if (!is_convex && (is_weil || settings.diagonals)) {
    const std::string found =
        is_flat ? std::string(has_one_rim ? "a sheet whose outline turns inwards" : "a sheet with holes")
                : text("a mesh that leaves its plane by ", deviation, " m");
    throw SceneError(text(key, ": found ", found, ", expected a flat, convex one such as quad_grid; ",
                          !has_one_rim ? "leave the drape out"
                          : is_weil    ? "use laplace"
                                       : "use no diagonals"));
  }
  if (!has_one_rim)
    throw SceneError(text(key, ": found a mesh with ", topology.boundary_loops.size(),
                          " boundary loops, expected one, along which catenaries hang; leave the drape "
                          "out"));
  if (is_convex) {
    for (std::size_t a = 0; a < points.size(); ++a)
      for (std::size_t b = a + 1; b < points.size(); ++b)
        require_reach(key, points[a], points[b],
                      norm(mesh.positions[points[b].node] - mesh.positions[points[a].node]));
  }
  if (is_weil) return;
  const std::vector<RimSide> sides = rim_sides(*this);
  if (sides.size() < least)
    throw SceneError(text(key, ": found ", sides.size(), " pinned nodes on the rim, expected at least ",
                          least, ", the corners of the polygon that laplace hangs; pin more, or use weil"));
  if (lie_on_a_line(mesh, points, sides))
    throw SceneError(text(key,
                          ": found all pinned nodes of the rim on a line, expected corners of a polygon ",
                          "that laplace hangs; pin one beside it, or use weil"));
  for (const RimSide& side : sides)
    require_reach(key, points[side.from], points[side.to], side.lengths.back());
}

std::vector<RimSide> rim_sides(const HangingSheet& sheet) {
  std::vector<std::size_t> point_of(sheet.mesh.positions.size(), sheet.points.size());
  for (std::size_t k = 0; k < sheet.points.size(); ++k) point_of[sheet.points[k].node] = k;
  const auto hangs = [&](Index node) { return point_of[node] < sheet.points.size(); };
  const std::vector<Index>& rim = sheet.topology.boundary_loops.at(0);
  const auto start = static_cast<std::size_t>(std::ranges::find_if(rim, hangs) - rim.begin());
  std::vector<RimSide> sides;
  if (start == rim.size()) return sides;
  for (std::size_t i = 0; i <= rim.size(); ++i) {
    const Index node = rim[(start + i) % rim.size()];
    if (!sides.empty()) {
      RimSide& side = sides.back();
      const Vec3d way = sheet.mesh.positions[node] - sheet.mesh.positions[side.nodes.back()];
      side.lengths.push_back(side.lengths.back() + norm(way));
      side.nodes.push_back(node);
      if (hangs(node)) side.to = point_of[node];
    }
    if (hangs(node) && i < rim.size())
      sides.push_back({.from = point_of[node], .to = point_of[node], .nodes = {node}, .lengths = {0}});
  }
  return sides;
}

}  // namespace isocloth

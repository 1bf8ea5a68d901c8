#include "engine/geometry/intersection_search.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>

#include "engine/geometry/exact_predicates.hpp"
#include "engine/geometry/triangle_tree.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

/// Or NaN, which boxes leave out.
Vec3d finite_or_none(const Vec3d& p) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z) ? p : Vec3d{none, none, none};
}

BoundingBox box_of(const Vec3d& p, const Vec3d& q) {
  return {{std::min(p.x, q.x), std::min(p.y, q.y), std::min(p.z, q.z)},
          {std::max(p.x, q.x), std::max(p.y, q.y), std::max(p.z, q.z)}};
}

/// Where the segment p q meets the plane of a b c, which it does; on the segment, whatever rounding does.
Vec3d meeting_point(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  double size = 0;
  for (const Vec3d& corner : {p, q, a, b, c})
    size = std::max({size, std::fabs(corner.x), std::fabs(corner.y), std::fabs(corner.z)});
  const int exponent = -std::ilogb(size) - 2;  // so that nothing overflows
  const auto scaled = [exponent](const Vec3d& v) {
    return Vec3d{std::ldexp(v.x, exponent), std::ldexp(v.y, exponent), std::ldexp(v.z, exponent)};
  };
  const Vec3d from = scaled(p), to = scaled(q), corner = scaled(a);
  const Vec3d normal = cross(scaled(b) - corner, scaled(c) - corner);
  const double at_p = std::fabs(dot(normal, from - corner)), at_q = std::fabs(dot(normal, to - corner));
  const Vec3d position = from + (at_p + at_q > 0 ? at_p / (at_p + at_q) : 0.5) * (to - from);
  const auto between = [exponent](double x, double y, double z) {
    return std::clamp(std::ldexp(x, -exponent), std::min(y, z), std::max(y, z));
  };
  return {between(position.x, p.x, q.x), between(position.y, p.y, q.y), between(position.z, p.z, q.z)};
}

/// Thirds, which do not overflow.
Vec3d middle_of(const TriangleCorners& t) { return (1.0 / 3) * t[0] + (1.0 / 3) * t[1] + (1.0 / 3) * t[2]; }

constexpr double coincident_part = 1e-6;  ///< greatest distance of coincident features over their thickness
constexpr double no_distance = 1e-12;     ///< distance over the largest coordinate that is rounding

double distance_from_segment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d along = b - a;
  const double square = dot(along, along);
  const double part = square > 0 ? std::clamp(dot(p - a, along) / square, 0.0, 1.0) : 0;
  return norm(p - (a + part * along));
}

/// Segments are nearest at an end of one of them, or where their lines are.
double distance_of_segments(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b) {
  const double at_ends = std::min({distance_from_segment(p, a, b), distance_from_segment(q, a, b),
                                   distance_from_segment(a, p, q), distance_from_segment(b, p, q)});
  const Vec3d u = q - p, v = b - a, normal = cross(u, v);
  const double square = dot(normal, normal);
  if (!(square > 0)) return at_ends;
  const double part = dot(cross(a - p, v), normal) / square, other = dot(cross(a - p, u), normal) / square;
  const bool is_within = part >= 0 && part <= 1 && other >= 0 && other <= 1;
  return is_within ? std::min(at_ends, norm((a + other * v) - (p + part * u))) : at_ends;
}

}  // namespace

IntersectionSearch::IntersectionSearch(const std::vector<const Mesh*>& meshes,
                                       const std::vector<Index>& worlds,
                                       const std::vector<bool>& is_kinematic) {
  assert(worlds.empty() || worlds.size() == meshes.size());
  std::map<Index, std::vector<std::size_t>> of_world;
  const Mesh* before = nullptr;  // replicas come one after another
  for (std::size_t s = 0; s < meshes.size(); ++s) {
    const Mesh& mesh = *meshes[s];
    if (before != nullptr && mesh.face_begin == before->face_begin && mesh.face_nodes == before->face_nodes &&
        mesh.stitches == before->stitches) {
      surfaces_.push_back(surfaces_.back());
    } else {
      surfaces_.push_back(
          {std::make_shared<FaceTree>(mesh), std::make_shared<std::vector<Index>>(sewn_nodes(mesh))});
      before = &mesh;
    }
    surfaces_.back().is_kinematic = !is_kinematic.empty() && is_kinematic[s];
    const Index world = worlds.empty() ? every_world : worlds[s];
    (world == every_world ? everywhere_ : of_world[world]).push_back(s);
  }
  for (auto& [world, surfaces] : of_world) worlds_.push_back(std::move(surfaces));
  const auto give_state = [this](std::size_t s) {
    surfaces_[s].state = states_.size();
    states_.emplace_back();
  };
  if (surfaces_.size() > 1) std::for_each(everywhere_.begin(), everywhere_.end(), give_state);
  for (const auto& world : worlds_)
    if (world.size() > 1 || !everywhere_.empty()) std::for_each(world.begin(), world.end(), give_state);
}

Intersections IntersectionSearch::find(const std::vector<std::vector<Vec3d>>& positions) {
  Intersections found;
  found.unknown_triangles = for_each_near_pair(
      positions, std::vector<double>(surfaces_.size(), 0),
      [&](std::size_t s, const FaceTree::Leaf& one, std::size_t t, const FaceTree::Leaf& other) {
        test_sides(s, one, t, other, found);
        test_sides(t, other, s, one, found);
        test_plane(s, one, t, other, found);
      });
  std::sort(found.surfaces.begin(), found.surfaces.end());
  found.surfaces.erase(std::unique(found.surfaces.begin(), found.surfaces.end()), found.surfaces.end());
  return found;
}

template <class Visit>
std::int64_t IntersectionSearch::for_each_near_pair(const std::vector<std::vector<Vec3d>>& positions,
                                                    const std::vector<double>& margins, const Visit& visit) {
  assert(positions.size() == surfaces_.size());
  std::int64_t unknown_triangles = 0;
  for (std::size_t s = 0; s < surfaces_.size(); ++s) {
    unknown_triangles += take(positions[s], surfaces_[s], margins[s]);
    if (surfaces_[s].is_kinematic) continue;
    surfaces_[s].tree->for_each_near_pair(
        state(s).boxes,
        [&](const FaceTree::Leaf& one, const FaceTree::Leaf& other) { visit(s, one, s, other); });
  }
  visit_everywhere(visit);
  for (const std::vector<std::size_t>& world : worlds_)
    for (std::size_t i = 0; i < world.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) visit_pair(world[j], world[i], visit);
      for (const std::size_t other : everywhere_) visit_pair(other, world[i], visit);
    }
  return unknown_triangles;
}

/// Sweeps along x, so that many surfaces side by side do not cost the square of their number.
template <class Visit>
void IntersectionSearch::visit_everywhere(const Visit& visit) const {
  const auto box = [this](std::size_t s) -> const BoundingBox& { return state(s).boxes.front(); };
  std::vector<std::size_t> order = everywhere_;
  std::sort(order.begin(), order.end(), [&](std::size_t s, std::size_t t) {
    return box(s).low.x != box(t).low.x ? box(s).low.x < box(t).low.x : s < t;
  });
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size() && box(order[j]).low.x <= box(order[i]).high.x; ++j)
      visit_pair(std::min(order[i], order[j]), std::max(order[i], order[j]), visit);
}

template <class Visit>
void IntersectionSearch::visit_pair(std::size_t s, std::size_t t, const Visit& visit) const {
  if (surfaces_[s].is_kinematic && surfaces_[t].is_kinematic) return;
  surfaces_[s].tree->for_each_near_pair(
      state(s).boxes, *surfaces_[t].tree, state(t).boxes,
      [&](const FaceTree::Leaf& one, const FaceTree::Leaf& other) { visit(s, one, t, other); });
}

std::int64_t IntersectionSearch::take(const std::vector<Vec3d>& positions, const Surface& surface,
                                      double margin) {
  State& state = states_[surface.state];
  state.positions.clear();
  const auto is_unknown = [&state](Index node) { return std::isnan(state.positions[node].x); };
  bool has_unknown = false;
  for (const Vec3d& p : positions) {
    state.positions.push_back(finite_or_none(p));
    has_unknown = has_unknown || is_unknown(static_cast<Index>(state.positions.size()) - 1);
  }
  surface.tree->fit(state.positions, margin, state.boxes);
  if (!has_unknown) return 0;
  return std::ranges::count_if(surface.tree->triangles(), [&](const FaceTree::Triangle& t) {
    return std::any_of(t.nodes.begin(), t.nodes.end(), is_unknown);
  });
}

/// Sides that belong to a triangle of surface s, with a triangle of surface t.
void IntersectionSearch::test_sides(std::size_t s, const FaceTree::Leaf& of, std::size_t t,
                                    const FaceTree::Leaf& with, Intersections& found) const {
  const FaceTree::Triangle &sides = surfaces_[s].tree->triangles()[of.triangle],
                           &triangle = surfaces_[t].tree->triangles()[with.triangle];
  const auto is_corner = [&](Index node) {
    return std::ranges::any_of(triangle.nodes, [&](Index corner) { return are_sewn(s, node, t, corner); });
  };
  const std::vector<Vec3d>&x = state(s).positions, &y = state(t).positions;
  const Vec3d &a = y[triangle.nodes[0]], &b = y[triangle.nodes[1]], &c = y[triangle.nodes[2]];
  for (std::size_t k = 0; k < 3; ++k) {
    const Index p = sides.nodes[k], q = sides.nodes[(k + 1) % 3];
    if ((sides.owned_sides >> k & 1U) == 0 || is_corner(p) || is_corner(q)) continue;
    if (!overlap(box_of(x[p], x[q]), with.box)) continue;
    const Meeting kind = meeting(x[p], x[q], a, b, c);
    if (kind == Meeting::none) continue;
    Crossings& list = kind == Meeting::crossing ? found.crossing : found.touching;
    ++list.count;
    if (list.first.size() < Crossings::most_named)
      list.first.push_back(
          {s, {std::min(p, q), std::max(p, q)}, t, triangle.face, meeting_point(x[p], x[q], a, b, c)});
    if (kind == Meeting::touching) continue;
    if (found.surfaces.empty() || found.surfaces.back() != s) found.surfaces.push_back(s);
    if (found.surfaces.back() != t) found.surfaces.push_back(t);
  }
}

void IntersectionSearch::test_plane(std::size_t s, const FaceTree::Leaf& one, std::size_t t,
                                    const FaceTree::Leaf& other, Intersections& found) const {
  const auto corners_of = [this](std::size_t surface, const FaceTree::Triangle& triangle) {
    const std::vector<Vec3d>& x = state(surface).positions;
    return TriangleCorners{x[triangle.nodes[0]], x[triangle.nodes[1]], x[triangle.nodes[2]]};
  };
  const FaceTree::Triangle &a = surfaces_[s].tree->triangles()[one.triangle],
                           &b = surfaces_[t].tree->triangles()[other.triangle];
  const TriangleCorners corners = corners_of(s, a);
  if (!overlap_in_plane(corners, corners_of(t, b))) return;
  Overlaps& list = found.overlapping;
  ++list.count;
  if (list.first.size() < Crossings::most_named)
    list.first.push_back({{s, t}, {a.face, b.face}, middle_of(corners)});
}

Nearness IntersectionSearch::find_near(const std::vector<std::vector<Vec3d>>& positions,
                                       const Spacing& spacing) {
  std::vector<double> margins;
  for (std::size_t s = 0; s < surfaces_.size(); ++s) {
    double largest = 0;
    for (const Vec3d& p : positions[s])
      largest = std::max({largest, std::fabs(p.x), std::fabs(p.y), std::fabs(p.z)});
    margins.push_back(spacing.thicknesses[s] / 2 + (std::isfinite(largest) ? no_distance * largest : 0));
  }
  Nearness found;
  for_each_near_pair(
      positions, margins,
      [&](std::size_t s, const FaceTree::Leaf& one, std::size_t t, const FaceTree::Leaf& other) {
        measure_nodes(s, one, t, other, spacing, found);
        measure_nodes(t, other, s, one, spacing, found);
        measure_sides(s, one, t, other, spacing, found);
      });
  return found;
}

void IntersectionSearch::measure_nodes(std::size_t s, const FaceTree::Leaf& of, std::size_t t,
                                       const FaceTree::Leaf& with, const Spacing& spacing,
                                       Nearness& found) const {
  const FaceTree::Triangle &nodes = surfaces_[s].tree->triangles()[of.triangle],
                           &triangle = surfaces_[t].tree->triangles()[with.triangle];
  const auto corners_in = [&](const std::vector<Vec3d>& y) {
    return TriangleCorners{y[triangle.nodes[0]], y[triangle.nodes[1]], y[triangle.nodes[2]]};
  };
  const TriangleCorners corners = corners_in(state(t).positions);
  for (std::size_t k = 0; k < 3; ++k) {
    const Index node = nodes.nodes[k];
    const Vec3d& p = state(s).positions[node];
    if ((nodes.owned_nodes >> k & 1U) == 0 ||
        std::ranges::any_of(triangle.nodes, [&](Index corner) { return are_sewn(s, node, t, corner); }))
      continue;
    const double distance = std::sqrt(nearest_on_triangle(p, corners, 0).distance_squared);
    count(
        {.surfaces = {s, t},
         .is_edges = false,
         .first = {node, node},
         .second = {},
         .face = triangle.face,
         .distance = distance,
         .thickness = 0,
         .position = p},
        spacing,
        [&] {
          return std::min({norm(corners[0] - p), norm(corners[1] - p), norm(corners[2] - p)});
        },
        [&](const std::vector<Vec3d>& rest) {
          return std::sqrt(nearest_on_triangle(rest[node], corners_in(rest), 0).distance_squared);
        },
        found);
  }
}

void IntersectionSearch::measure_sides(std::size_t s, const FaceTree::Leaf& one, std::size_t t,
                                       const FaceTree::Leaf& other, const Spacing& spacing,
                                       Nearness& found) const {
  const FaceTree::Triangle &a = surfaces_[s].tree->triangles()[one.triangle],
                           &b = surfaces_[t].tree->triangles()[other.triangle];
  const std::vector<Vec3d>&x = state(s).positions, &y = state(t).positions;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto [p, q] = std::minmax(a.nodes[k], a.nodes[(k + 1) % 3]);
    if ((a.owned_sides >> k & 1U) == 0) continue;
    for (std::size_t l = 0; l < 3; ++l) {
      const auto [u, v] = std::minmax(b.nodes[l], b.nodes[(l + 1) % 3]);
      if ((b.owned_sides >> l & 1U) == 0 || are_sewn(s, p, t, u) || are_sewn(s, p, t, v) ||
          are_sewn(s, q, t, u) || are_sewn(s, q, t, v))
        continue;
      const double distance = distance_of_segments(x[p], x[q], y[u], y[v]);
      count(
          {.surfaces = {s, t},
           .is_edges = true,
           .first = {p, q},
           .second = {u, v},
           .face = b.face,
           .distance = distance,
           .thickness = 0,
           .position = 0.5 * (x[p] + x[q])},
          spacing,
          [&] {
            return std::min({norm(x[p] - y[u]), norm(x[p] - y[v]), norm(x[q] - y[u]), norm(x[q] - y[v])});
          },
          [&](const std::vector<Vec3d>& rest) {
            return distance_of_segments(rest[p], rest[q], rest[u], rest[v]);
          },
          found);
    }
  }
}

template <class NodeDistance, class RestDistance>
void IntersectionSearch::count(NearFeatures pair, const Spacing& spacing,
                               const NodeDistance& distance_of_nodes, const RestDistance& distance_at_rest,
                               Nearness& found) const {
  const auto [s, t] = pair.surfaces;
  const double thickness = (spacing.thicknesses[s] + spacing.thicknesses[t]) / 2;
  const double size =
      std::max({std::fabs(pair.position.x), std::fabs(pair.position.y), std::fabs(pair.position.z)});
  pair.thickness = thickness;
  if (pair.distance <= std::max(coincident_part * thickness, no_distance * size)) {
    if (s == t && !spacing.counts_open_seams && distance_of_nodes() <= no_distance * size) return;
    ++found.coincident_count;
    if (found.coincident.size() < Crossings::most_named) found.coincident.push_back(pair);
    return;
  }
  if (!(pair.distance < thickness)) return;
  if (s == t) pair.thickness = std::min(thickness, distance_at_rest(*spacing.rests[s]) / 2);
  if (!(pair.distance < pair.thickness - std::min(spacing.allowance, pair.thickness / 4))) return;
  if (found.near_count++ == 0 ||
      pair.distance / pair.thickness < found.nearest.distance / found.nearest.thickness)
    found.nearest = pair;
}

}  // namespace isocloth

#include "engine/geometry/intersection_search.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>

#include "engine/geometry/exact_predicates.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

/// A coordinate that meeting() can take, or NaN.
double exact_coordinate(double x) {
  const double size = std::fabs(x);
  if (size >= least_exact_coordinate && size <= largest_exact_coordinate) return x;
  return size < least_exact_coordinate ? 0 : std::numeric_limits<double>::quiet_NaN();
}

BoundingBox box_of(const Vec3d& p, const Vec3d& q) {
  return {{std::min(p.x, q.x), std::min(p.y, q.y), std::min(p.z, q.z)},
          {std::max(p.x, q.x), std::max(p.y, q.y), std::max(p.z, q.z)}};
}

/// Where the segment p q meets the plane of a b c.
Vec3d meeting_point(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d normal = cross(b - a, c - a);
  const double at_p = std::fabs(dot(normal, p - a)), at_q = std::fabs(dot(normal, q - a));
  const double part = at_p + at_q > 0 ? at_p / (at_p + at_q) : 0.5;
  return p + part * (q - p);
}

}  // namespace

IntersectionSearch::IntersectionSearch(const std::vector<const Mesh*>& meshes,
                                       const std::vector<Index>& worlds, const std::vector<bool>& is_driven) {
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
    surfaces_.back().is_driven = !is_driven.empty() && is_driven[s];
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
  assert(positions.size() == surfaces_.size());
  Intersections found;
  for (std::size_t s = 0; s < surfaces_.size(); ++s) {
    take(positions[s], surfaces_[s], found);
    test_itself(s, found);
  }
  test_everywhere(found);
  for (const std::vector<std::size_t>& world : worlds_)
    for (std::size_t i = 0; i < world.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) test_pair(world[j], world[i], found);
      for (const std::size_t other : everywhere_) test_pair(other, world[i], found);
    }
  std::sort(found.surfaces.begin(), found.surfaces.end());
  found.surfaces.erase(std::unique(found.surfaces.begin(), found.surfaces.end()), found.surfaces.end());
  return found;
}

/// Sweeps along x, so that many surfaces side by side do not cost the square of their number.
void IntersectionSearch::test_everywhere(Intersections& found) const {
  const auto box = [this](std::size_t s) -> const BoundingBox& { return state(s).boxes.front(); };
  std::vector<std::size_t> order = everywhere_;
  std::sort(order.begin(), order.end(), [&](std::size_t s, std::size_t t) {
    return box(s).low.x != box(t).low.x ? box(s).low.x < box(t).low.x : s < t;
  });
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size() && box(order[j]).low.x <= box(order[i]).high.x; ++j)
      test_pair(std::min(order[i], order[j]), std::max(order[i], order[j]), found);
}

void IntersectionSearch::take(const std::vector<Vec3d>& positions, const Surface& surface,
                              Intersections& found) {
  State& state = states_[surface.state];
  state.positions.clear();
  const auto is_unknown = [&state](Index node) {
    const Vec3d& p = state.positions[node];
    return std::isnan(p.x + p.y + p.z);
  };
  bool has_unknown = false;
  for (const Vec3d& p : positions) {
    state.positions.push_back({exact_coordinate(p.x), exact_coordinate(p.y), exact_coordinate(p.z)});
    has_unknown = has_unknown || is_unknown(static_cast<Index>(state.positions.size()) - 1);
  }
  surface.tree->fit(state.positions, 0, state.boxes);
  if (!has_unknown) return;
  for (const FaceTree::Triangle& t : surface.tree->triangles())
    found.unknown_triangles += std::any_of(t.nodes.begin(), t.nodes.end(), is_unknown);
}

void IntersectionSearch::test_itself(std::size_t s, Intersections& found) const {
  if (surfaces_[s].is_driven) return;
  surfaces_[s].tree->for_each_near_pair(state(s).boxes,
                                        [&](const FaceTree::Leaf& one, const FaceTree::Leaf& other) {
                                          test_sides(s, one, s, other, found);
                                          test_sides(s, other, s, one, found);
                                        });
}

void IntersectionSearch::test_pair(std::size_t s, std::size_t t, Intersections& found) const {
  if (surfaces_[s].is_driven && surfaces_[t].is_driven) return;
  surfaces_[s].tree->for_each_near_pair(state(s).boxes, *surfaces_[t].tree, state(t).boxes,
                                        [&](const FaceTree::Leaf& one, const FaceTree::Leaf& other) {
                                          test_sides(s, one, t, other, found);
                                          test_sides(t, other, s, one, found);
                                        });
}

/// Sides that belong to a triangle of surface s, with a triangle of surface t.
void IntersectionSearch::test_sides(std::size_t s, const FaceTree::Leaf& of, std::size_t t,
                                    const FaceTree::Leaf& with, Intersections& found) const {
  const FaceTree::Triangle &sides = surfaces_[s].tree->triangles()[of.triangle],
                           &triangle = surfaces_[t].tree->triangles()[with.triangle];
  const auto is_corner = [&](Index node) {
    if (s != t) return false;
    const std::vector<Index>& sewn = *surfaces_[s].sewn;
    return std::ranges::any_of(triangle.nodes, [&](Index corner) { return sewn[corner] == sewn[node]; });
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

}  // namespace isocloth

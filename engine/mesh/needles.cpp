#include "engine/mesh/needles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace isocloth {
namespace {

constexpr double slender = 0.1;       ///< altitude over the longest side of a needle
constexpr double least_shape = 1e-6;  ///< the same of what counts as an area at all
constexpr double tiny_area = 2e-12;   ///< least area over the squared diagonal of the bounding box
constexpr double most_turn = 0.2;     ///< least cosine by which the normal of a face may turn
constexpr double short_share = 0.35;  ///< shortest over longest side of what is rather collapsed
constexpr int most_rounds = 20;

using Face = LooseMesh::Face;

class NeedleRemoval {
 public:
  NeedleRemoval(LooseMesh& mesh, double least_altitude) : mesh_(mesh), at_node_(mesh.positions.size()) {
    std::vector<double> lengths;
    for (Index f = 0; f < face_count(); ++f) {
      const std::vector<Index>& nodes = mesh.faces[f].nodes;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        at_node_[nodes[k]].push_back(f);
        lengths.push_back(length(nodes[k], nodes[(k + 1) % nodes.size()]));
      }
    }
    if (lengths.empty()) return;
    Vec3d low = mesh.positions.front(), high = low;
    for (const Vec3d& x : mesh.positions) {
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    least_area_ = tiny_area * dot(high - low, high - low);
    const auto median = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), median, lengths.end());
    limit_ = least_altitude * *median;
  }

  Needles run() {
    Needles found;
    for (Index f = 0; f < face_count(); ++f) {
      if (!is_needle(f)) continue;
      if (found.found++ == 0) found.first = mesh_.faces[f].number;
      if (mesh_.faces[f].nodes.size() == 4) cut(f);
    }
    for (int round = 0; round < most_rounds; ++round) {
      bool changed = false;
      for (Index f = 0; f < face_count(); ++f)
        if (is_needle(f) && mesh_.faces[f].nodes.size() == 3) changed = take_out(f) || changed;
      if (!changed) break;
    }
    for (Index f = 0; f < face_count(); ++f)
      if (is_needle(f)) {
        ++found.left;
        if (!has_area(f)) found.left_without_area.push_back(f);
      }
    return found;
  }

 private:
  Index face_count() const { return static_cast<Index>(mesh_.faces.size()); }
  double length(Index a, Index b) const { return norm(mesh_.positions[b] - mesh_.positions[a]); }
  bool has_area(Index f) const {
    const std::vector<Index>& nodes = mesh_.faces[f].nodes;
    return norm(mesh_.area_of(nodes)) > least_area_ &&
           mesh_.altitude_of(nodes) > least_shape * mesh_.longest_of(nodes);
  }
  bool is_needle(Index f) const {
    const std::vector<Index>& nodes = mesh_.faces[f].nodes;
    if (nodes.empty()) return false;
    const double altitude = mesh_.altitude_of(nodes);
    return !has_area(f) || (altitude < slender * mesh_.longest_of(nodes) && altitude < limit_);
  }

  void cut(Index f) {
    cut_quad(mesh_, f);
    const Index added = face_count() - 1;
    std::set<Index> of_both(mesh_.faces[f].nodes.begin(), mesh_.faces[f].nodes.end());
    of_both.insert(mesh_.faces[added].nodes.begin(), mesh_.faces[added].nodes.end());
    for (const Index node : of_both) {
      std::erase(at_node_[node], f);
      if (has(f, node)) at_node_[node].push_back(f);
      if (has(added, node)) at_node_[node].push_back(added);
    }
  }
  bool has(Index f, Index node) const { return corner_of(f, node) < mesh_.faces[f].nodes.size(); }
  std::size_t corner_of(Index f, Index node) const {
    const std::vector<Index>& nodes = mesh_.faces[f].nodes;
    return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  }
  /// Whether a side of the face joins the two.
  bool has_side(Index f, Index a, Index b) const {
    const Face& face = mesh_.faces[f];
    for (std::size_t k = 0; k < face.nodes.size(); ++k)
      if ((face.nodes[k] == a && face.following(k) == b) || (face.nodes[k] == b && face.following(k) == a))
        return true;
    return false;
  }
  std::vector<Index> faces_of_edge(Index a, Index b) const {
    std::vector<Index> found;
    for (const Index f : at_node_[a])
      if (has_side(f, a, b)) found.push_back(f);
    return found;
  }
  std::set<Index> neighbours(Index node) const {
    std::set<Index> found;
    for (const Index f : at_node_[node]) {
      const Face& face = mesh_.faces[f];
      const std::size_t k = corner_of(f, node), size = face.nodes.size();
      found.insert({face.nodes[(k + 1) % size], face.nodes[(k + size - 1) % size]});
    }
    return found;
  }
  bool is_on_outline(Index node) const {
    for (const Index other : neighbours(node))
      if (faces_of_edge(node, other).size() == 1) return true;
    return false;
  }

  bool take_out(Index f) {
    std::array<std::array<Index, 2>, 3> sides;
    const std::vector<Index> nodes = mesh_.faces[f].nodes;
    for (std::size_t k = 0; k < 3; ++k) sides[k] = {nodes[k], nodes[(k + 1) % 3]};
    std::ranges::stable_sort(sides, {}, [&](const auto& side) { return length(side[0], side[1]); });
    const auto [a, b] = sides[0];
    const Index lower = std::min(a, b), upper = std::max(a, b);
    const auto collapses = [&] {
      // An outline keeps its corners where it can: the straighter of its two nodes goes.
      const bool first = turn_at(lower) < turn_at(upper);
      return first ? collapse(lower, upper) || collapse(upper, lower)
                   : collapse(upper, lower) || collapse(lower, upper);
    };
    if (length(a, b) < short_share * length(sides[2][0], sides[2][1]))
      return collapses() || flip(f, sides[2][0], sides[2][1]);
    return flip(f, sides[2][0], sides[2][1]) || collapses();
  }
  /// By how much the outline turns at a node, 1 - cosine; 0 inside.
  double turn_at(Index node) const {
    std::vector<Index> open;
    for (const Index other : neighbours(node))
      if (faces_of_edge(node, other).size() == 1) open.push_back(other);
    if (open.size() != 2) return 0;
    const Vec3d in = mesh_.positions[node] - mesh_.positions[open[0]],
                out = mesh_.positions[open[1]] - mesh_.positions[node];
    const double size = norm(in) * norm(out);
    return size > 0 ? 1 - dot(in, out) / size : 0;
  }

  /// Whether a face may be `nodes` in the place of `before`.
  bool may_become(const std::vector<Index>& nodes, const std::vector<Index>& before) const {
    const Vec3d area = mesh_.area_of(nodes), was = mesh_.area_of(before);
    const double longest = mesh_.longest_of(nodes), altitude = mesh_.altitude_of(nodes);
    if (!(altitude > least_shape * longest)) return false;
    const double altitude_before = mesh_.altitude_of(before);
    if (altitude_before > least_shape * mesh_.longest_of(before)) {
      if (!(dot(area, was) > most_turn * norm(area) * norm(was))) return false;
      if (altitude < std::min(limit_, altitude_before / 2)) return false;
    }
    return nodes.size() == 3 || !is_folded_quad(mesh_, nodes);
  }

  /// Moves `gone` into `kept`, along an edge.
  bool collapse(Index gone, Index kept) {
    const std::vector<Index> of_edge = faces_of_edge(gone, kept);
    if (of_edge.empty() || of_edge.size() > 2) return false;
    if (is_on_outline(gone) && (of_edge.size() == 2 || !is_on_outline(kept))) return false;
    std::set<Index> apexes;
    for (const Index f : of_edge)
      if (mesh_.faces[f].nodes.size() == 3)
        for (const Index node : mesh_.faces[f].nodes)
          if (node != gone && node != kept) apexes.insert(node);
    std::set<Index> common;
    const std::set<Index> of_kept = neighbours(kept);
    for (const Index node : neighbours(gone))
      if (of_kept.contains(node)) common.insert(node);
    if (common != apexes) return false;
    if (at_node_[gone].size() <= of_edge.size() && of_edge.size() < 2 &&
        mesh_.faces[of_edge[0]].nodes.size() == 3 && at_node_[kept].size() <= 1)
      return false;  // all that there is
    std::vector<std::pair<Index, Face>> changed;
    for (const Index f : at_node_[gone]) {
      Face face = mesh_.faces[f];
      const std::size_t k = corner_of(f, gone);
      if (has_side(f, gone, kept)) {
        face.remove_corner(k);
        if (face.nodes.size() < 3)
          face.remove();
        else if (!may_become(face.nodes, mesh_.faces[f].nodes))
          return false;
      } else {
        if (has(f, kept)) return false;  // across a quad
        face.nodes[k] = kept;
        if (!face.uvs.empty() && !move_uv(face.uvs[k], of_edge, gone, kept)) return false;
        if (!may_become(face.nodes, mesh_.faces[f].nodes)) return false;
      }
      changed.emplace_back(f, std::move(face));
    }
    for (auto& [f, face] : changed) replace(f, std::move(face));
    return true;
  }
  /// The texture coordinate that `kept` has where `gone` has this one: on the same side of a cut.
  bool move_uv(Vec2d& uv, const std::vector<Index>& of_edge, Index gone, Index kept) const {
    for (const Index f : of_edge) {
      const Face& face = mesh_.faces[f];
      if (!face.uvs.empty() && face.uvs[corner_of(f, gone)] == uv) {
        uv = face.uvs[corner_of(f, kept)];
        return true;
      }
    }
    return false;
  }

  /// Brings the long side a b of triangle f, beside which its third corner lies, to that corner.
  bool flip(Index f, Index a, Index b) {
    const Face triangle = mesh_.faces[f];
    Index tip = -1;
    for (const Index node : triangle.nodes)
      if (node != a && node != b) tip = node;
    std::vector<Index> of_edge = faces_of_edge(a, b);
    if (of_edge.size() == 1) return remove_open(f, a, b, tip);
    if (of_edge.size() != 2) return false;
    const Index other = of_edge[0] == f ? of_edge[1] : of_edge[0];
    if (mesh_.faces[other].nodes.size() == 4) cut(other);
    const Index beside = has_side(other, a, b) ? other : face_count() - 1;
    const Face partner = mesh_.faces[beside];
    const std::size_t k =
        partner.following(corner_of(beside, a)) == b ? corner_of(beside, a) : corner_of(beside, b);
    const std::size_t l = (k + 1) % 3, m = (k + 2) % 3;
    const Index u = partner.nodes[k], v = partner.nodes[l], w = partner.nodes[m];
    if (w == tip || !faces_of_edge(tip, w).empty()) return false;
    Face one = partner, two = partner;
    one.nodes = {u, tip, w};
    two.nodes = {tip, v, w};
    two.number = triangle.number;
    if (!partner.uvs.empty()) {
      const Vec2d at_tip = tip_uv(triangle, partner, f, beside, u, v, tip);
      one.uvs = {partner.uvs[k], at_tip, partner.uvs[m]};
      two.uvs = {at_tip, partner.uvs[l], partner.uvs[m]};
    }
    const double before = std::min(mesh_.altitude_of(triangle.nodes), mesh_.altitude_of(partner.nodes));
    for (const Face& face : {one, two}) {
      const Vec3d area = mesh_.area_of(face.nodes), was = mesh_.area_of(partner.nodes);
      const double altitude = mesh_.altitude_of(face.nodes);
      if (!(altitude > least_shape * mesh_.longest_of(face.nodes) && altitude > before)) return false;
      if (mesh_.altitude_of(partner.nodes) > least_shape * mesh_.longest_of(partner.nodes) &&
          !(dot(area, was) > most_turn * norm(area) * norm(was)))
        return false;
    }
    replace(beside, std::move(one));
    replace(f, std::move(two));
    return true;
  }
  /// Where the partner's texture coordinates run on in the triangle, the tip's own; else the place beside it
  /// on the partner's side.
  Vec2d tip_uv(const Face& triangle, const Face& partner, Index f, Index beside, Index u, Index v,
               Index tip) const {
    const Vec2d at_u = partner.uvs[corner_of(beside, u)], at_v = partner.uvs[corner_of(beside, v)];
    if (triangle.uvs[corner_of(f, u)] == at_u && triangle.uvs[corner_of(f, v)] == at_v)
      return triangle.uvs[corner_of(f, tip)];
    const Vec3d side = mesh_.positions[v] - mesh_.positions[u],
                way = mesh_.positions[tip] - mesh_.positions[u];
    const double t = std::clamp(dot(way, side) / dot(side, side), 0.0, 1.0);
    return (1 - t) * at_u + t * at_v;
  }
  /// Removes a triangle whose long side is open, unless its two other sides would then meet in the tip alone.
  bool remove_open(Index f, Index a, Index b, Index tip) {
    const bool is_ear = faces_of_edge(a, tip).size() == 1 || faces_of_edge(b, tip).size() == 1;
    if (!is_ear && is_on_outline(tip)) return false;
    replace(f, {});
    return true;
  }

  void replace(Index f, Face face) {
    for (const Index node : mesh_.faces[f].nodes) std::erase(at_node_[node], f);
    const Index number = mesh_.faces[f].number;
    mesh_.faces[f] = std::move(face);
    mesh_.faces[f].number = number;
    for (const Index node : mesh_.faces[f].nodes) at_node_[node].push_back(f);
  }

  LooseMesh& mesh_;
  std::vector<std::vector<Index>> at_node_;  ///< faces, shape [node]
  double least_area_ = 0;                    ///< what has no more counts as without area [m^2]
  double limit_ = 0;                         ///< altitude below which a slender triangle is a needle [m]
};

}  // namespace

bool is_folded_quad(const LooseMesh& mesh, const std::vector<Index>& nodes) {
  const Vec3d normal = mesh.area_of(nodes);
  const auto x = [&](std::size_t k) { return mesh.positions[nodes[k % 4]]; };
  for (std::size_t k = 0; k < 4; ++k)
    if (!(dot(cross(x(k + 1) - x(k), x(k + 3) - x(k)), normal) > 0)) return true;
  return false;
}

namespace {

std::array<Index, 2> side_of(const Face& face, std::size_t k) {
  const Index from = face.nodes[k], to = face.following(k);
  return {std::min(from, to), std::max(from, to)};
}

}  // namespace

EdgeCounts count_edges(const LooseMesh& mesh) {
  EdgeCounts counts;
  for (const Face& face : mesh.faces)
    for (std::size_t k = 0; k < face.nodes.size(); ++k) ++counts[side_of(face, k)];
  return counts;
}

bool uncross_quad(LooseMesh& mesh, Index face, const EdgeCounts& counts) {
  const Face quad = mesh.faces[face];
  const auto shared_count = [&](const Face& of) {
    Index shared = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      Index own = 0;
      for (std::size_t side = 0; side < 4; ++side) own += side_of(quad, side) == side_of(of, k);
      const auto at = counts.find(side_of(of, k));
      shared += at != counts.end() && at->second > own;
    }
    return shared;
  };
  const auto half = [&](std::size_t a, std::size_t b, std::size_t c) {
    return mesh.area_of({quad.nodes[a], quad.nodes[b], quad.nodes[c]});
  };
  // Both diagonals cut an arrow head or a convex quad into halves of which two lie alike.
  if (dot(half(0, 1, 2), half(0, 2, 3)) > 0 || dot(half(1, 2, 3), half(1, 3, 0)) > 0) return false;
  for (const std::array<std::size_t, 4>& order : {std::array<std::size_t, 4>{0, 1, 3, 2}, {0, 2, 1, 3}}) {
    Face found;
    found.number = quad.number;
    for (const std::size_t k : order) {
      found.nodes.push_back(quad.nodes[k]);
      if (!quad.uvs.empty()) found.uvs.push_back(quad.uvs[k]);
    }
    if (is_folded_quad(mesh, found.nodes) || shared_count(found) < shared_count(quad)) continue;
    mesh.faces[face] = std::move(found);
    return true;
  }
  return false;
}

void cut_quad(LooseMesh& mesh, Index face) {
  const Face quad = mesh.faces[face];
  const Vec3d normal = mesh.area_of(quad.nodes);
  const auto part = [&](std::size_t from, std::size_t half) {
    Face found;
    found.number = quad.number;
    for (const std::size_t k : {from, from + 1 + half, from + 2 + half}) {
      found.nodes.push_back(quad.nodes[k % 4]);
      if (!quad.uvs.empty()) found.uvs.push_back(quad.uvs[k % 4]);
    }
    return found;
  };
  /// The flatter one's altitude; below 0 where one of both turns over.
  const auto quality = [&](std::size_t from) {
    double least = HUGE_VAL;
    for (const std::size_t half : {0, 1}) {
      const std::vector<Index> nodes = part(from, half).nodes;
      const double altitude = mesh.altitude_of(nodes);
      least = std::min(least, dot(mesh.area_of(nodes), normal) < 0 ? -altitude : altitude);
    }
    return least;
  };
  const std::size_t from = quality(1) > quality(0) ? 1 : 0;
  mesh.faces[face] = part(from, 0);
  mesh.faces.push_back(part(from, 1));
}

Needles remove_needles(LooseMesh& mesh, double least_altitude) {
  return NeedleRemoval(mesh, least_altitude).run();
}

}  // namespace isocloth

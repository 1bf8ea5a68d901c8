#include "engine/mesh/triangle_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "engine/mesh/cut_quads.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/material_frame.hpp"
#include "engine/mesh/no_index.hpp"

namespace isocloth {
namespace {

/// An edge with a triangle on each side.
struct Door {
  std::array<Index, 2> nodes, faces;  ///< lower first
  long weight = 0;                    ///< least sine of the quad's angles, in units of 1e-6
};

double angle_at(const Mesh& mesh, Index at, Index a, Index b) {
  const Vec3d to_a = mesh.positions[a] - mesh.positions[at], to_b = mesh.positions[b] - mesh.positions[at];
  return std::atan2(norm(cross(to_a, to_b)), dot(to_a, to_b));
}

/// The corner of a triangle that is not on an edge.
Index opposite(const Mesh& mesh, Index face, const std::array<Index, 2>& edge) {
  for (const Index node : mesh.face(face))
    if (node != edge[0] && node != edge[1]) return node;
  return no_index;
}

/// Whether threads run alike on both sides of an edge of a mesh that is unfolded there: warp makes the same
/// angle with it, to 30 degrees. Where it does not, a seam or a dart was welded.
bool threads_go_on(const Mesh& mesh, const std::vector<Vec3d>& warps, const Door& door) {
  const Vec3d along = normalized(mesh.positions[door.nodes[1]] - mesh.positions[door.nodes[0]]);
  double angle[2];
  for (int side = 0; side < 2; ++side) {
    const Vec3d warp = warps[door.faces[side]],
                across = cross(normalized(area_vector(mesh, door.faces[side])), along);
    angle[side] = std::atan2(dot(warp, across), dot(warp, along));
  }
  return std::cos(angle[0] - angle[1]) >= std::numbers::sqrt3 / 2;
}

/// Edges between two triangles that may be a pair.
std::vector<Door> doors(const Mesh& mesh, const Topology& topology, const std::vector<char>& is_left_out) {
  std::vector<std::tuple<Index, Index, Index>> sides;  // lower node, higher node, face
  for (Index f = 0; f < mesh.face_count(); ++f) {
    if (mesh.face_size(f) != 3 || is_left_out[static_cast<std::size_t>(f)]) continue;
    const auto nodes = mesh.face(f);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [low, high] = std::minmax(nodes[i], nodes[(i + 1) % 3]);
      sides.emplace_back(low, high, f);
    }
  }
  std::ranges::sort(sides);
  const std::vector<Vec3d> warps = face_warp_directions(mesh, topology);
  std::vector<Door> found;
  for (std::size_t i = 0; i + 1 < sides.size(); ++i) {
    const auto& [a, b, first] = sides[i];
    const auto& [c, d, second] = sides[i + 1];
    if (a != c || b != d) continue;
    Door door{{a, b}, {first, second}, 0};
    if (!threads_go_on(mesh, warps, door)) continue;
    const Index p = opposite(mesh, first, door.nodes), q = opposite(mesh, second, door.nodes);
    const double least = std::min({std::sin(angle_at(mesh, p, a, b)), std::sin(angle_at(mesh, q, a, b)),
                                   std::sin(angle_at(mesh, a, p, b) + angle_at(mesh, a, q, b)),
                                   std::sin(angle_at(mesh, b, p, a) + angle_at(mesh, b, q, a))});
    door.weight = std::lround(1e6 * least);
    found.push_back(door);
  }
  return found;
}

/// The other triangle of each face's pair, -1: none.
class Matching {
 public:
  Matching(Index face_count, std::vector<Door> doors)
      : partner_(static_cast<std::size_t>(face_count), no_index), neighbours_(partner_.size()) {
    std::ranges::stable_sort(doors, std::greater{}, &Door::weight);
    for (const Door& door : doors) {
      const auto [a, b] = door.faces;
      neighbours_[at(a)].push_back(b);
      neighbours_[at(b)].push_back(a);
      if (partner_[at(a)] == no_index && partner_[at(b)] == no_index) join(a, b);
    }
    std::vector<Index> seen(partner_.size(), no_index), from(partner_.size(), no_index);
    for (Index face = 0; face < face_count; ++face)
      if (partner_[at(face)] == no_index) augment(face, seen, from);
  }
  Index partner(Index face) const { return partner_[at(face)]; }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  void join(Index a, Index b) {
    partner_[at(a)] = b;
    partner_[at(b)] = a;
  }

  /// A path from one triangle that is left over to another, along edges of which every second joins a pair:
  /// its pairs are exchanged for the others. from: of a face that the search reached, the one before it.
  void augment(Index start, std::vector<Index>& seen, std::vector<Index>& from) {
    std::vector<Index> queue{start};
    seen[at(start)] = start;
    for (std::size_t next = 0; next < queue.size(); ++next)
      for (const Index face : neighbours_[at(queue[next])]) {
        if (seen[at(face)] == start) continue;
        seen[at(face)] = start;
        from[at(face)] = queue[next];
        if (const Index other = partner_[at(face)]; other != no_index) {
          if (seen[at(other)] == start) continue;
          seen[at(other)] = start;
          queue.push_back(other);
          continue;
        }
        for (Index end = face; end != no_index;) {
          const Index before = from[at(end)], left = partner_[at(before)];
          join(before, end);
          end = before == start ? no_index : left;
        }
        return;
      }
  }

  std::vector<Index> partner_;
  std::vector<std::vector<Index>> neighbours_;
};

/// A quad, cut from a corner.
TrianglePair cut_quad(const Mesh& mesh, Index face, std::size_t turn) {
  const auto nodes = mesh.face(face);
  TrianglePair pair{{}, {face, face}, false};
  for (std::size_t i = 0; i < 4; ++i) pair.nodes[i] = nodes[(i + turn) % 4];
  return pair;
}

TrianglePair single(const Mesh& mesh, Index face) {
  const auto nodes = mesh.face(face);
  return {{nodes[0], nodes[1], nodes[2], nodes[1]}, {face, face}, true};
}

TrianglePair joined(const Mesh& mesh, Index first, Index second) {
  const auto nodes = mesh.face(first), others = mesh.face(second);
  std::size_t turn = 0;  // of the corner that is not shared
  while (std::ranges::find(others, nodes[turn]) != others.end()) ++turn;
  const Index a = nodes[(turn + 2) % 3], b = nodes[turn], c = nodes[(turn + 1) % 3];
  return {{a, b, c, opposite(mesh, second, {a, c})}, {first, second}, false};
}

}  // namespace

std::vector<TrianglePair> triangle_pairs(const Mesh& mesh, const Topology& topology,
                                         const std::vector<char>& is_left_out) {
  const Matching matching(mesh.face_count(), doors(mesh, topology, is_left_out));
  const std::vector<std::size_t> corners = cut_corners(mesh);
  std::vector<TrianglePair> pairs;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    if (is_left_out[static_cast<std::size_t>(f)]) continue;
    const Index partner = matching.partner(f);
    if (mesh.face_size(f) == 4)
      pairs.push_back(cut_quad(mesh, f, corners[static_cast<std::size_t>(f)]));
    else if (partner == no_index)
      pairs.push_back(single(mesh, f));
    else if (f < partner)
      pairs.push_back(joined(mesh, f, partner));
  }
  return pairs;
}

}  // namespace isocloth

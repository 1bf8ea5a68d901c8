// Garments whose texture coordinates are the pattern that they are sewn of.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/disjoint_sets.hpp"
#include "engine/mesh/half_edges.hpp"
#include "engine/mesh/panels.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

/// Moves the pieces of a flat mesh side by side along x.
void lay_out(Mesh& mesh) {
  Mesh joined;  // whose stitches are the edges
  joined.positions.resize(mesh.positions.size());
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (const Index node : mesh.face(f)) joined.stitches.push_back({mesh.face(f)[0], node, 1});
  const std::vector<Index> piece = sewn_nodes(joined);  // of each node the lowest of its piece
  struct Extent {
    double left = 1e300, right = -1e300;
  };
  std::map<Index, Extent> extents;
  for (Index node = 0; node < mesh.node_count(); ++node) {
    Extent& extent = extents[piece[node]];
    extent.left = std::min(extent.left, mesh.positions[node].x);
    extent.right = std::max(extent.right, mesh.positions[node].x);
  }
  const double gap = 10 * mean_element_size(mesh);
  double next = 0;
  for (auto& [lowest, extent] : extents) {
    const double move = next - extent.left;
    next += extent.right - extent.left + gap;
    extent.left = move;
  }
  for (Index node = 0; node < mesh.node_count(); ++node) mesh.positions[node].x += extents[piece[node]].left;
}

/// The nodes of a pattern: one for each place that a node of the mesh has in it.
class Pattern {
 public:
  /// Throws MeshError for a mesh without texture coordinates, and where a face of them has no area.
  Pattern(const Mesh& mesh, double scale, const std::string& key, const MeshNames& names)
      : places_(mesh.positions.size()) {
    if (mesh.corner_uvs.empty())
      throw MeshError(text(key, ": found a mesh without texture coordinates at every corner of its faces, ",
                           "expected a pattern in them"));
    double around = 0;
    for (Index f = 0; f < mesh.face_count(); ++f) {
      const Index begin = mesh.face_begin[f], size = mesh.face_size(f);
      double area = 0, sides = 0;
      for (Index k = 0; k < size; ++k) {
        const Vec2d a = scale * mesh.corner_uvs[begin + k],
                    b = scale * mesh.corner_uvs[begin + (k + 1) % size];
        area += (a.x * b.y - a.y * b.x) / 2;
        sides += std::hypot(b.x - a.x, b.y - a.y);
      }
      if (!(std::abs(area) > 1e-9 * sides * sides))
        throw MeshError(text(key, ": found no area of ", names.face(f),
                             " in the pattern, expected some; unfold the mesh again, or delete the face"));
      turned_.push_back(area < 0);
      around += sides;
    }
    const double same = 0.01 * around / mesh.corner_count();  // of the sides' mean length: rounding, no seam
    join_corners(mesh, scale, same);
    std::vector<char> is_taken(mesh.positions.size(), 0);
    std::vector<Index> number(mesh.face_nodes.size(), -1);
    for (Index c = 0; c < mesh.corner_count(); ++c) {
      Index& own = number[joined_.lowest(c)];
      if (own < 0) {
        own = mesh.face_nodes[c];
        if (is_taken[own] != 0) {
          own = static_cast<Index>(places_.size());
          places_.emplace_back();
        } else {
          is_taken[own] = 1;
        }
        places_[own] = scale * mesh.corner_uvs[c];
      }
      node_of_.push_back(own);
    }
  }
  /// Node of each corner, shape [corner_count]. A node's first place has its number, others come after all
  /// nodes of the mesh.
  const std::vector<Index>& node_of() const { return node_of_; }
  const std::vector<Vec2d>& places() const { return places_; }  ///< place of each node in the pattern [m]
  bool is_turned(Index face) const { return turned_[face] != 0; }

 private:
  /// Corners of a node are one node of the pattern where edges that it does not cut lead from one to the
  /// other: islands that only touch stay apart.
  void join_corners(const Mesh& mesh, double scale, double same) {
    joined_ = DisjointSets(mesh.face_nodes.size());
    const std::vector<Index> faces = corner_faces(mesh);
    const auto next = [&](Index c) {
      return c + 1 == mesh.face_begin[faces[c] + 1] ? mesh.face_begin[faces[c]] : c + 1;
    };
    struct Meeting {
      Index a, of_a, b, of_b;
      double gap;  ///< the wider one [m]
    };
    const auto apart = [&](Index a, Index b) {
      const Vec2d way = scale * (mesh.corner_uvs[a] - mesh.corner_uvs[b]);
      return std::hypot(way.x, way.y);
    };
    std::vector<Meeting> meetings;
    std::size_t exact = 0;
    const auto half_edges = sorted_half_edges(mesh);
    for (std::size_t first = 0, last; first < half_edges.size(); first = last) {
      last = end_of_edge(half_edges, first);
      if (last - first != 2) continue;
      const Index a = half_edges[first].corner, b = next(a), c = half_edges[first + 1].corner, d = next(c);
      const bool is_alike = mesh.face_nodes[a] == mesh.face_nodes[c];
      const Index of_a = is_alike ? c : d, of_b = is_alike ? d : c;
      const double gap = std::max(apart(a, of_a), apart(b, of_b));
      if (!(gap <= same)) continue;
      meetings.push_back({a, of_a, b, of_b, gap});
      exact += gap == 0;
    }
    // In a file that shares its texture coordinates what does not meet exactly is another island, however
    // near.
    constexpr double by_sharing = 0.9, rounding = 0.01;
    const bool is_shared = static_cast<double>(exact) > by_sharing * static_cast<double>(meetings.size());
    for (const Meeting& at : meetings) {
      if (is_shared && at.gap > rounding * same) continue;
      joined_.join(at.a, at.of_a);
      joined_.join(at.b, at.of_b);
    }
  }

  DisjointSets joined_;  ///< corners of one node
  std::vector<Vec2d> places_;
  std::vector<Index> node_of_;
  std::vector<char> turned_;  ///< whether each face is clockwise in the pattern
};

}  // namespace

SewnPanels sew_islands(const Mesh& mesh, double scale, double grain, const std::string& key,
                       const MeshNames& names) {
  const Pattern pattern(mesh, scale, key, names);
  const std::vector<Index>& node_of = pattern.node_of();
  SewnPanels result;
  result.mesh.face_begin = mesh.face_begin;
  result.mesh.face_nodes = node_of;
  for (const Vec2d& place : pattern.places()) result.mesh.positions.push_back({place.x, place.y, 0});
  result.placed.resize(pattern.places().size());
  const double cosine = std::cos(grain * std::numbers::pi / 180),
               sine = std::sin(grain * std::numbers::pi / 180);
  for (Index i = 0; i < mesh.corner_count(); ++i) {
    const Vec2d q = pattern.places()[node_of[i]];
    result.mesh.corner_uvs.push_back({cosine * q.x + sine * q.y, cosine * q.y - sine * q.x});
    result.placed[node_of[i]] = mesh.positions[mesh.face_nodes[i]];
  }

  const std::vector<Index> faces = corner_faces(mesh);
  const auto next = [&](Index c) {
    return c + 1 == mesh.face_begin[faces[c] + 1] ? mesh.face_begin[faces[c]] : c + 1;
  };
  std::vector<double> ratios;  // of each edge: its length in the pattern over that in space
  std::map<std::array<Index, 2>, double> stitches;
  const auto half_edges = sorted_half_edges(mesh);
  for (std::size_t first = 0, last; first < half_edges.size(); first = last) {
    last = end_of_edge(half_edges, first);
    const auto ends = [&](std::size_t i) {  // the lower node of the mesh first
      const Index c = half_edges[i].corner, d = next(c);
      return mesh.face_nodes[c] < mesh.face_nodes[d] ? std::array{node_of[c], node_of[d]}
                                                     : std::array{node_of[d], node_of[c]};
    };
    const auto length = [&](const std::array<Index, 2>& edge, const std::vector<Vec3d>& positions) {
      return norm(positions[edge[0]] - positions[edge[1]]);
    };
    const std::array<Index, 2> own = ends(first);
    ratios.push_back(length(own, result.mesh.positions) / length(own, result.placed));
    if (last - first != 2) continue;
    const std::array<Index, 2> other = ends(first + 1);
    if (own == other && pattern.is_turned(faces[half_edges[first].corner]) !=
                            pattern.is_turned(faces[half_edges[first + 1].corner]))
      throw MeshError(text(key, ": found a pattern that is folded, as of mirrored halves: ",
                           names.face(faces[half_edges[first].corner]), " and ",
                           names.face(faces[half_edges[first + 1].corner]),
                           " of it lie on the same side of the edge between ",
                           names.node(half_edges[first].low), " and ", names.node(half_edges[first].high),
                           ", expected islands that lie flat; cut it there, or unfold the mesh again"));
    const double half = (length(own, result.mesh.positions) + length(other, result.mesh.positions)) / 4;
    for (std::size_t end = 0; end < 2; ++end)
      if (own[end] != other[end])
        stitches[{std::min(own[end], other[end]), std::max(own[end], other[end])}] += half;
  }
  // Not by totals: a few folds or long strips say nothing of the scale.
  const auto median = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), median, ratios.end());
  result.stretch = *median;
  if (!(result.stretch > 0.1 && result.stretch < 10))
    throw MeshError(text(key, ": found edges ", result.stretch,
                         " times as long in the pattern as in space (median), expected about as long; use ",
                         scale / result.stretch));
  for (const auto& [nodes, length] : stitches) result.mesh.stitches.push_back({nodes[0], nodes[1], length});
  lay_out(result.mesh);
  return result;
}

}  // namespace isocloth

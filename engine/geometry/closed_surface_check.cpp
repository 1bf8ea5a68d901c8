#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "engine/core/bound_text.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/geometry/closed_surface.hpp"
#include "engine/geometry/triangle_intersection.hpp"
#include "engine/mesh/half_edges.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

/// Greatest and least length of the longest side of the bounding box [m].
constexpr double largest_side = 1e6, smallest_side = 1e-6;
/// Least height of a triangle, in steps of the lattice: so that its normal is no noise.
constexpr double least_height = 8;
constexpr double seam_share = 0x1p-20;  ///< seam_width() over the longest side of the bounding box

/// One surface under test and the name under which its faults are reported.
class SurfaceCheck {
 public:
  SurfaceCheck(const Mesh& surface, const std::string& key) : surface_(surface), key_(key) {}

  void run() {
    check_arrays();
    check_size();
    const PointLattice lattice(surface_.positions);
    check_places(lattice);
    check_edges();
    check_rings();
    check_heights(lattice);
    const ClosedSurface closed(surface_);
    check_intersections(lattice, closed);
    check_orientation(closed);
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse_whole(const Parts&... parts) const {
    throw SceneError(text(key_, ": ", parts...));
  }
  /// What names nodes or faces.
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    refuse_whole(parts..., counted_from_0);
  }

  std::string listed(Index f) const {
    std::string nodes;
    for (const Index node : surface_.face(f)) nodes += text(nodes.empty() ? "" : " ", node);
    return nodes;
  }
  static std::string listed(Vec3d x) { return text("(", x.x, " ", x.y, " ", x.z, ")"); }

  void check_arrays() const {
    if (surface_.face_count() < 4) {
      refuse_whole("the surface has too few faces: found ", surface_.face_count(),
                   ", expected at least 4; a solid has no fewer, give a closed surface");
    }
    const auto& begin = surface_.face_begin;
    if (begin.front() != 0 || begin.back() != surface_.corner_count()) {
      refuse_whole("face_begin does not fit face_nodes: found ", begin.front(), " .. ", begin.back(),
                   ", expected 0 .. ", surface_.corner_count(), "; build faces with add_face");
    }
    for (std::size_t k = 0; k < surface_.positions.size(); ++k) {
      const Vec3d x = surface_.positions[k];
      if (!std::isfinite(x.x) || !std::isfinite(x.y) || !std::isfinite(x.z)) {
        refuse("node ", k, " is nowhere: found ", listed(x), ", expected finite numbers; repair it");
      }
    }
    std::vector<char> used(surface_.positions.size(), 0);
    for (Index f = 0; f < surface_.face_count(); ++f) {
      const auto nodes = surface_.face(f);
      if (nodes.size() != 3 && nodes.size() != 4) {
        refuse("face ", f, " is no triangle or quad: found ", nodes.size(),
               " corners, expected 3 or 4; split the face");
      }
      for (std::size_t c = 0; c < nodes.size(); ++c) {
        if (nodes[c] < 0 || nodes[c] >= surface_.node_count()) {
          refuse("face ", f, " names a node that does not exist: found nodes ", listed(f), ", expected 0 to ",
                 surface_.node_count() - 1, "; repair the face");
        }
        if (std::find(nodes.begin(), nodes.begin() + c, nodes[c]) != nodes.begin() + c) {
          refuse("face ", f, " repeats node ", nodes[c], ": found nodes ", listed(f),
                 ", expected distinct nodes; delete the face");
        }
        used[nodes[c]] = 1;
      }
    }
    const auto unused = std::find(used.begin(), used.end(), 0);
    if (unused != used.end()) {
      refuse("node ", unused - used.begin(), " belongs to no face, as do ",
             std::count(used.begin(), used.end(), 0) - 1, " others: expected every node in use; delete them");
    }
  }

  void check_size() const {
    Vec3d low = surface_.positions.front(), high = low;
    for (const Vec3d& x : surface_.positions) {
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    const double side = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
    if (!(side >= smallest_side && side <= largest_side)) {
      refuse_whole("the surface has no size to work with: found ", side,
                   " m along the longest side of its box, expected ", smallest_side, " to ", largest_side,
                   " m; scale it to metres");
    }
  }

  /// Pairs of these nodes that the lattice has in one place.
  static std::vector<std::array<Index, 2>> coincident(const PointLattice& lattice, std::vector<Index> nodes) {
    const auto place = [&](Index k) { return lattice.lattice_point(k); };
    std::sort(nodes.begin(), nodes.end(), [&](Index a, Index b) {
      const auto p = place(a), q = place(b);
      return p != q ? p < q : a < b;
    });
    std::vector<std::array<Index, 2>> pairs;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (place(nodes[i]) == place(nodes[i - 1])) pairs.push_back({nodes[i - 1], nodes[i]});
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  void check_places(const PointLattice& lattice) const {
    std::vector<Index> nodes(surface_.positions.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    const auto pairs = coincident(lattice, std::move(nodes));
    if (pairs.empty()) return;
    const auto [a, b] = pairs.front();
    refuse(
        "nodes ", a, " and ", b, " lie at one place, ", listed(surface_.positions[a]), ": found ",
        pairs.size(), " nodes on top of others, expected one node per place; ",
        would_pass_welded()
            ? text("weld them: set weld to ", seam_width(surface_), " m")
            : text("they are no seam that weld closes: draw apart what touches there, or make each solid an "
                   "obstacle of its own"));
  }

  /// Whether seam_width() as weld leaves nothing to refuse.
  bool would_pass_welded() const {
    Mesh welded = surface_;
    weld(welded, seam_width(surface_));
    if (welded.positions.size() == surface_.positions.size()) return false;
    try {
      SurfaceCheck(welded, key_).run();
      return true;
    } catch (const SceneError&) {
      return false;
    }
  }

  void check_edges() {
    const auto half_edges = sorted_half_edges(surface_);
    const auto faces = corner_faces(surface_);
    opposites_.resize(surface_.face_nodes.size());
    std::vector<HalfEdge> open;
    for (std::size_t first = 0, last; first < half_edges.size(); first = last) {
      last = end_of_edge(half_edges, first);
      const HalfEdge &a = half_edges[first], &b = half_edges[last - 1];
      if (last - first == 1) {
        open.push_back(a);
      } else if (last - first > 2) {
        refuse("edge ", a.low, " ", a.high, " belongs to too many faces: found ", last - first, " (faces ",
               faces[a.corner], ", ", faces[half_edges[first + 1].corner], ", ",
               faces[half_edges[first + 2].corner], last - first > 3 ? ", ..." : "",
               "), expected 2; delete faces inside of the solid or part it");
      } else if (a.ascending == b.ascending) {
        refuse("faces ", faces[a.corner], " and ", faces[b.corner], " run through their edge ", a.low, " ",
               a.high,
               " the same way: expected opposite ways, all faces counter-clockwise seen from outside; turn "
               "one of "
               "them");
      } else {
        opposites_[a.corner] = b.corner;
        opposites_[b.corner] = a.corner;
      }
    }
    if (open.empty()) return;
    const OpenSeam seam = find_open_seam(surface_, seam_width(surface_));
    const Index holes = hole_count(open);
    std::string advice =
        text("close the holes: ", holes, holes == 1 ? " curve" : " curves", " of such edges");
    if (seam.pair_count > 0) {
      Mesh closed = surface_;
      weld(closed, seam_width(surface_));
      const std::size_t left = find_open_edges(closed).size();
      advice = text("set weld to ", seam_width(surface_), " m, which unites ", seam.pair_count,
                    " nodes with others that nearly coincide, such as ", seam.a, " and ", seam.b, ", ",
                    norm(surface_.positions[seam.a] - surface_.positions[seam.b]), " m apart",
                    left > 0 ? text(", and close the holes of ", left, " edges that it leaves") : "");
    }
    refuse("the surface is open: found ", open.size(), " edges with one face only, first edge ",
           open.front().low, " ", open.front().high, " of face ", faces[open.front().corner], " at ",
           listed(0.5 * (surface_.positions[open.front().low] + surface_.positions[open.front().high])),
           ", expected two faces at every edge; ", advice);
  }

  static std::vector<HalfEdge> find_open_edges(const Mesh& mesh) {
    const auto half_edges = sorted_half_edges(mesh);
    std::vector<HalfEdge> open;
    for (std::size_t first = 0, last; first < half_edges.size(); first = last) {
      last = end_of_edge(half_edges, first);
      if (last - first == 1) open.push_back(half_edges[first]);
    }
    return open;
  }

  /// Curves that hang together, of edges with one face.
  static Index hole_count(const std::vector<HalfEdge>& open) {
    Mesh curves;  // its faces are the edges
    std::map<Index, Index> numbers;
    for (const HalfEdge& edge : open) {
      std::vector<Index> ends;
      for (const Index node : {edge.low, edge.high})
        ends.push_back(numbers.emplace(node, static_cast<Index>(numbers.size())).first->second);
      curves.add_face(ends);
    }
    curves.positions.resize(numbers.size());
    return piece_count(curves);
  }

  /// The faces at a node must follow each other in a single ring.
  void check_rings() const {
    const auto faces = corner_faces(surface_);
    std::vector<Index> at_node(surface_.positions.size(), 0);
    for (const Index node : surface_.face_nodes) ++at_node[node];
    std::vector<char> visited(surface_.positions.size(), 0);
    for (Index start = 0; start < surface_.corner_count(); ++start) {
      const Index node = surface_.face_nodes[start];
      if (visited[node]) continue;
      visited[node] = 1;
      Index length = 0, corner = start;
      do {
        const Index begin = surface_.face_begin[faces[corner]], end = surface_.face_begin[faces[corner] + 1];
        corner = opposites_[corner == begin ? end - 1 : corner - 1];
        ++length;
      } while (corner != start);
      if (length != at_node[node]) {
        refuse("node ", node, " joins parts that meet in it alone: found ", at_node[node], " faces of which ",
               length,
               " follow each other, expected a single ring; duplicate the node and draw the parts apart");
      }
    }
  }

  void check_heights(const PointLattice& lattice) const {
    const double least = least_height * lattice.step();
    for (const auto& [nodes, face] : cut_faces(surface_)) {
      const double height = lattice.height(nodes[0], nodes[1], nodes[2]);
      if (height >= least) continue;
      const ToldApart told = told_apart(height, least, 9);
      refuse("face ", face, " (nodes ", listed(face), ") has no area: found nodes ", nodes[0], ", ", nodes[1],
             " and ", nodes[2], " on a line, to within ", told.found, " m, expected at least ", told.bound,
             " m; delete the face or merge nodes");
    }
  }

  void check_intersections(const PointLattice& lattice, const ClosedSurface& closed) const {
    closed.tree().for_each_near_pair([&](Index s, Index t) {
      const FaceTriangle &a = closed.triangles()[std::min(s, t)], &b = closed.triangles()[std::max(s, t)];
      const auto place = lattice.common_point(a.nodes, b.nodes);
      if (!place) return false;
      if (a.face == b.face) {
        refuse("face ", a.face, " (nodes ", listed(a.face), ") is folded onto itself at ", listed(*place),
               ": expected a quad that lies open; split it or move its nodes");
      }
      refuse(
          "faces ", a.face, " (nodes ", listed(a.face), ") and ", b.face, " (nodes ", listed(b.face),
          ") touch or intersect at ", listed(*place),
          ": expected faces that meet in shared nodes only; remove the overlap: unite overlapping solids, or "
          "make each an obstacle of its own");
    });
  }

  /// Pieces connected through edges, shape [face_count]; returns their number.
  Index find_pieces(std::vector<Index>& pieces) const {
    const auto faces = corner_faces(surface_);
    pieces.assign(static_cast<std::size_t>(surface_.face_count()), -1);
    Index count = 0;
    std::vector<Index> open;
    for (Index seed = 0; seed < surface_.face_count(); ++seed) {
      if (pieces[seed] >= 0) continue;
      pieces[seed] = count;
      open.push_back(seed);
      while (!open.empty()) {
        const Index f = open.back();
        open.pop_back();
        for (Index c = surface_.face_begin[f]; c < surface_.face_begin[f + 1]; ++c) {
          const Index neighbour = faces[opposites_[c]];
          if (pieces[neighbour] >= 0) continue;
          pieces[neighbour] = count;
          open.push_back(neighbour);
        }
      }
      ++count;
    }
    return count;
  }

  /// How many times the surface winds around the places just before a triangle: 0 where nothing is there.
  /// Counts what a ray from its middle leaves and enters, a ray that passes near no rim.
  static Index winding_before(const ClosedSurface& closed, Index triangle) {
    const auto& [a, b, c] = closed.tree().triangle(triangle);
    Index winding = 0;
    double best_margin = -1;
    for (int attempt = 0; attempt < 16 && best_margin < 1e-6; ++attempt) {
      // Directions around the normal; each reaches what lies before the triangle.
      const double angle = 2.399963 * attempt, tilt = 0.1 + 0.05 * attempt;
      const Vec3d side = normalized(b - a), other = cross(closed.normal(triangle), side);
      const Vec3d direction =
          closed.normal(triangle) + (tilt * std::cos(angle)) * side + (tilt * std::sin(angle)) * other;
      Index count = 0;
      double margin = 1;
      closed.tree().for_each_hit((1.0 / 3) * (a + b + c), direction, std::numeric_limits<double>::max(),
                                 [&](const RayHit& hit) {
                                   if (hit.triangle == triangle) return;
                                   count += hit.side > 0 ? 1 : -1;
                                   margin = std::min(margin, std::abs(hit.margin));
                                 });
      if (margin > best_margin) {
        best_margin = margin;
        winding = count;
      }
    }
    return winding;
  }

  void check_orientation(const ClosedSurface& closed) const {
    std::vector<Index> pieces;
    const Index count = find_pieces(pieces);
    std::vector<Index> windings(static_cast<std::size_t>(count)), first(static_cast<std::size_t>(count), -1);
    for (Index t = 0; t < closed.tree().size(); ++t) {
      const Index piece = pieces[closed.triangles()[t].face];
      if (first[piece] >= 0) continue;
      first[piece] = closed.triangles()[t].face;
      windings[piece] = winding_before(closed, t);
    }
    if (std::all_of(windings.begin(), windings.end(), [](Index w) { return w == -1; })) {
      double volume = 0;
      const Vec3d middle = surface_.positions.front();
      for (Index t = 0; t < closed.tree().size(); ++t) {
        const auto& [a, b, c] = closed.tree().triangle(t);
        volume += dot(a - middle, cross(b - middle, c - middle)) / 6;
      }
      refuse_whole("all faces run the wrong way: found a volume of ", volume,
                   " m^3, expected one > 0, faces counter-clockwise seen from outside; turn all faces");
    }
    for (Index piece = 0; piece < count; ++piece) {
      if (windings[piece] == 0) continue;
      const Index size = static_cast<Index>(std::count(pieces.begin(), pieces.end(), piece));
      if (windings[piece] < 0) {
        refuse(
            "the piece of face ", first[piece], " (", size, " of ", surface_.face_count(),
            " faces) runs the wrong way: expected faces counter-clockwise seen from outside; turn its faces");
      }
      refuse("the piece of face ", first[piece], " (", size, " of ", surface_.face_count(),
             " faces) lies within another piece: expected nothing before a face; delete it, or turn its "
             "faces if "
             "it bounds a hollow");
    }
  }

  const Mesh& surface_;
  const std::string& key_;
  std::vector<Index> opposites_;  ///< the half edge of the other face at the same edge, shape [corner_count]
};

}  // namespace

double seam_width(const Mesh& surface) {
  Vec3d low = surface.positions.front(), high = low;
  for (const Vec3d& x : surface.positions) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  return seam_share * std::max({high.x - low.x, high.y - low.y, high.z - low.z});
}

void check_closed_surface(const Mesh& surface, const std::string& key) { SurfaceCheck(surface, key).run(); }

}  // namespace isocloth

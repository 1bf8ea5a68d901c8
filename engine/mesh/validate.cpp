#include "engine/mesh/validate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "engine/core/bound_text.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/half_edges.hpp"
#include "engine/mesh/no_index.hpp"
#include "engine/mesh/topology.hpp"

namespace isocloth {
namespace {

constexpr double tiny_area = 1e-12;    ///< least area of a face over the squared diagonal of the bounding box
constexpr double least_height = 1e-7;  ///< least height of a face over its longest edge
constexpr double farthest = 1e30;      ///< greatest coordinate [m], whose fourth power is still a number
constexpr Index most_faces_at_node = 1000;

using NodePairSet = std::set<std::array<Index, 2>>;

/// One mesh under test and the name under which its faults are reported.
class Validation {
 public:
  Validation(Mesh& mesh, const std::string& source, const MeshNames& names)
      : mesh_(mesh), source_(source), names_(names) {}

  Index run() {
    check_arrays();
    check_numbers();
    check_face_nodes();
    check_isolated_nodes();
    check_crowded_nodes();
    check_duplicate_faces();
    check_areas();
    check_quads();
    check_threads();
    check_bands();
    check_folds();
    check_factors();
    const auto opposites = opposite_corners();
    const auto reversed = reversed_faces(opposites);
    for (Index f = 0; f < mesh_.face_count(); ++f) {
      if (reversed[f]) reverse(f);
    }
    check_fans();
    return static_cast<Index>(std::count(reversed.begin(), reversed.end(), 1));
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    throw MeshError(text(source_, ": ", parts...));
  }

  std::string listed(Index f) const { return names_.listed(mesh_.face(f)); }

  void check_arrays() const {
    if (mesh_.positions.empty())
      refuse("the mesh is empty: found no nodes, expected at least 3; add vertices");
    if (mesh_.face_count() == 0) refuse("the mesh is empty: found no faces, expected at least 1; add faces");
    const auto& begin = mesh_.face_begin;
    if (begin.front() != 0 || begin.back() != mesh_.corner_count()) {
      refuse("face_begin does not fit face_nodes: found ", begin.front(), " .. ", begin.back(),
             ", expected 0 .. ", mesh_.corner_count(), "; build faces with add_face");
    }
    for (std::size_t f = 0; f + 1 < begin.size(); ++f) {
      const Index size = begin[f + 1] - begin[f];
      if (size != 3 && size != 4) {
        refuse(names_.face(f), " is no triangle or quad: found ", size,
               " corners, expected 3 or 4; split the face");
      }
    }
    if (!mesh_.corner_uvs.empty() && mesh_.corner_uvs.size() != mesh_.face_nodes.size()) {
      refuse("corner_uvs do not fit: found ", mesh_.corner_uvs.size(),
             ", expected none or one per face corner, ", mesh_.corner_count(),
             "; give every face texture coordinates or none");
    }
  }

  void check_numbers() const {
    for (std::size_t k = 0; k < mesh_.positions.size(); ++k) {
      const Vec3d x = mesh_.positions[k];
      if (!std::isfinite(x.x) || !std::isfinite(x.y) || !std::isfinite(x.z)) {
        refuse(names_.node(k), " is nowhere: found ", x.x, " ", x.y, " ", x.z,
               ", expected finite numbers; repair it");
      }
      if (!(std::max({std::abs(x.x), std::abs(x.y), std::abs(x.z)}) <= farthest))
        refuse(names_.node(k), " is too far away: found ", x.x, " ", x.y, " ", x.z, ", expected at most ",
               farthest, " m; is the unit right?");
    }
    for (std::size_t c = 0; c < mesh_.corner_uvs.size(); ++c) {
      const Vec2d uv = mesh_.corner_uvs[c];
      if (!std::isfinite(uv.x) || !std::isfinite(uv.y)) {
        refuse("corner_uvs[", c, "] is nowhere: found ", uv.x, " ", uv.y,
               ", expected finite numbers; repair it or delete the texture coordinates");
      }
    }
  }

  void check_face_nodes() const {
    for (Index f = 0; f < mesh_.face_count(); ++f) {
      const auto nodes = mesh_.face(f);
      for (std::size_t c = 0; c < nodes.size(); ++c) {
        if (nodes[c] < 0 || nodes[c] >= mesh_.node_count()) {
          refuse(names_.face(f), " names a node that does not exist: found nodes ", listed(f), ", expected ",
                 names_.first, " to ", mesh_.node_count() - 1 + names_.first, "; repair the face");
        }
        if (std::find(nodes.begin(), nodes.begin() + c, nodes[c]) != nodes.begin() + c) {
          refuse(names_.face(f), " repeats ", names_.node(nodes[c]), ": found nodes ", listed(f),
                 ", expected distinct nodes; delete the face");
        }
      }
    }
  }

  /// Rows around a node couple all its neighbours with each other.
  void check_crowded_nodes() const {
    std::vector<Index> counts(mesh_.positions.size(), 0);
    for (const Index node : mesh_.face_nodes) ++counts[node];
    const auto most = std::max_element(counts.begin(), counts.end());
    if (*most > most_faces_at_node)
      refuse(names_.node(most - counts.begin()), ": found ", *most, " faces around it, expected at most ",
             most_faces_at_node, "; mesh it more evenly");
  }

  void check_isolated_nodes() const {
    std::vector<char> used(mesh_.positions.size(), 0);
    for (const Index node : mesh_.face_nodes) used[node] = 1;
    const auto unused = std::find(used.begin(), used.end(), 0);
    if (unused != used.end()) {
      refuse(names_.node(unused - used.begin()),
             " is isolated: found no face at it, expected at least one; delete it");
    }
  }

  void check_duplicate_faces() const {
    struct Key {
      std::array<Index, 4> nodes;
      Index face;
    };
    std::vector<Key> keys;
    for (Index f = 0; f < mesh_.face_count(); ++f) {
      Key key{{no_index, no_index, no_index, no_index}, f};
      const auto nodes = mesh_.face(f);
      std::copy(nodes.begin(), nodes.end(), key.nodes.begin());
      std::sort(key.nodes.begin(), key.nodes.end());
      keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
      return a.nodes != b.nodes ? a.nodes < b.nodes : a.face < b.face;
    });
    Index first = no_index, twin = no_index;
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i].nodes != keys[i - 1].nodes || (twin != no_index && keys[i].face > twin)) continue;
      first = keys[i - 1].face;
      twin = keys[i].face;
    }
    if (twin != no_index) {
      refuse(names_.face(twin), " repeats ", names_.face(first), ": found nodes ", listed(twin),
             " twice, expected each face once; delete one of them");
    }
  }

  void check_areas() const {
    Vec3d low = mesh_.positions.front(), high = low;
    for (const Vec3d& x : mesh_.positions) {
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    const double least = tiny_area * dot(high - low, high - low);
    for (Index f = 0; f < mesh_.face_count(); ++f) {
      const double area = norm(area_vector(mesh_, f));
      if (!(area > least)) {
        const ToldApart told = told_apart(area, least, 9, true);
        refuse(names_.face(f), " has no area: found ", told.found, " m^2, expected more than ", told.bound,
               "; delete the face or merge its nodes");
      }
      const auto nodes = mesh_.face(f);
      double longest = 0;
      for (std::size_t c = 0; c < nodes.size(); ++c)
        longest = std::max(longest,
                           norm(mesh_.positions[nodes[(c + 1) % nodes.size()]] - mesh_.positions[nodes[c]]));
      const double altitude = (nodes.size() == 3 ? 2 : 1) * area / longest;
      if (!(altitude > least_height * longest)) {
        const ToldApart told = told_apart(altitude, least_height * longest, 9, true);
        refuse(names_.face(f), " is a sliver: found a height of ", told.found, " m over an edge of ", longest,
               " m, expected more than ", told.bound, " m; delete the face or merge its nodes");
      }
    }
  }

  /// dX/dxi x dX/deta at the 3x3 Gauss points must point to the side of the mean plane's normal.
  void check_quads() const {
    constexpr double far = 0.7745966692414834;  // sqrt(3/5)
    for (Index f = 0; f < mesh_.face_count(); ++f) {
      if (mesh_.face_size(f) != 4) continue;
      const auto nodes = mesh_.face(f);
      const auto x = [&](std::size_t c) { return mesh_.positions[nodes[c]]; };
      const Vec3d normal = area_vector(mesh_, f);
      for (const double xi : {-far, 0.0, far}) {
        for (const double eta : {-far, 0.0, far}) {
          const Vec3d along_xi = (1 - eta) * (x(1) - x(0)) + (1 + eta) * (x(2) - x(3));
          const Vec3d along_eta = (1 - xi) * (x(3) - x(0)) + (1 + xi) * (x(2) - x(1));
          const double jacobian = dot(cross(along_xi, along_eta), normal) / norm(normal) / 16;
          if (jacobian > 0) continue;
          refuse(names_.face(f), " folds over: found Jacobian ", jacobian, " m^2 at a Gauss point of nodes ",
                 listed(f), ", expected a number > 0; split the quad or move its corners");
        }
      }
    }
  }

  /// Checks the ends of a thread or band: two nodes, which none before it joins.
  void check_ends(const char* what, std::size_t s, Index a, Index b, NodePairSet& known) const {
    if (std::min(a, b) < 0 || std::max(a, b) >= mesh_.node_count())
      refuse(what, " ", s, " names a node that does not exist: found nodes ", a, " ", b, ", expected 0 to ",
             mesh_.node_count() - 1);
    if (a == b) refuse(what, " ", s, ": found node ", a, " twice, expected two nodes");
    if (!known.insert({std::min(a, b), std::max(a, b)}).second)
      refuse(what, " ", s, ": found nodes ", a, " and ", b, ", which a ", what, " or stitch before it joins");
  }
  void check_number(const char* what, std::size_t s, const char* name, double value, bool may_be_zero) const {
    if (!(value > 0 || (may_be_zero && value == 0)) || !std::isfinite(value))
      refuse(what, " ", s, ": found a ", name, " of ", value, ", expected a number ",
             may_be_zero ? ">= 0" : "> 0");
  }

  void check_folds() const {
    std::set<std::array<Index, 4>> known;
    for (std::size_t s = 0; s < mesh_.folds.size(); ++s) {
      const Fold& fold = mesh_.folds[s];
      std::array<Index, 4> nodes = fold.nodes;
      const auto& [a, b, c, d] = fold.nodes;
      std::ranges::sort(nodes);
      if (nodes.front() < 0 || nodes.back() >= mesh_.node_count())
        refuse("fold ", s, " names a node that does not exist: found nodes ", a, " ", b, " ", c, " ", d,
               ", expected 0 to ", mesh_.node_count() - 1);
      if (std::ranges::adjacent_find(nodes) != nodes.end())
        refuse("fold ", s, ": found nodes ", a, " ", b, " ", c, " ", d, ", expected four nodes");
      if (!known.insert(nodes).second)
        refuse("fold ", s, ": found nodes ", a, " ", b, " ", c, " ", d, ", which a fold before it has");
      if (!(std::fabs(fold.angle) <= std::numbers::pi))
        refuse("fold ", s, ": found an angle of ", fold.angle, " rad, expected one from -pi to pi");
      check_number("fold", s, "stiffness [N m]", fold.stiffness, true);
      check_number("fold", s, "factor", fold.factor, true);
    }
  }

  void check_factors() const {
    const std::size_t count = mesh_.face_factors.size(), faces = static_cast<std::size_t>(mesh_.face_count());
    if (count != 0 && count != faces)
      refuse("face_factors: found ", count, " of them, expected none or ", faces, ", one for each face");
    for (std::size_t f = 0; f < count; ++f) {
      const FabricFactors& own = mesh_.face_factors[f];
      check_number("face", f, "factor of density", own.density, false);
      check_number("face", f, "factor of stretch stiffness", own.stretch, false);
      check_number("face", f, "factor of weft stretch stiffness", own.weft_stretch, false);
      check_number("face", f, "factor of shear stiffness", own.shear, false);
      check_number("face", f, "factor of bending stiffness", own.bending, false);
    }
  }

  void check_bands() const {
    NodePairSet known;
    for (std::size_t s = 0; s < mesh_.bands.size(); ++s) {
      const Band& band = mesh_.bands[s];
      check_ends("band", s, band.a, band.b, known);
      check_number("band", s, "length [m]", band.length, false);
      check_number("band", s, "stiffness [N]", band.stiffness, false);
    }
  }

  void check_threads() const {
    NodePairSet known;
    for (std::size_t s = 0; s < mesh_.stitches.size(); ++s) {
      const Stitch& stitch = mesh_.stitches[s];
      check_ends("stitch", s, stitch.a, stitch.b, known);
      check_number("stitch", s, "length [m]", stitch.length, false);
    }
    for (std::size_t s = 0; s < mesh_.buttons.size(); ++s) {
      const Button& button = mesh_.buttons[s];
      check_ends("button", s, button.a, button.b, known);
      check_number("button", s, "distance [m]", button.distance, false);
      check_number("button", s, "stiffness [N/m]", button.stiffness, false);
      check_number("button", s, "force [N]", button.force, false);
      check_number("button", s, "strength [N]", button.strength, true);
    }
    if (known.empty()) return;
    for (Index f = 0; f < mesh_.face_count(); ++f)
      for (Index c = mesh_.face_begin[f]; c < mesh_.face_begin[f + 1]; ++c)
        if (const auto [low, high] = std::minmax(mesh_.face_nodes[c], mesh_.face_nodes[following(f, c)]);
            known.contains({low, high}))
          refuse("nodes ", low, " and ", high, " are sewn together: found an edge of face ", f,
                 " between them, expected two nodes of different faces");
  }

  /// The half edge of the other face at the same edge, shape [corner_count]; -1 on the boundary.
  std::vector<Index> opposite_corners() const {
    std::vector<Index> opposites(mesh_.face_nodes.size(), no_index);
    const auto half_edges = sorted_half_edges(mesh_);
    const auto faces = corner_faces(mesh_);
    for (std::size_t first = 0, last; first < half_edges.size(); first = last) {
      last = end_of_edge(half_edges, first);
      if (last - first > 2) {
        refuse("edge ", names_.number(half_edges[first].low), " ", names_.number(half_edges[first].high),
               " belongs to too many faces: found ", last - first, " (",
               names_.face(faces[half_edges[first].corner]), ", ",
               names_.face(faces[half_edges[first + 1].corner]), ", ",
               names_.face(faces[half_edges[first + 2].corner]), last - first > 3 ? ", ..." : "",
               "), expected at most 2; delete faces or separate the surfaces");
      }
      if (last - first == 2) {
        opposites[half_edges[first].corner] = half_edges[first + 1].corner;
        opposites[half_edges[first + 1].corner] = half_edges[first].corner;
      }
    }
    return opposites;
  }

  /// Which faces run against the first face of their connected piece, shape [face_count].
  std::vector<char> reversed_faces(const std::vector<Index>& opposites) const {
    constexpr char unknown = 2;
    const auto faces = corner_faces(mesh_);
    std::vector<char> reversed(static_cast<std::size_t>(mesh_.face_count()), unknown);
    std::vector<Index> open;
    for (Index seed = 0; seed < mesh_.face_count(); ++seed) {
      if (reversed[seed] != unknown) continue;
      reversed[seed] = 0;
      open.push_back(seed);
      while (!open.empty()) {
        const Index f = open.back();
        open.pop_back();
        for (Index c = mesh_.face_begin[f]; c < mesh_.face_begin[f + 1]; ++c) {
          const Index opposite = opposites[c];
          if (opposite == no_index) continue;
          // Two faces with one orientation run through their common edge in opposite directions.
          const bool against = mesh_.face_nodes[c] == mesh_.face_nodes[opposite];
          const char expected = static_cast<char>(reversed[f] ^ (against ? 1 : 0));
          const Index neighbour = faces[opposite];
          if (reversed[neighbour] == unknown) {
            reversed[neighbour] = expected;
            open.push_back(neighbour);
          } else if (reversed[neighbour] != expected) {
            refuse(names_.face(std::min(f, neighbour)), " and ", names_.face(std::max(f, neighbour)),
                   " cannot be oriented alike: found a one-sided surface (Moebius strip), expected two "
                   "sides; cut it");
          }
        }
      }
    }
    return reversed;
  }

  void reverse(Index f) {
    // The first corner stays the first.
    std::reverse(mesh_.face_nodes.begin() + mesh_.face_begin[f] + 1,
                 mesh_.face_nodes.begin() + mesh_.face_begin[f + 1]);
    if (mesh_.corner_uvs.empty()) return;
    std::reverse(mesh_.corner_uvs.begin() + mesh_.face_begin[f] + 1,
                 mesh_.corner_uvs.begin() + mesh_.face_begin[f + 1]);
  }

  /// The faces at a node must follow each other, edge by edge, in a single fan.
  void check_fans() const {
    const auto opposites = opposite_corners();
    const auto faces = corner_faces(mesh_);
    std::vector<Index> at_node(mesh_.positions.size(), 0);
    for (const Index node : mesh_.face_nodes) ++at_node[node];
    std::vector<char> visited(mesh_.positions.size(), 0);
    for (Index start = 0; start < mesh_.corner_count(); ++start) {
      const Index node = mesh_.face_nodes[start];
      if (visited[node]) continue;
      visited[node] = 1;
      Index first = start;  // against the fan to its beginning, or once around a closed one
      for (Index c = opposites[start]; c != no_index; c = opposites[first]) {
        first = following(faces[c], c);
        if (first == start) break;
      }
      Index length = 1;
      for (Index c = opposites[preceding(faces[first], first)]; c != no_index && c != first;
           c = opposites[preceding(faces[c], c)]) {
        ++length;
      }
      if (length != at_node[node]) {
        refuse(names_.node(node), " joins pieces that meet in it alone (bow tie): found ", at_node[node],
               " faces of which ", length, " follow each other, expected a single fan; duplicate the node");
      }
    }
  }

  Index following(Index f, Index c) const {
    return c + 1 == mesh_.face_begin[f + 1] ? mesh_.face_begin[f] : c + 1;
  }
  Index preceding(Index f, Index c) const {
    return c == mesh_.face_begin[f] ? mesh_.face_begin[f + 1] - 1 : c - 1;
  }

  Mesh& mesh_;
  const std::string& source_;
  const MeshNames& names_;
};

}  // namespace

Index validate_mesh(Mesh& mesh, const std::string& source, const MeshNames& names) {
  return Validation(mesh, source, names).run();
}

}  // namespace isocloth

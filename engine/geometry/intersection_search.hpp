// Where surfaces pass through themselves and through each other, decided exactly.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/geometry/face_tree.hpp"

namespace isocloth {

/// An edge that passes through a face.
struct Crossing {
  std::size_t edge_surface = 0;
  std::array<Index, 2> edge{};  ///< its nodes, the lower first; of quads the diagonals, too
  std::size_t face_surface = 0;
  Index face = 0;
  Vec3d position;  ///< [m], to within rounding
};

/// Pairs of an edge and a triangle.
struct Crossings {
  static constexpr std::size_t most_named = 10;
  std::int64_t count = 0;
  std::vector<Crossing> first;  ///< at most most_named of them, always the same of one state
};

/// Two triangles that lie in one plane and have a point inside of both.
struct Overlap {
  std::array<std::size_t, 2> surfaces{};
  /// Faces of the triangles; the same twice: the halves of a quad folded onto itself.
  std::array<Index, 2> faces{};
  Vec3d position;  ///< middle of the first triangle [m]
};

/// Pairs of triangles.
struct Overlaps {
  std::int64_t count = 0;
  std::vector<Overlap> first;  ///< at most Crossings::most_named of them, always the same of one state
};

/// What a state holds of intersections. A pair of triangles may be in each: their edges may cross, touch or
/// neither, and where the triangles overlap in one plane, no edge of one crosses or touches the other.
struct Intersections {
  Crossings crossing;    ///< Meeting::crossing: the edge passes through the inside of the triangle
  Crossings touching;    ///< Meeting::touching, to the last bit: they may pass through there, or not
  Overlaps overlapping;  ///< overlap_in_plane(), neighbours that are folded flat onto each other included
  std::vector<std::size_t> surfaces;  ///< surfaces with an edge or face among the crossing ones, ascending
  /// Triangles with a node whose coordinates are no finite numbers: they count as apart from all others.
  std::int64_t unknown_triangles = 0;
};

/// A node and a triangle, or two edges, that are near each other.
struct NearFeatures {
  std::array<std::size_t, 2> surfaces{};
  bool is_edges = false;
  std::array<Index, 2> first{};  ///< the edge's nodes, the lower first; or the node, twice
  /// Nodes of the second edge, the lower first; of a node and a triangle: not used.
  std::array<Index, 2> second{};
  Index face = 0;        ///< the triangle's
  double distance = 0;   ///< [m]
  double thickness = 0;  ///< distance that the two are to keep [m]
  Vec3d position;        ///< position on the first [m]
};

/// What a state holds of features that are near each other.
struct Nearness {
  std::int64_t coincident_count = 0;  ///< nearer than a millionth of the thickness: no direction parts them
  std::vector<NearFeatures> coincident;  ///< at most Crossings::most_named of them
  /// Number of pairs that are not coincident, but nearer than their thickness less Spacing::allowance.
  std::int64_t near_count = 0;
  NearFeatures nearest;  ///< the one that is nearest in parts of its thickness
};

/// Tests all edges against all triangles that share no node with them (nodes that are sewn together count as
/// one), by the exact meeting() of engine/geometry/exact_predicates.hpp, and all pairs of triangles,
/// neighbours too, by its overlap_in_plane(). Two triangles that have more than a common node or side in
/// common have an edge that crosses or touches where they are not of one plane, and overlap where they are.
/// All of it holds for the coordinates as they are, however small or large they or their differences be. The
/// test knows of no solver and shares no formula with one. Quads are two triangles, split from corner 0 to
/// corner 2, whatever the surface between the four nodes may be.
class IntersectionSearch {
 public:
  /// Valid meshes, whose rest shapes give the trees; worlds: shape [surface_count]. Surfaces of one world
  /// meet each other, those of `every_world` meet all, others do not. Empty: all meet. is_kinematic: surfaces
  /// that may pass through themselves and each other, same shape; empty: none.
  explicit IntersectionSearch(const std::vector<const Mesh*>& meshes, const std::vector<Index>& worlds = {},
                              const std::vector<bool>& is_kinematic = {});
  static constexpr Index every_world = -1;

  /// positions [m]: shape [surface_count, node_count]. Cost O(n log n) for n triangles of which few are near
  /// others.
  Intersections find(const std::vector<std::vector<Vec3d>>& positions);

  /// What find_near() measures against.
  struct Spacing {
    /// Thickness of each surface; a pair keeps the mean of both [m], >= 0, shape [surface_count].
    std::vector<double> thicknesses;
    /// Rest shape of each surface [m]: what is nearer there than 2 thicknesses need keep half of that only.
    std::vector<const std::vector<Vec3d>*> rests;
    double allowance = 0;  ///< how much nearer than its thickness a pair may be without being counted [m]
    bool counts_open_seams = true;  ///< false: not where a node of a surface lies on another of the same
  };
  /// Nearness of all nodes to all triangles and of all edges to all edges, those aside that share a node
  /// (sewn ones count as one). Unlike find() this sees what overlaps in one plane. Distances are rounded;
  /// less than 1e-12 of the largest coordinate is none. Cost as find(), where few are nearer than their
  /// thickness.
  Nearness find_near(const std::vector<std::vector<Vec3d>>& positions, const Spacing& spacing);

 private:
  struct State {
    std::vector<Vec3d> positions;
    FaceTree::Boxes boxes;
  };
  struct Surface {
    std::shared_ptr<const FaceTree> tree;            ///< also that of other surfaces of the same faces
    std::shared_ptr<const std::vector<Index>> sewn;  ///< see sewn_nodes()
    std::size_t state = 0;  ///< index in states_; 0: shared by all that meet no other surface
    bool is_kinematic = false;
  };
  const State& state(std::size_t s) const { return states_[surfaces_[s].state]; }
  /// Calls visit(s, Leaf of s, t, Leaf of t) for all triangles whose boxes, wider by margins, overlap, each
  /// pair once. Returns Intersections::unknown_triangles.
  template <class Visit>
  std::int64_t for_each_near_pair(const std::vector<std::vector<Vec3d>>& positions,
                                  const std::vector<double>& margins, const Visit& visit);
  template <class Visit>
  void visit_everywhere(const Visit& visit) const;
  template <class Visit>
  void visit_pair(std::size_t s, std::size_t t, const Visit& visit) const;
  std::int64_t take(const std::vector<Vec3d>& positions, const Surface& surface, double margin);
  bool are_sewn(std::size_t s, Index node, std::size_t t, Index other) const {
    return s == t && (*surfaces_[s].sewn)[node] == (*surfaces_[s].sewn)[other];
  }
  void test_sides(std::size_t s, const FaceTree::Leaf& of, std::size_t t, const FaceTree::Leaf& with,
                  Intersections& found) const;
  void test_plane(std::size_t s, const FaceTree::Leaf& one, std::size_t t, const FaceTree::Leaf& other,
                  Intersections& found) const;
  void measure_nodes(std::size_t s, const FaceTree::Leaf& of, std::size_t t, const FaceTree::Leaf& with,
                     const Spacing& spacing, Nearness& found) const;
  void measure_sides(std::size_t s, const FaceTree::Leaf& one, std::size_t t, const FaceTree::Leaf& other,
                     const Spacing& spacing, Nearness& found) const;
  template <class NodeDistance, class RestDistance>
  void count(NearFeatures pair, const Spacing& spacing, const NodeDistance& distance_of_nodes,
             const RestDistance& distance_at_rest, Nearness& found) const;

  std::vector<Surface> surfaces_;
  std::vector<State> states_{1};
  std::vector<std::size_t> everywhere_;           ///< surfaces of every world
  std::vector<std::vector<std::size_t>> worlds_;  ///< surfaces of each world, those of every world left out
};

}  // namespace isocloth

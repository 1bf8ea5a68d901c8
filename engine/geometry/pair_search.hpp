// Which nodes, edges and faces of moving surfaces come near each other.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "engine/geometry/face_tree.hpp"

namespace isocloth {

/// A node and a triangle, or two edges.
struct FeaturePair {
  Index is_edges = 0;  ///< 1: both are edges; 0: `first` is a node, `second` a triangle
  Index first = 0, second = 0;
  bool operator==(const FeaturePair&) const = default;
};

/// Nodes, edges and triangles of several surfaces, numbered one surface after another. Quads are two
/// triangles, split from corner 0 to corner 2; diagonals are edges.
struct SurfaceFeatures {
  /// First node, triangle and edge of each surface, shape [surface_count + 1].
  std::vector<Index> node_begin, triangle_begin, edge_begin;
  std::vector<Index> node_surfaces;             ///< surface of each node, shape [node_count]
  std::vector<std::array<Index, 3>> triangles;  ///< nodes, shape [triangle_count]
  std::vector<std::array<Index, 3>> sides;      ///< edge from node k to node k + 1; same shape
  std::vector<std::array<Index, 2>> edges;      ///< nodes, the lower first, shape [edge_count]
  std::vector<Index> sewn;                      ///< see sewn_nodes(), shape [node_count]

  Index node_count() const { return node_begin.back(); }
  /// Those of the first side before those of the second.
  std::array<Index, 4> nodes_of(const FeaturePair& pair) const {
    if (pair.is_edges != 0) {
      const std::array<Index, 2>&one = edges[static_cast<std::size_t>(pair.first)],
                              &other = edges[static_cast<std::size_t>(pair.second)];
      return {one[0], one[1], other[0], other[1]};
    }
    const auto& [a, b, c] = triangles[static_cast<std::size_t>(pair.second)];
    return {pair.first, a, b, c};
  }
  /// The surfaces of the first side and of the second.
  std::array<std::size_t, 2> surfaces_of(const FeaturePair& pair) const {
    const std::array<Index, 4> nodes = nodes_of(pair);
    return {static_cast<std::size_t>(node_surfaces[static_cast<std::size_t>(nodes.front())]),
            static_cast<std::size_t>(node_surfaces[static_cast<std::size_t>(nodes.back())])};
  }
};

/// Finds pairs of features whose boxes overlap, those that share a node, or nodes that are sewn together,
/// left out.
class PairSearch {
 public:
  /// Valid meshes, whose rest shapes give the trees. worlds: surfaces of one world meet each other, those of
  /// `every_world` meet all, others do not; empty: all meet. is_kinematic: surfaces that meet neither
  /// themselves nor each other; empty: none. Both of shape [surface_count].
  explicit PairSearch(const std::vector<const Mesh*>& meshes, const std::vector<Index>& worlds = {},
                      const std::vector<bool>& is_kinematic = {});
  static constexpr Index every_world = -1;
  /// Who does the pieces of a search.
  struct Workers {
    using Piece = std::function<void(std::size_t)>;
    /// Calls piece(i) for all i < count, in any order, perhaps several at once.
    std::function<void(std::size_t count, const Piece& piece)> for_each;
    /// Adds to a sum that all pieces share, and returns it.
    std::function<std::size_t(std::size_t)> add;
  };
  /// The caller, piece after piece.
  static Workers alone();
  const SurfaceFeatures& features() const { return features_; }
  std::size_t surface_count() const { return surfaces_.size(); }
  const FaceTree& tree(std::size_t surface) const { return surfaces_[surface].tree; }
  /// Whether features of a surface are sought near those of another, or its own.
  bool meets(std::size_t one, std::size_t other) const {
    const Surface &a = surfaces_[one], &b = surfaces_[other];
    return !(a.is_kinematic && b.is_kinematic) &&
           (a.world == b.world || a.world == every_world || b.world == every_world);
  }
  /// Bytes of its boxes, and of the room for pairs that it keeps for the next search.
  std::size_t memory_bytes() const;

  /// How features go from one state to the other along their straight ways.
  enum class Times {
    own,    ///< each when it likes: their boxes hold the whole ways
    common  ///< all at constant speeds and at once: their boxes move
  };
  /// Pairs whose boxes overlap on ways from one state to the other, each once, in the order of the trees,
  /// those of nodes and triangles before those of edges. from, to [m]: shape [node_count]; margins [m]: of
  /// each surface, by which boxes are larger on all sides. Returns whether they are at most `most`; else
  /// `pairs` is empty: on ways across a whole cloth, each in its own time, all features are near all others.
  /// Cost O(n log n) for n triangles of which few are near others. What pieces throw is thrown when all are
  /// done.
  bool find(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, ArrayView<const double> margins,
            std::size_t most, std::vector<FeaturePair>& pairs, const Workers& workers = alone(),
            Times times = Times::own);

  /// A node that goes elsewhere than find() was told.
  struct UpdatedTrajectory {
    Index node;
    Vec3d from, to;  ///< [m]
  };
  /// After find() in own times: with all other nodes on the ways they had, adds to `pairs` those of which a
  /// node takes a trajectory, whether they are there or not, those of nodes and triangles before those of
  /// edges. Returns whether they are then at most `most`; else they are missing, and only find() helps. Cost
  /// O(k log n) for k updated_trajectories. Detours with a coordinate that is no number are not for it.
  bool update(const std::vector<UpdatedTrajectory>& updated_trajectories, ArrayView<const double> margins,
              std::size_t most, std::vector<FeaturePair>& pairs, const Workers& workers = alone());

 private:
  struct Surface {
    FaceTree tree;
    Index world = every_world;
    bool is_kinematic = false;
  };
  /// A branch of a surface's tree, whose triangles are looked at.
  struct Piece {
    enum class With { itself, sibling, other_surfaces };  ///< the last: those that come later
    std::size_t surface;
    FaceTree::Branch branch, sibling;
    With with;
    std::vector<FeaturePair> of_nodes, of_edges;
    std::size_t count() const { return of_nodes.size() + of_edges.size(); }
  };
  /// Boxes of all features, either at rest on their whole ways or moving.
  template <class Box>
  struct Boxes {
    std::vector<FaceTree::BoxesOf<Box>> surfaces;
    std::vector<Box> nodes, edges;
  };
  /// Which nodes take an updated trajectory, and of each surface which nodes of its tree hold one.
  struct Detoured {
    std::vector<char> nodes;
    std::vector<std::vector<char>> tree;
  };
  /// Calls work(i) for all i < count; what it throws is thrown when all are done.
  template <class Work>
  void for_each(const Workers& workers, std::size_t count, const Work& work);
  /// Number of pairs that all pieces have found.
  std::size_t found_count() const;
  void clear_pairs();
  void append_pairs(std::vector<FeaturePair>& pairs) const;
  /// Gives the memory of the pairs back.
  void forget_pairs();
  /// The pieces of a branch that is parted so many times.
  void split(std::size_t surface, const FaceTree::Branch& branch, int levels);
  template <class Box>
  void find(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, ArrayView<const double> margins,
            std::size_t most, const Workers& workers, Boxes<Box>& boxes);
  template <class Box>
  void fit(std::size_t surface, ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, double margin,
           Boxes<Box>& boxes) const;
  /// detoured: pairs of these alone, null: all.
  template <class Box>
  void search(const Boxes<Box>& boxes, std::size_t most, const Workers& workers, const Detoured* detoured,
              Piece& piece) const;
  template <class Box>
  void test(const Boxes<Box>& boxes, const FaceTree::LeafOf<Box>& one, Index first_triangle,
            const FaceTree::LeafOf<Box>& other, Index other_first_triangle, Piece& piece) const;
  template <class Box>
  void test_nodes(const Boxes<Box>& boxes, Index triangle, const FaceTree::LeafOf<Box>& with, Index other,
                  std::vector<FeaturePair>& pairs) const;

  std::vector<Surface> surfaces_;
  SurfaceFeatures features_;
  std::vector<unsigned> owned_nodes_, owned_sides_;  ///< as FaceTree::Triangle, shape [triangle_count]
  std::vector<Index> node_triangle_begin_, node_triangles_;  ///< the triangles of every node
  Boxes<BoundingBox> resting_;
  Boxes<MovingBox> moving_;
  Detoured detoured_;
  std::vector<Piece> pieces_;
};

}  // namespace isocloth

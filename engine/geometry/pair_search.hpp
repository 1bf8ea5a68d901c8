// Which nodes, edges and faces of moving surfaces come near each other.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "engine/geometry/face_tree.hpp"

namespace isocloth {

/// Nodes, edges and triangles of several surfaces, numbered one surface after another. Quads are two
/// triangles, split from corner 0 to corner 2; diagonals are edges.
struct SurfaceFeatures {
  std::vector<Index> node_begin, triangle_begin;  ///< of each surface, shape [surface_count + 1]
  std::vector<Index> node_surfaces;               ///< surface of each node, shape [node_count]
  std::vector<std::array<Index, 3>> triangles;    ///< nodes, shape [triangle_count]
  std::vector<std::array<Index, 3>> sides;        ///< edge from node k to node k + 1; same shape
  std::vector<std::array<Index, 2>> edges;        ///< nodes, the lower first, shape [edge_count]
  std::vector<Index> sewn;                        ///< see sewn_nodes(), shape [node_count]

  Index node_count() const { return node_begin.back(); }
};

/// A node and a triangle, or two edges.
struct FeaturePair {
  Index is_edges = 0;  ///< 1: both are edges; 0: `first` is a node, `second` a triangle
  Index first = 0, second = 0;
  bool operator==(const FeaturePair&) const = default;
};

/// Finds pairs of features whose boxes overlap, those that share a node, or nodes that are sewn together,
/// left out.
class PairSearch {
 public:
  /// Valid meshes, whose rest shapes give the trees. worlds: surfaces of one world meet each other, those of
  /// `every_world` meet all, others do not; empty: all meet. is_driven: surfaces that meet neither themselves
  /// nor each other; empty: none. Both of shape [surface_count].
  explicit PairSearch(const std::vector<const Mesh*>& meshes, const std::vector<Index>& worlds = {},
                      const std::vector<bool>& is_driven = {});
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

  /// Pairs whose boxes overlap on straight ways from one state to the other, each once, in an order that the
  /// boxes alone decide. from, to [m]: shape [node_count]; margins [m]: of each surface, by which boxes are
  /// larger on all sides. Returns whether they are at most `most`; else `pairs` is empty: on ways across a
  /// whole cloth all features are near all others. Cost O(n log n) for n triangles of which few are near
  /// others.
  bool find(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, ArrayView<const double> margins,
            std::size_t most, std::vector<FeaturePair>& pairs, const Workers& workers = alone());

 private:
  struct Surface {
    FaceTree tree;
    Index world = every_world;
    bool is_driven = false;
    FaceTree::Boxes boxes{};
    bool meets(const Surface& other) const {
      return !(is_driven && other.is_driven) &&
             (world == other.world || world == every_world || other.world == every_world);
    }
  };
  /// A branch of a surface's tree, whose triangles are looked at.
  struct Piece {
    enum class With { itself, sibling, other_surfaces };  ///< the last: those that come later
    std::size_t surface;
    FaceTree::Branch branch, sibling;
    With with;
    std::vector<FeaturePair> pairs;
  };
  /// The pieces of a branch that is parted so many times.
  void split(std::size_t surface, const FaceTree::Branch& branch, int levels);
  void fit(std::size_t surface, ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, double margin);
  void search(Piece& piece, std::size_t most, const Workers& workers) const;
  void test(const FaceTree::Leaf& one, Index first_triangle, const FaceTree::Leaf& other,
            Index other_first_triangle, std::vector<FeaturePair>& pairs) const;
  void test_nodes(Index triangle, const FaceTree::Leaf& with, Index other,
                  std::vector<FeaturePair>& pairs) const;

  std::vector<Surface> surfaces_;
  SurfaceFeatures features_;
  std::vector<unsigned> owned_nodes_, owned_sides_;  ///< as FaceTree::Triangle, shape [triangle_count]
  std::vector<BoundingBox> node_boxes_, edge_boxes_;
  std::vector<Index> edge_begin_;  ///< edges of each surface, shape [surface_count + 1]
  std::vector<Piece> pieces_;
};

}  // namespace isocloth

// Which features of cloth may touch, sought on a device: the pairs of PairSearch::find()
// (engine/geometry/pair_search.hpp), each triangle's by a thread that walks down the trees. First all are
// counted, then, where there are not too many, written to places that their numbers give.
#pragma once

#include "engine/geometry/bounding_box.hpp"
#include "kernels/cloth_contact/cloth_contact.hpp"

namespace isocloth {

/// The trees of all surfaces (engine/geometry/face_tree.hpp), level by level from the roots; the two children
/// of a box lie side by side.
struct FaceTreesView {
  ArrayView<const Index> children;  ///< first child of a box, or -1 - triangle of a leaf; shape [box_count]
  ArrayView<const Index> last;      ///< the last triangle that a box holds, shape [box_count]
  ArrayView<const Index> leaves;    ///< box of each triangle, shape [triangle_count]
  /// roots of the surfaces that a garment meets, itself and later ones: `roots` from roots_begin[g] to
  /// roots_begin[g + 1]
  ArrayView<const Index> roots_begin, roots;
  ArrayView<const std::uint8_t> owned;  ///< bit k: node k of a triangle is its own, 3 + k: its side k
  ArrayView<const Index> sewn;          ///< see SurfaceFeatures
};

/// Ways of all nodes, and how far beyond them is near.
struct NodeWays {
  ArrayView<const Vec3d> from, to;  ///< [m], shape [node_count]
  /// Margin of each garment [m], by which its boxes are larger on all sides.
  ArrayView<const double> margins;
  ArrayView<const Index> node_garments;  ///< shape [node_count]
  bool are_common = false;               ///< see PairSearch::Times
};

/// One item per box of one level, those below it before.
struct FitBoxes {
  FaceTreesView trees;
  NodeWays ways;
  ArrayView<const Index> triangles;  ///< nodes, shape [triangle_count, 3]
  Index first = 0, count = 0;        ///< boxes of the level
  ArrayView<MovingBox> boxes;        ///< shape [box_count]
};

/// One item per triangle. Counts are right unless their sum is more than `most`.
struct CountPairs {
  FaceTreesView trees;
  NodeWays ways;
  ClothFeatures features;
  ArrayView<const MovingBox> boxes;
  std::uint64_t most = 0;
  ArrayView<std::uint64_t> sum;  ///< shape [1], 0 before
  /// Pairs that each triangle finds: of nodes with triangles, then of edges; shape [2, triangle_count].
  ArrayView<Index> counts;
};

/// Writes the pairs after CountPairs: those of nodes and triangles before those of edges.
struct WritePairs {
  CountPairs counted;
  ArrayView<const Index> begin;  ///< sums of the counts before each, shape [2, triangle_count]
  ArrayView<FeaturePair> pairs;
};

/// Counts nodes that are out of their boxes, places taken relative to the mean of all. One block.
struct CountStrays {
  ArrayView<const Vec3d> positions;   ///< [m], shape [node_count]
  ArrayView<const MovingBox> bounds;  ///< box of each node, relative to the mean, shape [node_count]
  bool at_end = false;                ///< of the boxes at the end of a way, else at its begin
  ArrayView<Index> count;             ///< shape [1]
};

namespace ISOCLOTH_BACKEND {
void count_strays(const Queue& queue, const CountStrays& args);
void fit_boxes(const Queue& queue, const FitBoxes& args);
void count_pairs(const Queue& queue, const CountPairs& args);
void write_pairs(const Queue& queue, const WritePairs& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

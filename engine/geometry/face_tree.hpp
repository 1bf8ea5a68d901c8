// The faces of a moving surface as triangles in a hierarchy of boxes that keeps its shape while they move.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "engine/geometry/bounding_box.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Triangles of a mesh in a binary tree of boxes, parted once at the median of their rest places: what is
/// near on the surface is near in the tree, however it moves. The tree itself is fixed and holds no
/// positions, so that garments of one mesh can share it: fit() finds the boxes of a state, for a sweep of
/// them over the tree.
class FaceTree {
 public:
  struct Triangle {
    std::array<Index, 3> nodes;
    Index face;  ///< face of the mesh that it is a part of
    /// Bit k: the side from nodes[k] to nodes[(k + 1) % 3] belongs to this triangle. Every edge, the
    /// diagonals of quads included, belongs to one triangle.
    unsigned owned_sides = 0;
    unsigned owned_nodes = 0;  ///< bit k: nodes[k] belongs to this triangle, as every node does to one
  };
  /// A triangle, with its box in a state or on a way.
  template <class Box>
  struct LeafOf {
    Index triangle;
    const Box& box;
  };
  using Leaf = LeafOf<BoundingBox>;
  template <class Box>
  using BoxesOf = std::vector<Box>;  ///< shape [2 triangle_count - 1], the first is that of all
  using Boxes = BoxesOf<BoundingBox>;

  /// A valid mesh; quads are split from corner 0 to corner 2. Cost O(n log n).
  explicit FaceTree(const Mesh& mesh);

  /// Triangles in the order of the tree, shape [triangle_count].
  const std::vector<Triangle>& triangles() const { return triangles_; }

  /// Boxes of the state, each side `margin` [m] >= 0 beyond the triangles; those of triangles with a
  /// coordinate that is no number are empty. positions: shape [node_count]. Cost O(n).
  void fit(ArrayView<const Vec3d> positions, double margin, Boxes& boxes) const {
    fit(positions, positions, margin, boxes);
  }
  /// Boxes of the ways of the triangles whose nodes go straight from one state to the other, each at any
  /// time.
  void fit(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, double margin, Boxes& boxes) const;
  /// Moving boxes of the triangles whose nodes go straight from one state to the other at constant speeds.
  void fit(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, double margin,
           BoxesOf<MovingBox>& boxes) const;

  /// Nodes of the tree are numbered in preorder: a node over n triangles has 2 n - 1 in its subtree, its left
  /// child has n / 2 triangles and follows it.
  struct Branch {
    Index node, first, count;  ///< triangles first .. first + count
    Branch left() const { return {node + 1, first, count / 2}; }
    Branch right() const { return {node + 2 * (count / 2), first + count / 2, count - count / 2}; }
  };
  Branch root() const { return {0, 0, static_cast<Index>(triangles_.size())}; }

  /// New boxes of triangles, by their numbers, ascending, and of what holds them. touched: 1 of all these,
  /// shape as `boxes`. Cost O(k log n) of k triangles.
  template <class Box, class BoxOf>
  void refit(const std::vector<Index>& triangles, const BoxOf& box_of, BoxesOf<Box>& boxes,
             std::vector<char>& touched) const {
    if (!triangles.empty())
      refit_branch(root(), triangles.data(), triangles.data() + triangles.size(), box_of, boxes, touched);
  }

  /// Wherever two nodes of trees lie.
  struct Everywhere {
    constexpr bool operator()(Index, Index) const { return true; }
  };
  /// Calls visit(Leaf, Leaf) for all pairs of triangles whose boxes overlap, neighbours included, each pair
  /// once, in the order of the tree.
  template <class Visit>
  void for_each_near_pair(const Boxes& boxes, const Visit& visit) const {
    within(boxes, root(), visit);
  }
  /// Calls visit(Leaf, Leaf) for all pairs of a triangle of this surface and one of `other` whose boxes
  /// overlap.
  template <class Visit>
  void for_each_near_pair(const Boxes& boxes, const FaceTree& other, const Boxes& other_boxes,
                          const Visit& visit) const {
    between(boxes, root(), other_boxes, other.root(), visit);
  }
  /// Calls visit(Leaf, Leaf) for all pairs of triangles of a branch whose boxes overlap, within nodes of the
  /// tree for which wants(node, node).
  template <class Box, class Visit, class Wants = Everywhere>
  static void within(const BoxesOf<Box>& boxes, const Branch& branch, const Visit& visit,
                     const Wants& wants = {}) {
    if (branch.count == 1 || !wants(branch.node, branch.node)) return;
    within(boxes, branch.left(), visit, wants);
    within(boxes, branch.right(), visit, wants);
    between(boxes, branch.left(), boxes, branch.right(), visit, wants);
  }
  /// Calls visit(Leaf, Leaf) for all pairs of a triangle of branch `a` and one of branch `b`, of one tree or
  /// two, whose boxes overlap, within nodes for which wants(node, node).
  template <class Box, class Visit, class Wants = Everywhere>
  static void between(const BoxesOf<Box>& a_boxes, const Branch& a, const BoxesOf<Box>& b_boxes,
                      const Branch& b, const Visit& visit, const Wants& wants = {}) {
    const Box &a_box = a_boxes[a.node], &b_box = b_boxes[b.node];
    if (!wants(a.node, b.node) || !overlap(a_box, b_box)) return;
    if (a.count == 1 && b.count == 1) {
      visit(LeafOf<Box>{a.first, a_box}, LeafOf<Box>{b.first, b_box});
    } else if (a.count >= b.count) {
      between(a_boxes, a.left(), b_boxes, b, visit, wants);
      between(a_boxes, a.right(), b_boxes, b, visit, wants);
    } else {
      between(a_boxes, a, b_boxes, b.left(), visit, wants);
      between(a_boxes, a, b_boxes, b.right(), visit, wants);
    }
  }

 private:
  void part(const Branch& branch, const std::vector<Vec3d>& middles, std::vector<Index>& order) const;
  void give_features_away();
  template <class Box, class BoxOf>
  void fit_branch(const Branch& branch, const BoxOf& box_of, BoxesOf<Box>& boxes) const;
  template <class Box, class BoxOf>
  static void refit_branch(const Branch& branch, const Index* first, const Index* last, const BoxOf& box_of,
                           BoxesOf<Box>& boxes, std::vector<char>& touched) {
    if (first == last) return;
    touched[branch.node] = 1;
    if (branch.count == 1) {
      boxes[branch.node] = box_of(branch.first);
      return;
    }
    const Branch left = branch.left(), right = branch.right();
    const Index* const middle = std::lower_bound(first, last, right.first);
    refit_branch(left, first, middle, box_of, boxes, touched);
    refit_branch(right, middle, last, box_of, boxes, touched);
    boxes[branch.node] = joined(boxes[left.node], boxes[right.node]);
  }

  std::vector<Triangle> triangles_;
};

}  // namespace isocloth

// Triangles in a hierarchy of boxes: nearest points, rays, pairs that may touch.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

using TriangleCorners = std::array<Vec3d, 3>;  ///< [m]

/// The point of a triangle nearest to another point.
struct NearestPoint {
  Vec3d position;                                                     ///< [m]
  double distance_squared = std::numeric_limits<double>::infinity();  ///< [m^2]
  Index triangle = -1;
  int feature =
      0;  ///< 0, 1, 2: that corner; 3, 4, 5: the side from corner feature - 3 to the next; 6: inside
};

/// Nearest point of a triangle of positive area, by the Voronoi regions of its features (Ericson, Real-Time
/// Collision Detection, 2005, section 5.1.5).
inline NearestPoint nearest_on_triangle(Vec3d p, const TriangleCorners& corners, Index triangle) {
  const auto& [a, b, c] = corners;
  const auto at = [&](Vec3d q, int feature) { return NearestPoint{q, dot(p - q, p - q), triangle, feature}; };
  const Vec3d ab = b - a, ac = c - a, ap = p - a;
  const double ab_a = dot(ab, ap), ac_a = dot(ac, ap);
  if (ab_a <= 0 && ac_a <= 0) return at(a, 0);
  const double ab_b = dot(ab, p - b), ac_b = dot(ac, p - b);
  if (ab_b >= 0 && ac_b <= ab_b) return at(b, 1);
  const double beyond_ab = ab_a * ac_b - ab_b * ac_a;
  if (beyond_ab <= 0 && ab_a >= 0 && ab_b <= 0) return at(a + (ab_a / (ab_a - ab_b)) * ab, 3);
  const double ab_c = dot(ab, p - c), ac_c = dot(ac, p - c);
  if (ac_c >= 0 && ab_c <= ac_c) return at(c, 2);
  const double beyond_ac = ab_c * ac_a - ab_a * ac_c;
  if (beyond_ac <= 0 && ac_a >= 0 && ac_c <= 0) return at(a + (ac_a / (ac_a - ac_c)) * ac, 5);
  const double beyond_bc = ab_b * ac_c - ab_c * ac_b;
  const double from_b = ac_b - ab_b, from_c = ab_c - ac_c;
  if (beyond_bc <= 0 && from_b >= 0 && from_c >= 0) return at(b + (from_b / (from_b + from_c)) * (c - b), 4);
  const double scale = 1 / (beyond_ab + beyond_ac + beyond_bc);
  return at(a + (beyond_ac * scale) * ab + (beyond_ab * scale) * ac, 6);
}

/// Where a ray meets a triangle.
struct RayHit {
  Index triangle;
  double length;  ///< distance from the origin, in units of the direction
  double side;    ///< direction . (b - a) x (c - a): < 0 where the ray enters through the front
  double margin;  ///< least barycentric coordinate: about 0 on the triangle's rim
};

/// Triangles of positive area in a binary tree of axis-parallel boxes, parted at the median of the longest
/// side.
class TriangleTree {
 public:
  /// Shape [triangle_count] >= 1. Cost O(n log n).
  explicit TriangleTree(std::vector<TriangleCorners> triangles);

  Index size() const { return static_cast<Index>(triangles_.size()); }
  const TriangleCorners& triangle(Index t) const { return triangles_[t]; }

  /// A node of the tree. Nodes are numbered in preorder: the root is 0, children come after their parent.
  struct Branch {
    Index left = -1, right = -1;         ///< -1: a leaf
    ArrayView<const Index> triangles{};  ///< of a leaf
  };
  Index node_count() const { return static_cast<Index>(nodes_.size()); }
  Branch branch(Index node) const {
    const Node& n = nodes_[node];
    if (n.count == 0) return {node + 1, n.first, {}};
    return {-1, -1, slice(ArrayView<const Index>(order_), n.first, n.first + n.count)};
  }

  /// The nearest point of all triangles, or `best` where none is nearer. The nearer `best` is, the cheaper;
  /// O(log n) near the surface, up to O(n) where many triangles are about as near.
  NearestPoint nearest(Vec3d p, NearestPoint best = {}) const;

  /// Calls visit(RayHit) for all triangles that origin + s direction, 0 <= s <= length, meets, in the order
  /// of the tree. Rims count with a tolerance of 1e-9 in barycentric coordinates, for both neighbours.
  template <class Visit>
  void for_each_hit(Vec3d origin, Vec3d direction, double length, const Visit& visit) const;

  /// Calls visit(t, u) for all pairs of triangles whose boxes touch, t != u, each pair once, until it is
  /// true.
  template <class Visit>
  void for_each_near_pair(const Visit& visit) const;

 private:
  struct Box {
    std::array<double, 3> low, high;  ///< [m]
  };
  /// A leaf holds order_[first .. first + count); else its children are `first` and the node after this one.
  struct Node {
    Box box;
    Index first, count;
  };
  static constexpr Index leaf_size = 8;
  static constexpr std::size_t stack_size = 64;  ///< halving leaves at most 31 levels

  static Box box_of(const TriangleCorners& corners);
  static bool touch(const Box& a, const Box& b);
  static double distance_squared(const Box& box, Vec3d p);
  static bool meets(const Box& box, Vec3d origin, Vec3d direction, double length);
  Index build(Index begin, Index end, const std::vector<Box>& boxes, const std::vector<Vec3d>& middles);

  std::vector<TriangleCorners> triangles_;
  std::vector<Index> order_;
  std::vector<Node> nodes_;
};

inline bool TriangleTree::touch(const Box& a, const Box& b) {
  for (std::size_t k = 0; k < 3; ++k) {
    if (a.low[k] > b.high[k] || b.low[k] > a.high[k]) return false;
  }
  return true;
}

template <class Visit>
void TriangleTree::for_each_hit(Vec3d origin, Vec3d direction, double length, const Visit& visit) const {
  std::array<Index, stack_size> stack;
  std::size_t height = 0;
  stack[height++] = 0;
  while (height > 0) {
    const Index node = stack[--height];
    const Node& n = nodes_[node];
    if (!meets(n.box, origin, direction, length)) continue;
    if (n.count == 0) {
      stack[height++] = n.first;
      stack[height++] = node + 1;
      continue;
    }
    for (Index i = n.first; i < n.first + n.count; ++i) {
      // Moeller & Trumbore 1997.
      const auto& [a, b, c] = triangles_[order_[i]];
      const Vec3d across = cross(direction, c - a);
      const double determinant = dot(b - a, across);
      if (determinant == 0) continue;
      const Vec3d from = cross(origin - a, b - a);
      const double u = dot(origin - a, across) / determinant, v = dot(direction, from) / determinant;
      const double s = dot(c - a, from) / determinant, margin = std::min({u, v, 1 - u - v});
      if (margin >= -1e-9 && s >= 0 && s <= length) visit(RayHit{order_[i], s, -determinant, margin});
    }
  }
}

template <class Visit>
void TriangleTree::for_each_near_pair(const Visit& visit) const {
  std::vector<std::pair<Index, Index>> open{{0, 0}};
  while (!open.empty()) {
    const auto [left, right] = open.back();
    open.pop_back();
    const Node &a = nodes_[left], &b = nodes_[right];
    if (!touch(a.box, b.box)) continue;
    if (a.count > 0 && b.count > 0) {
      for (Index i = a.first; i < a.first + a.count; ++i) {
        const Box box = box_of(triangles_[order_[i]]);
        for (Index j = left == right ? i + 1 : b.first; j < b.first + b.count; ++j) {
          if (touch(box, box_of(triangles_[order_[j]])) && visit(order_[i], order_[j])) return;
        }
      }
    } else if (left == right) {
      open.push_back({a.first, a.first});
      open.push_back({left + 1, left + 1});
      open.push_back({left + 1, a.first});
    } else if (a.count == 0) {
      open.push_back({a.first, right});
      open.push_back({left + 1, right});
    } else {
      open.push_back({left, b.first});
      open.push_back({left, right + 1});
    }
  }
}

}  // namespace isocloth

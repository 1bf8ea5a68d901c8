#include "engine/geometry/triangle_tree.hpp"

#include <numeric>

namespace isocloth {

TriangleTree::TriangleTree(std::vector<TriangleCorners> triangles) : triangles_(std::move(triangles)) {
  std::vector<Box> boxes;
  std::vector<Vec3d> middles;
  for (const TriangleCorners& corners : triangles_) {
    boxes.push_back(box_of(corners));
    middles.push_back(corners[0] + corners[1] + corners[2]);
  }
  order_.resize(triangles_.size());
  std::iota(order_.begin(), order_.end(), 0);
  nodes_.reserve(triangles_.size());
  build(0, size(), boxes, middles);
}

TriangleTree::Box TriangleTree::box_of(const TriangleCorners& corners) {
  const auto& [a, b, c] = corners;
  return {{std::min({a.x, b.x, c.x}), std::min({a.y, b.y, c.y}), std::min({a.z, b.z, c.z})},
          {std::max({a.x, b.x, c.x}), std::max({a.y, b.y, c.y}), std::max({a.z, b.z, c.z})}};
}

double TriangleTree::distance_squared(const Box& box, Vec3d p) {
  const double x = std::max(std::max(box.low[0] - p.x, p.x - box.high[0]), 0.0);
  const double y = std::max(std::max(box.low[1] - p.y, p.y - box.high[1]), 0.0);
  const double z = std::max(std::max(box.low[2] - p.z, p.z - box.high[2]), 0.0);
  return x * x + y * y + z * z;
}

bool TriangleTree::meets(const Box& box, Vec3d origin, Vec3d direction, double length) {
  const std::array<double, 3> o{origin.x, origin.y, origin.z}, d{direction.x, direction.y, direction.z};
  double first = 0, last = length;
  for (std::size_t k = 0; k < 3; ++k) {
    if (d[k] == 0) {
      if (o[k] < box.low[k] || o[k] > box.high[k]) return false;
      continue;
    }
    const double s = (box.low[k] - o[k]) / d[k], t = (box.high[k] - o[k]) / d[k];
    first = std::max(first, std::min(s, t));
    last = std::min(last, std::max(s, t));
  }
  return first <= last * (1 + 1e-12);  // flat boxes: first and last differ by rounding
}

Index TriangleTree::build(Index begin, Index end, const std::vector<Box>& boxes,
                          const std::vector<Vec3d>& middles) {
  const Index node = static_cast<Index>(nodes_.size());
  Box box = boxes[order_[begin]];
  for (Index i = begin + 1; i < end; ++i) {
    const Box& other = boxes[order_[i]];
    for (std::size_t k = 0; k < 3; ++k) {
      box.low[k] = std::min(box.low[k], other.low[k]);
      box.high[k] = std::max(box.high[k], other.high[k]);
    }
  }
  nodes_.push_back({box, begin, end - begin});
  if (end - begin <= leaf_size) return node;
  std::size_t axis = 0;
  for (std::size_t k = 1; k < 3; ++k) {
    if (box.high[k] - box.low[k] > box.high[axis] - box.low[axis]) axis = k;
  }
  const auto key = [&](Index t) {
    return axis == 0 ? middles[t].x : axis == 1 ? middles[t].y : middles[t].z;
  };
  const Index middle = begin + (end - begin) / 2;
  // Ties by number: the same tree from every library's nth_element, up to the order within a leaf.
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](Index s, Index t) { return key(s) != key(t) ? key(s) < key(t) : s < t; });
  build(begin, middle, boxes, middles);
  nodes_[node].count = 0;
  nodes_[node].first = build(middle, end, boxes, middles);
  return node;
}

NearestPoint TriangleTree::nearest(Vec3d p, NearestPoint best) const {
  struct Entry {
    Index node;
    double distance_squared;
  };
  std::array<Entry, stack_size> stack;
  std::size_t height = 0;
  stack[height++] = {0, distance_squared(nodes_[0].box, p)};
  while (height > 0) {
    const Entry entry = stack[--height];
    if (entry.distance_squared >= best.distance_squared) continue;
    const Node& n = nodes_[entry.node];
    if (n.count > 0) {
      for (Index i = n.first; i < n.first + n.count; ++i) {
        const NearestPoint found = nearest_on_triangle(p, triangles_[order_[i]], order_[i]);
        if (found.distance_squared < best.distance_squared) best = found;
      }
      continue;
    }
    Entry near{entry.node + 1, distance_squared(nodes_[entry.node + 1].box, p)};
    Entry far{n.first, distance_squared(nodes_[n.first].box, p)};
    if (far.distance_squared < near.distance_squared) std::swap(near, far);
    if (far.distance_squared < best.distance_squared) stack[height++] = far;
    if (near.distance_squared < best.distance_squared) stack[height++] = near;
  }
  return best;
}

}  // namespace isocloth

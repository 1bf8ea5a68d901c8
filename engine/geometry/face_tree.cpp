#include "engine/geometry/face_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace isocloth {
namespace {

bool is_number(const Vec3d& p) { return !std::isnan(p.x) && !std::isnan(p.y) && !std::isnan(p.z); }

/// Empty where a coordinate is no number.
MovingBox moving_box(const FaceTree::Triangle& triangle, ArrayView<const Vec3d> from,
                     ArrayView<const Vec3d> to, double margin) {
  MovingBox box;
  for (const Index node : triangle.nodes) {
    const Vec3d &begin = from[node], &end = to[node];
    if (!is_number(begin) || !is_number(end)) return {};
    box = joined(box, {{begin, begin}, {end, end}});
  }
  if (margin == 0) return box;  // a processor that flushes denormal numbers would round even x - 0
  const Vec3d beyond{margin, margin, margin};
  for (BoundingBox* const side : {&box.begin, &box.end}) {
    side->low -= beyond;
    side->high += beyond;
  }
  return box;
}

}  // namespace

FaceTree::FaceTree(const Mesh& mesh) {
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t k = 2; k < nodes.size(); ++k)
      triangles_.push_back({{nodes[0], nodes[k - 1], nodes[k]}, f});
  }
  std::vector<Vec3d> middles;
  middles.reserve(triangles_.size());
  for (const Triangle& t : triangles_)
    middles.push_back(mesh.positions[t.nodes[0]] + mesh.positions[t.nodes[1]] + mesh.positions[t.nodes[2]]);
  std::vector<Index> order(triangles_.size());
  std::iota(order.begin(), order.end(), 0);
  part(root(), middles, order);
  std::vector<Triangle> sorted;
  sorted.reserve(order.size());
  for (const Index t : order) sorted.push_back(triangles_[t]);
  triangles_ = std::move(sorted);
  give_features_away();
}

void FaceTree::part(const Branch& branch, const std::vector<Vec3d>& middles,
                    std::vector<Index>& order) const {
  if (branch.count == 1) return;
  const auto begin = order.begin() + branch.first, end = begin + branch.count;
  BoundingBox box;
  for (auto t = begin; t != end; ++t) box = joined(box, {middles[*t], middles[*t]});
  const Vec3d size = box.high - box.low;
  const auto key = [&](Index t) {
    const Vec3d& p = middles[t];
    return size.x >= size.y && size.x >= size.z ? p.x : size.y >= size.z ? p.y : p.z;
  };
  // Ties by number: the same tree from every library's nth_element.
  std::nth_element(begin, begin + branch.count / 2, end,
                   [&](Index s, Index t) { return key(s) != key(t) ? key(s) < key(t) : s < t; });
  part(branch.left(), middles, order);
  part(branch.right(), middles, order);
}

void FaceTree::give_features_away() {
  struct Side {
    std::pair<Index, Index> nodes;
    Index triangle;
    unsigned side;
  };
  std::vector<Side> sides;
  sides.reserve(3 * triangles_.size());
  for (std::size_t t = 0; t < triangles_.size(); ++t)
    for (unsigned k = 0; k < 3; ++k)
      sides.push_back({std::minmax(Index{triangles_[t].nodes[k]}, Index{triangles_[t].nodes[(k + 1) % 3]}),
                       static_cast<Index>(t), k});
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return a.nodes != b.nodes ? a.nodes < b.nodes : a.triangle < b.triangle;
  });
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (i == 0 || sides[i].nodes != sides[i - 1].nodes)
      triangles_[sides[i].triangle].owned_sides |= 1U << sides[i].side;
  std::vector<char> is_owned;
  for (Triangle& t : triangles_)
    for (unsigned k = 0; k < 3; ++k) {
      const std::size_t node = static_cast<std::size_t>(t.nodes[k]);
      if (is_owned.size() <= node) is_owned.resize(node + 1, 0);
      if (std::exchange(is_owned[node], char{1}) == 0) t.owned_nodes |= 1U << k;
    }
}

template <class Box, class BoxOf>
void FaceTree::fit_branch(const Branch& branch, const BoxOf& box_of, BoxesOf<Box>& boxes) const {
  if (branch.count == 1) {
    boxes[branch.node] = box_of(triangles_[branch.first]);
    return;
  }
  fit_branch(branch.left(), box_of, boxes);
  fit_branch(branch.right(), box_of, boxes);
  boxes[branch.node] = joined(boxes[branch.left().node], boxes[branch.right().node]);
}

void FaceTree::fit(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, double margin,
                   Boxes& boxes) const {
  boxes.resize(2 * triangles_.size() - 1);
  const auto box_of = [&](const Triangle& triangle) {
    const MovingBox box = moving_box(triangle, from, to, margin);
    return joined(box.begin, box.end);
  };
  fit_branch(root(), box_of, boxes);
}

void FaceTree::fit(ArrayView<const Vec3d> from, ArrayView<const Vec3d> to, double margin,
                   BoxesOf<MovingBox>& boxes) const {
  boxes.resize(2 * triangles_.size() - 1);
  fit_branch(
      root(), [&](const Triangle& triangle) { return moving_box(triangle, from, to, margin); }, boxes);
}

}  // namespace isocloth

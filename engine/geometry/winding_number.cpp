#include "engine/geometry/winding_number.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace isocloth {
namespace {

constexpr double far_radii = 2;  ///< distance from which a box is a dipole
constexpr double whole = 4 * std::numbers::pi;

/// The matrix of all products of components, of which rows belong to a.
void add_products(Vec3d a, Vec3d b, std::array<Vec3d, 3>& sum) {
  sum[0] += a.x * b;
  sum[1] += a.y * b;
  sum[2] += a.z * b;
}

}  // namespace

double winding_of(const TriangleCorners& corners, Vec3d p) {
  const Vec3d a = corners[0] - p, b = corners[1] - p, c = corners[2] - p;
  const double la = norm(a), lb = norm(b), lc = norm(c);
  return 2 / whole *
         std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

WindingNumber::WindingNumber(std::vector<TriangleCorners> triangles)
    : tree_(std::move(triangles)), moments_(static_cast<std::size_t>(tree_.node_count())) {
  for (Index node = tree_.node_count(); node-- > 0;) {
    const TriangleTree::Branch branch = tree_.branch(node);
    moments_[node] =
        branch.left < 0 ? of_leaf(branch.triangles) : joined(moments_[branch.left], moments_[branch.right]);
  }
}

WindingNumber::Moments WindingNumber::of_leaf(ArrayView<const Index> triangles) const {
  const auto middle = [&](Index t) {
    const auto& [a, b, c] = tree_.triangle(t);
    return (1.0 / 3) * (a + b + c);
  };
  const auto area_vector = [&](Index t) {
    const auto& [a, b, c] = tree_.triangle(t);
    return 0.5 * cross(b - a, c - a);
  };
  Moments m;
  for (const Index t : triangles) {
    const double area = norm(area_vector(t));
    m.area += area;
    m.center += area * middle(t);
  }
  m.center = m.area > 0 ? (1 / m.area) * m.center : middle(triangles[0]);
  for (const Index t : triangles) {
    m.normal += area_vector(t);
    add_products(middle(t) - m.center, area_vector(t), m.gradient);
    for (const Vec3d& x : tree_.triangle(t)) m.radius = std::max(m.radius, norm(x - m.center));
  }
  return m;
}

WindingNumber::Moments WindingNumber::joined(const Moments& a, const Moments& b) {
  Moments m;
  m.area = a.area + b.area;
  m.center = m.area > 0 ? (1 / m.area) * (a.area * a.center + b.area * b.center) : a.center;
  m.normal = a.normal + b.normal;
  for (const Moments* part : {&a, &b}) {
    const Vec3d way = part->center - m.center;
    m.radius = std::max(m.radius, norm(way) + part->radius);
    for (std::size_t i = 0; i < 3; ++i) m.gradient[i] += part->gradient[i];
    add_products(way, part->normal, m.gradient);
  }
  return m;
}

double WindingNumber::at(Vec3d p, Index without) const {
  std::array<Index, 64> stack;  // halving leaves at most 31 levels
  std::size_t height = 0;
  stack[height++] = 0;
  double sum = 0;
  while (height > 0) {
    const Index node = stack[--height];
    const Moments& m = moments_[node];
    const Vec3d r = m.center - p;
    const double square = dot(r, r), reach = far_radii * m.radius;
    if (square > reach * reach) {
      const double inverse = 1 / square, cube = inverse / std::sqrt(square);
      const double trace = m.gradient[0].x + m.gradient[1].y + m.gradient[2].z;
      const double along =
          r.x * dot(m.gradient[0], r) + r.y * dot(m.gradient[1], r) + r.z * dot(m.gradient[2], r);
      sum += cube / whole * (dot(m.normal, r) + trace - 3 * inverse * along);
      continue;
    }
    const TriangleTree::Branch branch = tree_.branch(node);
    if (branch.left >= 0) {
      stack[height++] = branch.right;
      stack[height++] = branch.left;
      continue;
    }
    for (const Index t : branch.triangles)
      if (t != without) sum += winding_of(tree_.triangle(t), p);
  }
  return sum;
}

}  // namespace isocloth

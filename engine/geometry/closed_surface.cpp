#include "engine/geometry/closed_surface.hpp"

#include <algorithm>
#include <cmath>

#include "engine/mesh/face_normal.hpp"

namespace isocloth {
namespace {

Vec3d triangle_normal(const Mesh& surface, const std::array<Index, 3>& nodes) {
  const auto& x = surface.positions;
  return cross(x[nodes[1]] - x[nodes[0]], x[nodes[2]] - x[nodes[0]]);
}

std::vector<TriangleCorners> corners_of(const Mesh& surface, const std::vector<FaceTriangle>& triangles) {
  std::vector<TriangleCorners> corners;
  corners.reserve(triangles.size());
  const auto& x = surface.positions;
  for (const auto& [nodes, face] : triangles) corners.push_back({x[nodes[0]], x[nodes[1]], x[nodes[2]]});
  return corners;
}

}  // namespace

std::vector<FaceTriangle> cut_faces(const Mesh& surface) {
  std::vector<FaceTriangle> triangles;
  triangles.reserve(surface.face_nodes.size());
  for (Index f = 0; f < surface.face_count(); ++f) {
    const auto n = surface.face(f);
    if (n.size() == 3) {
      triangles.push_back({{n[0], n[1], n[2]}, f});
      continue;
    }
    const Vec3d mean = area_vector(surface, f);
    const auto is_good = [&](const std::array<Index, 3>& s, const std::array<Index, 3>& t) {
      return dot(triangle_normal(surface, s), mean) > 0 && dot(triangle_normal(surface, t), mean) > 0;
    };
    const std::array<Index, 3> a{n[0], n[1], n[2]}, b{n[0], n[2], n[3]}, c{n[1], n[2], n[3]},
        d{n[1], n[3], n[0]};
    const bool first = is_good(a, b) || !is_good(c, d);
    triangles.push_back({first ? a : c, f});
    triangles.push_back({first ? b : d, f});
  }
  return triangles;
}

ClosedSurface::ClosedSurface(const Mesh& surface)
    : triangles_(cut_faces(surface)), tree_(corners_of(surface, triangles_)) {
  struct Side {
    Index low, high, triangle, number;
  };
  std::vector<Side> sides;
  sides.reserve(3 * triangles_.size());
  node_normals_.resize(surface.positions.size());
  for (Index t = 0; t < tree_.size(); ++t) {
    const auto& nodes = triangles_[t].nodes;
    const auto& x = tree_.triangle(t);
    normals_.push_back(normalized(triangle_normal(surface, nodes)));
    for (Index k = 0; k < 3; ++k) {
      const Index next = (k + 1) % 3, last = (k + 2) % 3;
      const Vec3d u = x[next] - x[k], v = x[last] - x[k];
      node_normals_[nodes[k]] += std::atan2(norm(cross(u, v)), dot(u, v)) * normals_[t];
      sides.push_back({std::min(nodes[k], nodes[next]), std::max(nodes[k], nodes[next]), t, k});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    if (a.low != b.low) return a.low < b.low;
    return a.high != b.high ? a.high < b.high : a.triangle < b.triangle;
  });
  side_normals_.resize(triangles_.size());
  for (std::size_t i = 0; i + 1 < sides.size(); i += 2) {
    const Side &a = sides[i], &b = sides[i + 1];
    side_normals_[a.triangle][a.number] = side_normals_[b.triangle][b.number] =
        normals_[a.triangle] + normals_[b.triangle];
  }
}

bool ClosedSurface::is_outside(Vec3d p, const NearestPoint& nearest) const {
  const Index t = nearest.triangle;
  const Vec3d normal = nearest.feature < 3   ? node_normals_[triangles_[t].nodes[nearest.feature]]
                       : nearest.feature < 6 ? side_normals_[t][nearest.feature - 3]
                                             : normals_[t];
  return dot(p - nearest.position, normal) >= 0;
}

double ClosedSurface::signed_distance(Vec3d p) const {
  const NearestPoint nearest = tree_.nearest(p);
  const double distance = std::sqrt(nearest.distance_squared);
  return is_outside(p, nearest) ? distance : -distance;
}

}  // namespace isocloth

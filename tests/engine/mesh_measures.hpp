// What tests measure on meshes, computed from the faces alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "engine/mesh/mesh.hpp"

namespace isocloth::testing {

/// Least interior angle of all faces [degrees].
inline double least_angle(const Mesh& mesh) {
  double least = 180;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t c = 0; c < nodes.size(); ++c) {
      const Vec3d x = mesh.positions[nodes[c]];
      const Vec3d a = mesh.positions[nodes[(c + 1) % nodes.size()]] - x;
      const Vec3d b = mesh.positions[nodes[(c + nodes.size() - 1) % nodes.size()]] - x;
      least = std::min(least, std::acos(dot(a, b) / (norm(a) * norm(b))) * 180 / std::numbers::pi);
    }
  }
  return least;
}

/// Area of face f [m^2], a quad as the two triangles at its first diagonal.
inline double face_area(const Mesh& mesh, Index f) {
  const auto nodes = mesh.face(f);
  double area = 0;
  for (std::size_t c = 1; c + 1 < nodes.size(); ++c) {
    const Vec3d x = mesh.positions[nodes[0]];
    area += norm(cross(mesh.positions[nodes[c]] - x, mesh.positions[nodes[c + 1]] - x)) / 2;
  }
  return area;
}

/// Signed area of face f in its texture coordinates [m^2].
inline double uv_area(const Mesh& mesh, Index f) {
  const Index begin = mesh.face_begin[f], size = mesh.face_size(f);
  double area = 0;
  for (Index c = 0; c < size; ++c) {
    const Vec2d p = mesh.corner_uvs[begin + c], q = mesh.corner_uvs[begin + (c + 1) % size];
    area += (p.x * q.y - p.y * q.x) / 2;
  }
  return area;
}

inline double total_area(const Mesh& mesh) {
  double area = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) area += face_area(mesh, f);
  return area;
}

/// Nodes - edges + faces.
inline Index euler_characteristic(const Mesh& mesh) {
  std::set<std::pair<Index, Index>> edges;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t c = 0; c < nodes.size(); ++c) {
      edges.insert(std::minmax({nodes[c], nodes[(c + 1) % nodes.size()]}));
    }
  }
  return mesh.node_count() - static_cast<Index>(edges.size()) + mesh.face_count();
}

/// Unit sphere of triangles: an octahedron, each face cut in four `levels` times.
inline Mesh octasphere(int levels) {
  Mesh mesh;
  mesh.positions = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  for (Index k = 0; k < 4; ++k) {
    mesh.add_face({k, (k + 1) % 4, 4});
    mesh.add_face({(k + 1) % 4, k, 5});
  }
  for (int level = 0; level < levels; ++level) {
    Mesh fine;
    fine.positions = mesh.positions;
    std::set<std::pair<std::pair<Index, Index>, Index>> middles;
    const auto middle = [&](Index a, Index b) {
      const std::pair<Index, Index> edge = std::minmax({a, b});
      const auto known = middles.lower_bound({edge, 0});
      if (known != middles.end() && known->first == edge) return known->second;
      fine.positions.push_back(normalized(mesh.positions[a] + mesh.positions[b]));
      middles.insert({edge, fine.node_count() - 1});
      return fine.node_count() - 1;
    };
    for (Index f = 0; f < mesh.face_count(); ++f) {
      const Index a = mesh.face(f)[0], b = mesh.face(f)[1], c = mesh.face(f)[2];
      const Index ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      fine.add_face({a, ab, ca});
      fine.add_face({b, bc, ab});
      fine.add_face({c, ca, bc});
      fine.add_face({ab, bc, ca});
    }
    mesh = fine;
  }
  return mesh;
}

}  // namespace isocloth::testing

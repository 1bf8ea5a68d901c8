#include "host/scene/rest_noise.hpp"

#include <cmath>

#include "engine/core/random.hpp"

namespace isocloth {
namespace {

/// Twice the vector area of a face.
Vec3d face_area_vector(const Mesh& mesh, Index face) {
  const ArrayView<const Index> nodes = mesh.face(face);
  const Vec3d& a = mesh.positions[nodes[0]];
  const Vec3d& b = mesh.positions[nodes[1]];
  const Vec3d& c = mesh.positions[nodes[2]];
  if (nodes.size() == 3) return cross(b - a, c - a);
  return cross(c - a, mesh.positions[nodes[3]] - b);
}

}  // namespace

void add_normal_noise(Mesh& mesh, double deviation, std::uint64_t seed) {
  std::vector<Vec3d> normals(mesh.positions.size());
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const Vec3d area = face_area_vector(mesh, f);
    for (const Index node : mesh.face(f)) normals[node] += area;
  }
  Gaussian gaussian(seed);
  for (std::size_t i = 0; i < normals.size(); ++i) {
    const double length = norm(normals[i]);
    const double displacement = deviation * gaussian();
    if (length > 0) mesh.positions[i] += (displacement / length) * normals[i];
  }
}

Vec3d area_centroid(const Mesh& mesh) {
  Vec3d moment;
  double area = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const ArrayView<const Index> nodes = mesh.face(f);
    const Vec3d& a = mesh.positions[nodes[0]];
    for (std::size_t k = 2; k < nodes.size(); ++k) {
      const Vec3d& b = mesh.positions[nodes[k - 1]];
      const Vec3d& c = mesh.positions[nodes[k]];
      const double part = norm(cross(b - a, c - a));
      moment += (part / 3) * (a + b + c);
      area += part;
    }
  }
  return (1 / area) * moment;
}

}  // namespace isocloth

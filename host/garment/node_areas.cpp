#include "host/garment/node_areas.hpp"

#include "engine/rows/surface_element.hpp"

namespace isocloth {

std::vector<double> node_areas(const Mesh& mesh) {
  std::vector<double> areas(mesh.positions.size(), 0);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const ArrayView<const Index> face = mesh.face(f);
    const int size = mesh.face_size(f);
    Vec3d corners[4];
    for (int i = 0; i < size; ++i) corners[i] = mesh.positions[face[i]];
    for (int q = 0; q < gauss_point_count(size); ++q) {
      const auto point = gauss_point<double>(size, q);
      const double area = surface_point(point, corners, size).area;
      for (int i = 0; i < size; ++i) areas[face[i]] += point.value[i] * area;
    }
  }
  return areas;
}

}  // namespace isocloth

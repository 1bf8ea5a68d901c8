#include "host/garment/node_areas.hpp"

#include "engine/rows/surface_element.hpp"

namespace isocloth {

std::vector<double> node_areas(const Mesh& mesh, double FabricFactors::*factor) {
  const bool is_even = mesh.face_factors.empty() || factor == nullptr;
  std::vector<double> areas(mesh.positions.size(), 0);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const ArrayView<const Index> face = mesh.face(f);
    const int size = mesh.face_size(f);
    Vec3d corners[4];
    for (int i = 0; i < size; ++i) corners[i] = mesh.positions[face[i]];
    for (int q = 0; q < gauss_point_count(size); ++q) {
      const auto point = gauss_point<double>(size, q);
      double area = surface_point(point, corners, size).area;
      if (!is_even) area *= mesh.face_factors[static_cast<std::size_t>(f)].*factor;
      for (int i = 0; i < size; ++i) areas[face[i]] += point.value[i] * area;
    }
  }
  return areas;
}

}  // namespace isocloth

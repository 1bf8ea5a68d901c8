#include "engine/rows/principal_limits.hpp"

#include <algorithm>

#include "engine/rows/face_fabric.hpp"

namespace isocloth {

void PrincipalLimitRows::add_stencils(const RowSetup& setup, StencilPattern& pattern,
                                      std::vector<Index>& places) {
  for (Index f = 0; f < setup.mesh.face_count(); ++f) {
    const auto face = setup.mesh.face(f);
    if (std::none_of(face.begin(), face.end(), [&](Index node) { return setup.is_free(node); })) continue;
    for (int q = 0; q < strain_point_count(static_cast<int>(face.size())); ++q) {
      for (const Index node : face) pattern.add_slot(node);
      pattern.end_stencil();
      places.push_back(most_points * f + q);
    }
  }
}

std::vector<double> PrincipalLimitRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                                  const Fabric& fabric) {
  std::vector<double> all;
  for (const Index place : places) {
    const auto face = setup.mesh.face(place / most_points);
    const int size = static_cast<int>(face.size());
    Vec3d corners[4];
    for (std::size_t i = 0; i < face.size(); ++i)
      corners[i] = setup.mesh.positions[static_cast<std::size_t>(face[i])];
    const double area = surface_point(strain_point<double>(size, place % most_points), corners, size).area;
    const double k = factors_of(setup.mesh, place / most_points).stretch * fabric.stretch_stiffness;
    all.insert(all.end(), width, area * k / 4);
  }
  return all;
}

}  // namespace isocloth

#include "engine/rows/principal_limits.hpp"

#include <algorithm>

namespace isocloth {

void PrincipalLimitRows::add_stencils(const RowSetup& setup, StencilPattern& pattern,
                                      std::vector<Index>& places) {
  for (Index f = 0; f < setup.mesh.face_count(); ++f) {
    const auto face = setup.mesh.face(f);
    if (std::none_of(face.begin(), face.end(), [&](Index node) { return setup.is_free(node); })) continue;
    std::vector<Index> nodes(face.begin(), face.end());
    std::sort(nodes.begin(), nodes.end());
    for (int row = 0; row < strain_point_count(static_cast<int>(face.size())) * directions; ++row) {
      for (const Index node : face) pattern.add_slot(node, nodes);
      pattern.end_stencil();
      places.push_back(most_points * directions * f + row);
    }
  }
}

std::vector<double> PrincipalLimitRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                                  const Fabric& fabric) {
  std::vector<double> all;
  for (const Index place : places) {
    const Row row(place);
    const auto face = setup.mesh.face(row.face);
    const int size = static_cast<int>(face.size());
    Vec3d corners[4];
    for (std::size_t i = 0; i < face.size(); ++i)
      corners[i] = setup.mesh.positions[static_cast<std::size_t>(face[i])];
    all.push_back(surface_point(strain_point<double>(size, row.point), corners, size).area *
                  fabric.stretch_stiffness / 4);
  }
  return all;
}

}  // namespace isocloth

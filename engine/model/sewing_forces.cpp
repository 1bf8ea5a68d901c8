#include "engine/model/sewing_forces.hpp"

#include <algorithm>

#include "engine/core/vec3.hpp"

namespace isocloth {

std::vector<double> sewing_forces(const Sewing& sewing, const Mesh& mesh) {
  std::vector<Vec3d> pulls(mesh.positions.size());
  for (const Band& band : mesh.bands) {
    const Vec3d way = mesh.positions[band.b] - mesh.positions[band.a];
    // T = stiffness (l / l0 - 1) along it.
    const Vec3d pull = std::max(0.0, band.stiffness * (1 / band.length - 1 / norm(way))) * way;
    pulls[band.a] += pull;
    pulls[band.b] -= pull;
  }
  std::vector<double> forces;
  for (const auto& [a, b, length, slack] : mesh.stitches)
    forces.push_back(sewing.force * length + std::max(norm(pulls[a]), norm(pulls[b])));
  return forces;
}

}  // namespace isocloth

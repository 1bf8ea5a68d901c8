#include "engine/rows/elastic_edges.hpp"

#include <algorithm>

#include "engine/rows/face_fabric.hpp"
#include "engine/rows/surface_element.hpp"

namespace isocloth {

std::vector<double> ElasticEdgeRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                               const Fabric& fabric) {
  const auto& edges = setup.topology.edges;
  std::vector<double> areas(edges.size());
  for (Index f = 0; f < setup.mesh.face_count(); ++f) {
    const auto face = setup.mesh.face(f);
    const std::size_t size = face.size();
    Vec3d corners[4];
    for (std::size_t i = 0; i < size; ++i)
      corners[i] = setup.mesh.positions[static_cast<std::size_t>(face[i])];
    const double share = element_area(corners, static_cast<int>(size)) / (size == 4 ? 2 : 3) *
                         factors_of(setup.mesh, f).stretch;
    for (std::size_t i = 0; i < size; ++i) {
      const Index a = face[i], b = face[(i + 1) % size];
      const std::array<Index, 2> edge{std::min(a, b), std::max(a, b)};
      areas[static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin())] +=
          share;
    }
  }
  std::vector<double> all;
  for (const Index edge : places)
    all.push_back(fabric.stretch_stiffness * areas[static_cast<std::size_t>(edge)] / 4);
  return all;
}

}  // namespace isocloth

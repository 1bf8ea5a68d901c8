#include "engine/rows/membrane.hpp"

#include <algorithm>

#include "engine/rows/face_fabric.hpp"

namespace isocloth {

std::vector<TrianglePair> membrane_pairs(const Mesh& mesh, const Topology& topology,
                                         const std::vector<char>& is_pinned) {
  std::vector<char> is_held;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    is_held.push_back(std::all_of(face.begin(), face.end(),
                                  [&](Index node) { return is_pinned[static_cast<std::size_t>(node)]; }));
  }
  return triangle_pairs(mesh, topology, is_held);
}

std::vector<TrianglePair> all_pairs(const Mesh& mesh, const Topology& topology,
                                    const std::vector<char>& is_pinned) {
  std::vector<TrianglePair> pairs = membrane_pairs(mesh, topology, is_pinned);
  std::vector<char> is_paired(static_cast<std::size_t>(mesh.face_count()), 0);
  for (const TrianglePair& pair : pairs)
    for (const Index face : pair.faces) is_paired[static_cast<std::size_t>(face)] = 1;
  const std::vector<TrianglePair> held = triangle_pairs(mesh, topology, is_paired);
  pairs.insert(pairs.end(), held.begin(), held.end());
  return pairs;
}

std::array<double, 2> areas_of(const Mesh& mesh, const TrianglePair& pair) {
  std::array<double, 2> areas{};
  for (int t = 0; t < 2; ++t) {
    const auto [a, b, c] = pair.triangle(t);
    areas[static_cast<std::size_t>(t)] =
        norm(cross(mesh.positions[b] - mesh.positions[a], mesh.positions[c] - mesh.positions[a])) /
        (pair.is_single ? 4 : 2);
  }
  return areas;
}

void MembraneRows::add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
  for (const TrianglePair& pair : membrane_pairs(setup.mesh, setup.topology, setup.is_pinned)) {
    for (std::size_t i = 0; i < (pair.is_single ? 3 : 4); ++i) pattern.add_slot(pair.nodes[i]);
    pattern.end_stencil();
    places.push_back(pair.faces[0]);
  }
}

std::array<double, 3> MembraneRows::stiffness_of(double area, const Fabric& fabric) {
  return {area * fabric.stretch_stiffness / (4 * (1 - fabric.poisson_ratio * fabric.poisson_ratio)),
          area * fabric.shear_stiffness, area * fabric.weft_stiffness() / 4};
}

std::array<double, 3> MembraneRows::difference_stiffness_of(double area, const Fabric& fabric) {
  constexpr double share_of_shear = 0.03;
  const auto share = [](double k) { return std::clamp(1 / k, 5e-4, 1.0); };  // 1 N/m at least
  const auto [warp, shear, weft] = stiffness_of(area, fabric);
  return {share(fabric.stretch_stiffness) * warp, share_of_shear * shear,
          share(fabric.weft_stiffness()) * weft};
}

std::vector<double> MembraneRows::stiffness(const RowSetup& setup, const std::vector<Index>&,
                                            const Fabric& fabric) {
  std::vector<double> all;
  Fabric own = fabric;
  for (const TrianglePair& pair : membrane_pairs(setup.mesh, setup.topology, setup.is_pinned)) {
    const auto [a, b] = areas_of(setup.mesh, pair);
    if (!setup.mesh.face_factors.empty())
      set_factors(mean_factors(setup.mesh, {{pair.faces[0], a}, {pair.faces[1], b}}), fabric, own);
    for (const double k : stiffness_of(a + b, own)) all.push_back(k);
    for (const double k : difference_stiffness_of(a * b / (a + b), own)) all.push_back(k);
  }
  return all;
}

}  // namespace isocloth

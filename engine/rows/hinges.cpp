#include "engine/rows/hinges.hpp"

#include <map>

namespace isocloth {
namespace {

using Hinge = std::array<Index, 4>;

/// Of all edges between two triangles, in the order of their nodes.
std::vector<Hinge> hinges(const Mesh& mesh) {
  std::map<std::array<Index, 2>, Index> beyond;  // of each directed edge
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    for (std::size_t i = 0; nodes.size() == 3 && i < 3; ++i)
      beyond[{nodes[i], nodes[(i + 1) % 3]}] = nodes[(i + 2) % 3];
  }
  std::vector<Hinge> all;
  for (const auto& [edge, node] : beyond) {
    const auto [a, b] = edge;
    if (const auto other = beyond.find({b, a}); a < b && other != beyond.end())
      all.push_back({a, b, node, other->second});
  }
  return all;
}

}  // namespace

void HingeRows::add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
  const std::vector<Hinge> all = hinges(setup.mesh);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [a, b, c, d] = all[i];
    if (!setup.is_free(a) && !setup.is_free(b) && !setup.is_free(c) && !setup.is_free(d)) continue;
    pattern.add_slot(a, {a});
    for (const Index node : {b, c, d}) pattern.add_slot(node);
    pattern.end_stencil();
    places.push_back(static_cast<Index>(i));
  }
}

std::vector<double> HingeRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                         const Fabric& fabric) {
  const std::vector<Hinge> all = hinges(setup.mesh);
  const double kappa = fabric.hinge_stiffness();
  std::vector<double> found;
  for (const Index place : places) {
    const auto at = [&](int k) {
      const Hinge& hinge = all[static_cast<std::size_t>(place)];
      return setup.mesh.positions[static_cast<std::size_t>(hinge[static_cast<std::size_t>(k)])];
    };
    const Vec3d e = at(1) - at(0);
    const double twice = norm(cross(e, at(2) - at(0))) + norm(cross(e, at(3) - at(0)));
    found.push_back(2 * kappa * dot(e, e) / twice);
  }
  return found;
}

}  // namespace isocloth

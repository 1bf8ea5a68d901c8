#include "engine/rows/hinges.hpp"

#include <algorithm>
#include <map>

#include "engine/mesh/cut_folds.hpp"
#include "engine/mesh/cut_quads.hpp"
#include "engine/rows/face_fabric.hpp"

namespace isocloth {

std::vector<HingeOfEdge> hinges_of(const Mesh& mesh) {
  struct Side {
    Index beyond, face;
  };
  std::map<std::array<Index, 2>, Side> sides;  // of each directed edge
  for (const auto& [nodes, face] : cut_quads(mesh))
    for (std::size_t i = 0; i < 3; ++i) sides[{nodes[i], nodes[(i + 1) % 3]}] = {nodes[(i + 2) % 3], face};
  const std::vector<std::array<Index, 2>> folded = folded_edges(mesh);
  std::vector<HingeOfEdge> all;
  for (const auto& [edge, side] : sides) {
    const auto [a, b] = edge;
    if (const auto other = sides.find({b, a}); a < b && other != sides.end())
      if (!std::ranges::binary_search(folded, std::array{a, b}))
        all.push_back({{a, b, side.beyond, other->second.beyond}, {side.face, other->second.face}});
  }
  return all;
}

void add_hinges(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
  const std::vector<HingeOfEdge> all = hinges_of(setup.mesh);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [a, b, c, d] = all[i].nodes;
    if (!setup.is_free(a) && !setup.is_free(b) && !setup.is_free(c) && !setup.is_free(d)) continue;
    pattern.add_slot(a, {a});
    for (const Index node : {b, c, d}) pattern.add_slot(node);
    pattern.end_stencil();
    places.push_back(static_cast<Index>(i));
  }
}

HingeShape::HingeShape(const RowSetup& setup, const HingeOfEdge& hinge) {
  Vec3d p[4];
  bool is_held[4];
  for (std::size_t k = 0; k < 4; ++k) {
    p[k] = setup.mesh.positions[static_cast<std::size_t>(hinge.nodes[k])];
    is_held[k] = !setup.is_free(hinge.nodes[k]);
  }
  *this = HingeShape(p, is_held);
}

double HingeShape::bending_factor(const RowSetup& setup, const HingeOfEdge& hinge) {
  const auto& [a, b, c, d] = hinge.nodes;
  const auto area = [&](Index beyond) {
    if (!setup.is_free(a) && !setup.is_free(b) && !setup.is_free(beyond)) return 0.0;
    const auto at = [&](Index node) { return setup.mesh.positions[static_cast<std::size_t>(node)]; };
    return norm(cross(at(b) - at(a), at(beyond) - at(a))) / 2;
  };
  return mean_factors(setup.mesh, {{hinge.faces[0], area(c)}, {hinge.faces[1], area(d)}}).bending;
}

std::vector<double> HingeRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                         const Fabric& fabric) {
  const std::vector<HingeOfEdge> all = hinges_of(setup.mesh);
  std::vector<double> found;
  for (const Index place : places) {
    const HingeOfEdge& hinge = all[static_cast<std::size_t>(place)];
    found.push_back(fabric.hinge_stiffness() * HingeShape(setup, hinge).stiffness());
    if (!setup.mesh.face_factors.empty()) found.back() *= HingeShape::bending_factor(setup, hinge);
  }
  return found;
}

}  // namespace isocloth

#include "engine/rows/folds.hpp"

#include <algorithm>

namespace isocloth {

void FoldRows::add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
  for (std::size_t i = 0; i < setup.mesh.folds.size(); ++i) {
    const Fold& fold = setup.mesh.folds[i];
    const bool acts = fold.stiffness > 0 || fold.factor > 0;
    if (!acts || std::ranges::none_of(fold.nodes, [&](Index node) { return setup.is_free(node); })) continue;
    pattern.add_slot(fold.nodes[0], {fold.nodes[0]});
    for (std::size_t k = 1; k < 4; ++k) pattern.add_slot(fold.nodes[k]);
    pattern.end_stencil();
    places.push_back(static_cast<Index>(i));
  }
}

std::vector<double> FoldRows::rest_values(const Mesh& mesh, const std::vector<Index>& places) {
  std::vector<double> all;
  for (const Index place : places) all.push_back(mesh.folds[static_cast<std::size_t>(place)].angle);
  return all;
}

std::vector<double> FoldRows::stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                        const Fabric& fabric) {
  std::vector<double> all;
  for (const Index place : places) {
    const Fold& fold = setup.mesh.folds[static_cast<std::size_t>(place)];
    all.push_back(fold.stiffness + fold.factor * fabric.hinge_stiffness());
  }
  return all;
}

}  // namespace isocloth

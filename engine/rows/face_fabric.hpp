// What faces are made of (Mesh::face_factors).
#pragma once

#include <initializer_list>
#include <utility>

#include "engine/material/fabric.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Factors of a face; 1 where the mesh has none.
inline FabricFactors factors_of(const Mesh& mesh, Index face) {
  return mesh.face_factors.empty() ? FabricFactors{} : mesh.face_factors[static_cast<std::size_t>(face)];
}

/// Means of the factors of faces by area; areas: (face, area).
FabricFactors mean_factors(const Mesh& mesh, std::initializer_list<std::pair<Index, double>> areas);

/// Has the folds of a mesh be of what lies beside them: Fold::factor, so far of cloth with the factors
/// `before` (shape [face_count], or empty: 1), is multiplied by the mean change of the bending factors of the
/// two faces by area. A fold of a seam lies between faces of both panels, whose nodes stitches join.
void follow_factors(const std::vector<FabricFactors>& before, Mesh& mesh);

/// The fabric with these factors. Poisson's ratio follows, nu sqrt(stretch / weft_stretch), so that warp and
/// weft are coupled as in the whole garment (Fabric::poisson_coupling()).
void set_factors(const FabricFactors& factors, const Fabric& of_garment, Fabric& fabric);

}  // namespace isocloth

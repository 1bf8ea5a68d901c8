// Sheets by metric and curvature tensors: their recipes and what they ask of a garment.
#pragma once

#include <string>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// Terzopoulos et al. 1987 by semi-implicit steps, as they are published; the solver of both recipes is
/// host/models/terzopoulos1987.
inline Recipe terzopoulos1987() {
  return {"terzopoulos1987",
          "Terzopoulos, Platt, Barr, Fleischer 1987, Elastically deformable models: metric and curvature "
          "tensors of a "
          "quad_grid, by semi-implicit steps",
          {RowFamily::edges},
          SolverFamily::semi_implicit,
          BendingModel::isometric,
          StrainMeasure::green,
          EdgeRule::free};
}
inline Recipe terzopoulos1987_implicit() {
  return {"terzopoulos1987_implicit",
          "the same energies by implicit steps (backward Euler, Newton's method)",
          {RowFamily::edges},
          SolverFamily::semi_implicit,
          BendingModel::isometric,
          StrainMeasure::green,
          EdgeRule::free};
}

/// Throws SceneError beginning with `key` of the garment for a mesh that is no grid (TensorGrid).
void check_tensors(const std::string& key, const Garment& garment);

}  // namespace isocloth

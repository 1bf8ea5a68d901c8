// The isometric rows of Coltraro 2022, held by impulses.
#pragma once

#include "engine/model/recipe.hpp"

namespace isocloth {

/// Its steps are those of the impulse solvers of the core.
inline Recipe isometric_impulse() {
  return {"isometric_impulse",
          "the rows of coltraro2022 by the sweeps of bender_iterative",
          {RowFamily::isometry, RowFamily::corner_shear, RowFamily::boundary_edges},
          SolverFamily::impulse};
}

}  // namespace isocloth

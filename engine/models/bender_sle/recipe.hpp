// Cloth held by impulses that are found together, from one system of linear equations.
#pragma once

#include "engine/model/recipe.hpp"

namespace isocloth {

/// Bender, Bayer: Impulse-based simulation of inextensible cloth, section 3.4.2; its solver is
/// host/models/bender_sle.
inline Recipe bender_sle() {
  return {"bender_sle",
          "the same, section 3.4.2: all impulses of a step from one system of linear equations",
          {RowFamily::edges},
          SolverFamily::impulse_system};
}

}  // namespace isocloth

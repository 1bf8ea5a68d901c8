// Explicit springs whose edges are drawn together where they are too long.
#pragma once

#include "engine/model/recipe.hpp"

namespace isocloth {

/// Provot 1995; its steps are those of the impulse solvers of the core.
inline Recipe provot1995() {
  return {
      "provot1995",
      "Provot 1995, Deformation constraints in a mass-spring model to describe rigid cloth behavior: "
      "explicit "
      "springs along edges (structural_spring), diagonals (shear_spring) and to the next neighbours but one "
      "(bend_spring); edges longer than strain_limit are drawn together, one after another",
      {RowFamily::edges},
      SolverFamily::impulse,
      BendingModel::isometric,
      StrainMeasure::green,
      EdgeRule::springs};
}

}  // namespace isocloth

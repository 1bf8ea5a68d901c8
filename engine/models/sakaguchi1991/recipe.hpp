// Explicit springs with viscous and plastic parts.
#pragma once

#include "engine/model/recipe.hpp"

namespace isocloth {

/// Sakaguchi et al. 1991; its steps are those of the impulse solvers of the core.
inline Recipe sakaguchi1991() {
  return {"sakaguchi1991",
          "Sakaguchi et al. 1991, PARTY: a dynamically deformable model of dress, as far as the tutorial of "
          "Karthikeyan "
          "and Ranganathan (1998) tells: the springs of provot1995 with viscous (damping) and plastic parts "
          "(yield_strain, flow_time)",
          {RowFamily::edges},
          SolverFamily::impulse,
          BendingModel::isometric,
          StrainMeasure::green,
          EdgeRule::plastic_springs};
}

}  // namespace isocloth

// The list of laws of membranes. A law is a file, with strain, stress, tangent and energy, and a line below;
// GreenStrain (engine/material/green_strain.hpp) says what it may have of its own.
#pragma once

#include "engine/material/corotational_strain.hpp"
#include "engine/material/engineering_strain.hpp"
#include "engine/material/green_strain.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// visit(law), with `law` of the law's own type.
template <class Visit>
ISOCLOTH_HD auto visit_membrane_law(StrainMeasure measure, const Visit& visit) {
  switch (measure) {
    case StrainMeasure::engineering:
      return visit(EngineeringStrain{});
    case StrainMeasure::corotational:
      return visit(CorotationalStrain{});
    case StrainMeasure::green:
      break;
  }
  return visit(GreenStrain{});
}

}  // namespace isocloth::ISOCLOTH_BACKEND

namespace isocloth {

/// What a law is, without its formulas; see GreenStrain.
struct MembraneLawKind {
  bool is_quadratic, is_linear, takes_curves, couples_threads;
};
ISOCLOTH_HD MembraneLawKind kind_of(StrainMeasure measure) {
  return ISOCLOTH_BACKEND::visit_membrane_law(measure, [](auto law) -> MembraneLawKind {
    return {law.is_quadratic, law.is_linear, law.takes_curves, law.couples_threads};
  });
}

}  // namespace isocloth

// Whether pins have torn what lies between them in a step.
#pragma once

#include "engine/model/taut_pins.hpp"
#include "host/strain.hpp"

namespace isocloth {

/// By the strain at the end of a step. Where shortening tears nothing, as much stretch must be there, too:
/// pinned_max has no sign.
inline bool is_torn(const Tearing& tearing, const Strain& strain) {
  const double s = tearing.stretch;
  if (tearing.by_compression) return strain.pinned_max > s;
  return strain.pinned_max > s * (2 + s) && strain.stretch_max > s / 2;
}

}  // namespace isocloth

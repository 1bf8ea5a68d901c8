// A position as messages have it.
#pragma once

#include <cmath>
#include <string>

#include "engine/core/text.hpp"

namespace isocloth {

/// " at (0.1 0.2 0.3) m", to a tenth of a millimetre.
inline std::string position_text(double x, double y, double z) {
  const auto rounded = [](double c) { return std::round(1e4 * c) / 1e4; };
  return text(" at (", rounded(x), " ", rounded(y), " ", rounded(z), ") m");
}

}  // namespace isocloth

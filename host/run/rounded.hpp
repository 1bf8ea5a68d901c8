// Measures in messages.
#pragma once

#include <sstream>
#include <string>

namespace isocloth {

/// A number as text with three significant digits.
inline std::string rounded(double number) {
  std::ostringstream line;
  line.precision(3);
  line << number;
  return line.str();
}

}  // namespace isocloth

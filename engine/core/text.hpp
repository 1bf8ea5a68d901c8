// One line of text from its parts, for messages.
#pragma once

#include <sstream>
#include <string>

namespace isocloth {

/// The parts one after another, as operator<< writes them, numbers with nine significant digits.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream line;
  line.precision(9);
  (line << ... << parts);
  return line.str();
}

}  // namespace isocloth

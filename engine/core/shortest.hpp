// Numbers as text, without loss.
#pragma once

#include <string>

namespace isocloth {

/// The fewest digits that read back as the same double, whatever the locale.
std::string shortest(double value);

}  // namespace isocloth

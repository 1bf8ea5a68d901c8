// Where there is no node, face or corner to number.
#pragma once

#include "engine/core/array_view.hpp"

namespace isocloth {

constexpr Index no_index = -1;

}  // namespace isocloth

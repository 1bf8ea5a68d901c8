// Vectors that lie one after another in one array.
#pragma once

#include "engine/core/array_view.hpp"

namespace isocloth {

constexpr int most_columns = 12;  ///< of two rigid bodies

/// Those of them that a kernel works on at once. Where nothing else is said: the one that is there.
struct Columns {
  Index count = 1;
  Index begin[most_columns] = {};  ///< first value of each, the same in all arrays
};

}  // namespace isocloth

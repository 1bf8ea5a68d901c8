// Vectors that lie one after another in one array.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/platform.hpp"

namespace isocloth {

constexpr int most_columns = 12;  ///< greatest number of columns: those of two rigid bodies

/// Columns that a kernel works on at once. Where nothing else is said: the one that is there.
struct Columns {
  Index count = 1;
  Index begin[most_columns] = {};  ///< first value of each, the same in all arrays
};

namespace ISOCLOTH_BACKEND {

/// work.of<count>(first) for all of them, a few at a time, whose sums fit into registers.
template <class Work, class... Arguments>
ISOCLOTH_DEVICE void for_columns(const Columns& columns, const Work& work, Arguments... arguments) {
  Index first = 0;
  for (; first + 6 <= columns.count; first += 6) work.template of<6>(first, arguments...);
  for (; first + 3 <= columns.count; first += 3) work.template of<3>(first, arguments...);
  for (; first < columns.count; ++first) work.template of<1>(first, arguments...);
}

}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

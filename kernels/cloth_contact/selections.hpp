// Running sums and selections: CUB's on a GPU, plain loops on a CPU.
#pragma once

#include <cstddef>

#include "kernels/cloth_contact/cloth_contact.hpp"

namespace isocloth {

/// Where CUB keeps what it needs in between: at least selection_work_bytes().
using SelectionWork = ArrayView<std::byte>;

/// sums[i] = values[0] + ... + values[i - 1].
struct RunningSums {
  ArrayView<const Index> values;
  ArrayView<Index> sums;  ///< running sums, shape as `values`
  SelectionWork work;
};

/// The indices of what is flagged, ascending.
struct ListFlagged {
  ArrayView<const std::uint8_t> flags;  ///< 1 or 0
  ArrayView<Index> indices;  ///< indices of what is flagged, shape as `flags`; the first count[0] are written
  ArrayView<Index> count;    ///< shape [1]
  SelectionWork work;
};

/// The contacts of pairs that are not apart, in the same order.
struct SelectContacts {
  ArrayView<const FoundContact> contacts;
  /// Contacts of pairs that are not apart, shape as `contacts`; the first count[0] are written.
  ArrayView<FoundContact> selected;
  ArrayView<Index> count;  ///< shape [1]
  SelectionWork work;
};

namespace ISOCLOTH_BACKEND {
// False where the backend fails.
/// Work memory for `count` values of any of these.
bool selection_work_bytes(const Queue& queue, Index count, std::size_t* bytes);
bool running_sums(const Queue& queue, const RunningSums& args);
bool list_flagged(const Queue& queue, const ListFlagged& args);
bool select_contacts(const Queue& queue, const SelectContacts& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

#include "kernels/cloth_contact/selections.hpp"

#if !defined(__CUDACC__)  // else CUB has them, kernels/cuda/selections.cu

namespace isocloth::ISOCLOTH_BACKEND {

// Loops: functions of the standard library would be shared among instruction sets.
bool selection_work_bytes(const Queue&, Index, std::size_t* bytes) {
  *bytes = 0;
  return true;
}
bool running_sums(const Queue&, const RunningSums& args) {
  Index sum = 0;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    args.sums[i] = sum;
    sum += args.values[i];
  }
  return true;
}
bool list_flagged(const Queue&, const ListFlagged& args) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < args.flags.size(); ++i)
    if (args.flags[i] != 0) args.indices[count++] = static_cast<Index>(i);
  args.count[0] = static_cast<Index>(count);
  return true;
}
bool select_contacts(const Queue&, const SelectContacts& args) {
  std::size_t count = 0;
  for (const FoundContact& found : args.contacts)
    if (found.status != PairStatus::apart) args.selected[count++] = found;
  args.count[0] = static_cast<Index>(count);
  return true;
}

}  // namespace isocloth::ISOCLOTH_BACKEND

#endif

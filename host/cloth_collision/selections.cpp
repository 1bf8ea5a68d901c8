#include "host/cloth_collision/selections.hpp"

namespace isocloth {

void Selections::running_sums(ArrayView<const Index> values, ArrayView<Index> sums) {
  device_.check(kernels().running_sums(device_.queue(), {values, sums, work(values.size())}));
}

std::size_t Selections::list_flagged(ArrayView<const std::uint8_t> flags, ArrayView<Index> indices) {
  list_flagged(flags, indices, count_.view());
  return selected();
}
void Selections::list_flagged(ArrayView<const std::uint8_t> flags, ArrayView<Index> indices,
                              ArrayView<Index> count) {
  device_.check(kernels().list_flagged(device_.queue(), {flags, indices, count, work(flags.size())}));
}

std::size_t Selections::select_contacts(ArrayView<const FoundContact> found,
                                        ArrayView<FoundContact> selected_contacts) {
  select_contacts(found, selected_contacts, count_.view());
  return selected();
}
void Selections::select_contacts(ArrayView<const FoundContact> found,
                                 ArrayView<FoundContact> selected_contacts, ArrayView<Index> count) {
  device_.check(
      kernels().select_contacts(device_.queue(), {found, selected_contacts, count, work(found.size())}));
}

SelectionWork Selections::work(std::size_t count) {
  std::size_t bytes = 0;
  device_.check(kernels().work_bytes(device_.queue(), static_cast<Index>(count), &bytes));
  if (work_.size() < bytes) work_ = {device_, bytes + bytes / 2};
  return work_.view();
}

std::size_t Selections::selected() const {
  std::vector<Index> staging;
  return static_cast<std::size_t>(*count_.read(0, 1, staging));
}

}  // namespace isocloth

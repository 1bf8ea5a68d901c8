// Running sums and selections where kernels run, and the memory that they need.
#pragma once

#include "host/memory/buffer.hpp"
#include "kernels/cloth_contact/selections.hpp"

namespace isocloth {

/// Lists of what is flagged or touches in a device's memory, see kernels/cloth_contact/selections.hpp.
/// Members throw DeviceError where the backend fails. The device must outlive the object.
class Selections {
 public:
  explicit Selections(const Device& device) : device_(device), count_(device, 1) {}

  void running_sums(ArrayView<const Index> values, ArrayView<Index> sums);
  /// Returns how many are flagged, and waits for that.
  std::size_t list_flagged(ArrayView<const std::uint8_t> flags, ArrayView<Index> indices);
  /// Returns how many are not apart, and waits for that.
  std::size_t select_contacts(ArrayView<const FoundContact> found, ArrayView<FoundContact> selected);
  // The same without a wait; where to write how many there are, shape [1].
  void list_flagged(ArrayView<const std::uint8_t> flags, ArrayView<Index> indices, ArrayView<Index> count);
  void select_contacts(ArrayView<const FoundContact> found, ArrayView<FoundContact> selected,
                       ArrayView<Index> count);
  std::size_t bytes() const { return count_.bytes() + work_.bytes(); }

 private:
  const SelectionKernels& kernels() const { return device_.backend().selection; }
  /// Work arrays for so many values.
  SelectionWork work(std::size_t count);
  std::size_t selected() const;

  const Device& device_;
  Buffer<Index> count_;
  Buffer<std::byte> work_;
};

}  // namespace isocloth

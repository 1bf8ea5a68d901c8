// How kernels of the test device run, in the place of kernels/launch/cpu_launch.cpp: after all that waits in
// their queue, one item after the other, with the device's memory open. What a launch does before and after
// is the host's, here as on a GPU.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "kernels/launch/launch.hpp"
#include "tests/support/device_memory.hpp"
#include "tests/support/device_stream.hpp"

namespace isocloth {

void EmulatedBlock::sync() const { std::abort(); }  // no queue of this device asks for emulated blocks

namespace detail {

void run_ranges(const Queue& queue, Index count, RangeCall call) {
  run_pending(queue);
  const DeviceAccess access;
  call.run(call.body, 0, count);
}

void run_blocks(const Queue& queue, Index count, std::size_t scratch, BlockCall call) {
  run_pending(queue);
  constexpr std::size_t alignment = 64;
  const std::size_t bytes = (scratch / alignment + 1) * alignment;
  const std::unique_ptr<void, decltype(&std::free)> shared(std::aligned_alloc(alignment, bytes), std::free);
  if (shared == nullptr) throw std::bad_alloc();
  const SoloBlock block(shared.get());
  const DeviceAccess access;
  for (Index item = 0; item < count; ++item) {
    std::memset(shared.get(), 0xFF, scratch);  // NaN: a read before a write shows
    call.run(call.body, block, item);
  }
}

}  // namespace detail
}  // namespace isocloth

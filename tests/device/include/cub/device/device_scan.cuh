// cub::DeviceScan as the plugin uses it, for the software device.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <string>
#include <type_traits>

namespace cub {

/// Any number that grows with the count and is never zero, as CUB's own.
inline std::size_t work_bytes(int count) { return 1024 + static_cast<std::size_t>(count) / 8; }

/// Answers the first of CUB's two calls, which asks how much memory the second needs, and checks the
/// second's.
inline bool is_answered(const char* name, void* work, std::size_t& bytes, int count) {
  const std::size_t needed = work_bytes(count);
  if (work == nullptr) {
    bytes = needed;
    return true;
  }
  if (bytes < needed)
    isocloth::software::fail(std::string(name) + ": " + std::to_string(bytes) + " bytes of work memory for " +
                             std::to_string(count) + " values, which take " + std::to_string(needed));
  if (!isocloth::software::is_device_memory(work, bytes))
    isocloth::software::fail(std::string(name) + ": work memory that is not the device's");
  return false;
}

struct DeviceScan {
  template <class In, class Out>
  static cudaError_t ExclusiveSum(void* work, std::size_t& bytes, In in, Out out, int count,
                                  cudaStream_t stream) {
    constexpr const char* name = "cub::DeviceScan::ExclusiveSum";
    if (is_answered(name, work, bytes, count)) return cudaSuccess;
    isocloth::software::enqueue_library_call(stream, name, [=] {
      std::memset(work, 0xEE, bytes);
      std::remove_cvref_t<decltype(out[0])> sum{};
      for (int i = 0; i < count; ++i) {
        const auto value = in[i];  // `in` may be `out`
        out[i] = sum;
        sum += value;
      }
    });
    return cudaSuccess;
  }
};

}  // namespace cub

// cub::DeviceSelect as the plugin uses it, for the software device.
#pragma once

#include <cub/device/device_scan.cuh>

namespace cub {

struct DeviceSelect {
  template <class In, class Flags, class Out, class Count>
  static cudaError_t Flagged(void* work, std::size_t& bytes, In in, Flags flags, Out out, Count selected,
                             int count, cudaStream_t stream) {
    return choose("cub::DeviceSelect::Flagged", work, bytes, in, out, selected, count, stream,
                  [flags](int i, const auto&) { return flags[i] != 0; });
  }
  template <class In, class Out, class Count, class Predicate>
  static cudaError_t If(void* work, std::size_t& bytes, In in, Out out, Count selected, int count,
                        Predicate predicate, cudaStream_t stream) {
    return choose("cub::DeviceSelect::If", work, bytes, in, out, selected, count, stream,
                  [predicate](int, const auto& value) { return predicate(value); });
  }

 private:
  template <class In, class Out, class Count, class Chosen>
  static cudaError_t choose(const char* name, void* work, std::size_t& bytes, In in, Out out, Count selected,
                            int count, cudaStream_t stream, Chosen is_chosen) {
    if (is_answered(name, work, bytes, count)) return cudaSuccess;
    isocloth::software::enqueue_library_call(stream, name, [=] {
      std::memset(work, 0xEE, bytes);
      int n = 0;
      for (int i = 0; i < count; ++i)
        if (is_chosen(i, in[i])) out[n++] = in[i];
      *selected = n;
    });
    return cudaSuccess;
  }
};

}  // namespace cub

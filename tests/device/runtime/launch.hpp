// The software device: how a kernel comes to it, and what a thread of one knows.
//
// A device that runs on the CPU and is stricter than a GPU. It is the plugin libisocloth_cuda.so, compiled
// from its own sources by a C++ compiler with tests/device/include in the place of CUDA's headers, so that
// what runs is every line that runs on a GPU: kernels as nvcc reads them, kernels/cuda, streams, graphs,
// shared memory. Threads of a block are fibres that meet at __syncthreads(). It ends the process, and says
// why, where a GPU might go on with a wrong number:
//
//   a barrier that not all threads of a block reach, or that they reach at different places
//   a host that touches the device's memory, a kernel that touches memory behind an array, released or of
//   another device
//   a pointer to memory of the host or of another device among the arguments of a kernel
//   an allocation while a stream captures; a copy that is not within an array of the stream's device
//
// A launch with no block, too many threads or more shared memory than was asked for, or into a stream of
// another device than the thread's, and a copy or a wait within a capture, are errors for cudaGetLastError(),
// as on a GPU. There are two devices.
//
// Fresh and shared memory is NaN. A kernel runs when its stream is waited for, so that a missing wait shows
// as NaN or as an old value; ISOCLOTH_TEST_DEVICE_EAGER=1: at once. A race shows as results that depend on
// the order of threads and blocks.
//
// Environment: ISOCLOTH_TEST_DEVICE_ORDER   ascending (default), descending or random: threads and blocks
//              ISOCLOTH_TEST_DEVICE_BYTES   memory of a device, default 1 GiB
//              ISOCLOTH_TEST_DEVICE_SHARED  shared memory that a block may have, default 232448
//              ISOCLOTH_TEST_DEVICE_COUNTS  file for what was counted (counters.hpp), written at the end
//              ISOCLOTH_TEST_DEVICE_PATHS=1  counts have the time of the slowest thread between barriers, too
//              ISOCLOTH_TEST_DEVICE_OPEN=1  the host may touch the device's memory
//              ISOCLOTH_TEST_DEVICE_SKIP    kernels that are left out, by parts of names with commas between,
//                                           so that the host's own time is seen; fresh memory is 0 then
// With ISOCLOTH_ARENA=off (host/memory/arena.hpp) every array ends at a page that nobody may touch.
//
// It cannot see: time on a GPU, registers, order of memory within a warp, the driver, CUB itself.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/device/runtime/device_memory.hpp"

struct CUstream_st;
using cudaStream_t = CUstream_st*;

namespace isocloth::software {

struct Graph;

constexpr int device_count = 2;
/// The device of the calling thread (cudaSetDevice()).
int current_device();

/// The first of CUDA's three dimensions; nothing here uses others.
struct Dimension {
  unsigned x = 0;
};
extern Dimension thread_index, block_index, block_size, grid_size;  ///< of the thread that runs
extern void* block_memory;  ///< shared memory of the block that runs, NaN when it begins

/// Bytes of shared memory that no block can pass.
constexpr std::size_t most_shared_memory = 256 * 1024;

/// Puts what a library does into a stream.
void enqueue_library_call(cudaStream_t stream, const char* name, std::function<void()> call);
/// __syncthreads().
void sync_threads();
/// Whether so many bytes lie in an array of the thread's device.
bool is_device_memory(const void* pointer, std::size_t bytes);
[[noreturn]] void fail(const std::string& what);

template <auto kernel>
const char* name_of() {
  return __PRETTY_FUNCTION__;
}

/// What a launch by address (cudaLaunchKernel()) must know of a kernel.
struct KnownKernel {
  const char* name = nullptr;
  int most_threads = 0;  ///< launch bound
  std::vector<std::size_t> argument_bytes;
  /// A thread of a launch with copies of these arguments, after which their padding is clear: what lies there
  /// is no argument.
  std::function<void()> (*bind)(void** arguments) = nullptr;
};
void remember(const void* kernel, KnownKernel known);

template <auto kernel, class... Parameters>
void remember(void (*)(Parameters...), int most_threads) {
  remember(reinterpret_cast<const void*>(kernel),
           {name_of<kernel>(), most_threads, {sizeof(Parameters)...}, [](void** arguments) {
              return [&]<std::size_t... i>(std::index_sequence<i...>)->std::function<void()> {
                if constexpr (requires(Parameters * ... p) { (__builtin_clear_padding(p), ...); })
                  (__builtin_clear_padding(static_cast<Parameters*>(arguments[i])), ...);
                return [copies = std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[i])...)] {
                  std::apply(kernel, copies);
                };
              }
              (std::index_sequence_for<Parameters...>{});
            }});
}
/// The kernel, which can be launched from here on.
template <auto kernel>
auto known_kernel(int most_threads) {
  static const bool is_new = (remember<kernel>(kernel, most_threads), true);
  static_cast<void>(is_new);
  return kernel;
}

}  // namespace isocloth::software

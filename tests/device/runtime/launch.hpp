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

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>

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

/// What a launch asks for.
struct LaunchShape {
  unsigned blocks, threads;
  int most_threads;    ///< the kernel's launch bound
  std::size_t shared;  ///< shared memory of a block [bytes]
};

/// Arguments of a launch as they lie in memory, to look for pointers of the host in them.
using Bytes = std::span<const std::byte>;

/// Puts a kernel into a stream, or into the graph that captures it.
void enqueue(cudaStream_t stream, const char* name, const void* kernel, const LaunchShape& shape,
             std::span<const Bytes> arguments, std::function<void()> thread);
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

/// kernel<<<blocks, threads, shared, stream>>>(arguments...)
template <auto kernel, class... Arguments>
void launch(cudaStream_t stream, const LaunchShape& shape, Arguments... arguments) {
  if constexpr (requires { (__builtin_clear_padding(&arguments), ...); })
    (__builtin_clear_padding(&arguments), ...);  // what lies there is no argument
  const std::array<Bytes, sizeof...(Arguments)> bytes{std::as_bytes(std::span(&arguments, 1))...};
  enqueue(stream, name_of<kernel>(), reinterpret_cast<const void*>(kernel), shape, bytes,
          [arguments...] { kernel(arguments...); });
}

}  // namespace isocloth::software

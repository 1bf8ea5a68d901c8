// How kernels run: of all that a kernel includes, the only file that knows what a thread is.
//
// parallel_for(queue, count, body)              body(i) for every i, in any order
// for_each_block(queue, count, memory, body)    body(block, item): the threads of a block share the item
// share(block, count, body)                     body(i) for every i, by the threads of a block
// add_to_shared(more, sum)                      whole numbers of all items
//
// A block body must be right for any block size: it strides by rank() and size(), passes values through
// shared() and workspace() between sync()s, and every thread reaches every sync(). A body is a struct of
// plain data. One that says `runs_in_warps`, which has a workspace, is compiled for blocks of a single warp
// too, which wait for each other at no cost and know their shared memory as such.
#pragma once

#include <algorithm>

#include "engine/core/array_view.hpp"
#include "engine/core/platform.hpp"
#include "kernels/launch/queue.hpp"

#if defined(__CUDACC__)

#include <cuda_runtime.h>

#include "kernels/launch/current_device.cuh"
#include "kernels/launch/launch_sequence.cuh"

// The software device of the tests (tests/device) is a C++ compiler's, which must be told of its kernels.
#if !defined(ISOCLOTH_KERNEL)
#define ISOCLOTH_KERNEL(kernel, most_threads) (&kernel)
#define ISOCLOTH_BLOCK_MEMORY(name) extern __shared__ double2 name[]
#endif

namespace isocloth::cuda {

class Block {
 public:
  static constexpr bool is_solo = false, is_warp = false;
  __device__ Block(void* shared, void* workspace) : shared_(shared), workspace_(workspace) {}
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ void sync() const { __syncthreads(); }
  /// Memory of the block: at least the bytes that the launch asked for, the same for every thread.
  template <class T>
  __device__ T* shared() const {
    return static_cast<T*>(shared_);
  }
  template <class T>
  __device__ T* workspace() const {
    return static_cast<T*>(workspace_);
  }

 private:
  void *shared_, *workspace_;
};

/// A block of one warp, see Block.
class WarpBlock {
 public:
  static constexpr bool is_solo = false, is_warp = true;
  __device__ explicit WarpBlock(void* workspace) : workspace_(workspace) {}
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  static constexpr __device__ int size() { return 32; }
  __device__ void sync() const { __syncwarp(); }
  template <class T>
  __device__ T* shared() const {
    ISOCLOTH_BLOCK_MEMORY(memory);
    return reinterpret_cast<T*>(memory);
  }
  template <class T>
  __device__ T* workspace() const {
    return static_cast<T*>(workspace_);
  }
  /// The value of the thread of this rank.
  template <class T>
  __device__ T value_of(T own, int rank) const {
    return __shfl_sync(all_threads, own, rank);
  }
  /// fold() of the values of all threads, whose order and grouping it must not depend on.
  template <class T, class Fold>
  __device__ T reduce(T own, const Fold& fold) const {
    for (int distance = size() / 2; distance > 0; distance /= 2)
      own = fold(own, __shfl_xor_sync(all_threads, own, distance));
    return value_of(own, 0);  // of NaN threads might not think alike
  }

 private:
  static constexpr unsigned all_threads = 0xffffffffu;
  void* workspace_;
};

/// Tells the compiler that an address, not null, is none of shared memory nor of a thread's own.
template <class T>
__device__ T* in_device_memory(T* address) {
  __builtin_assume(__isGlobal(address));
  return address;
}

namespace detail {
/// Most threads of this body's blocks: its own `most_block_threads`, else 128. Fewer leave more registers
/// each.
template <class Body>
constexpr int most_threads() {
  if constexpr (requires { Body::most_block_threads; })
    return Body::most_block_threads;
  else
    return 128;
}
/// Whole warps; as many as the queue says, else as body.block_threads() says, else as many as there may be.
template <class Body>
int threads_of(const Queue& queue, const Body& body) {
  int threads = queue.block_threads;
  if constexpr (requires { body.block_threads(); })
    if (threads <= 0) threads = body.block_threads();
  constexpr int most = most_threads<Body>();
  return threads <= 0 || threads > most ? most : (threads + 31) / 32 * 32;
}

// The 1 (blocks at least per multiprocessor) lets ptxas have all registers: left alone, it spills for
// occupancy.
template <class Body>
__global__ void for_kernel(Index count, Body body) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) body(i);
}
template <class Body>
__global__ void __launch_bounds__(most_threads<Body>(), 1) block_kernel(const __grid_constant__ Body body) {
  ISOCLOTH_BLOCK_MEMORY(shared);
  body(Block(shared, nullptr), static_cast<Index>(blockIdx.x));
}
/// One piece of the workspace per block, blocks take items in turn. in_workspace: bytes that the workspace
/// holds in the place of shared memory.
template <class Body>
__global__ void __launch_bounds__(most_threads<Body>(), 1)
    workspace_kernel(Index count, const __grid_constant__ Body body, char* workspace, std::size_t piece,
                     std::size_t in_workspace) {
  ISOCLOTH_BLOCK_MEMORY(shared);
  char* const own = workspace + blockIdx.x * piece;
  const Block block(in_workspace > 0 ? static_cast<void*>(own) : shared, own + in_workspace);
  for (Index item = static_cast<Index>(blockIdx.x); item < count; item += static_cast<Index>(gridDim.x)) {
    body(block, item);
    __syncthreads();
  }
}
template <class Body>
__global__ void __launch_bounds__(32, 1)
    warp_kernel(Index count, const __grid_constant__ Body body, char* workspace, std::size_t piece) {
  const WarpBlock block(workspace + blockIdx.x * piece);
  for (Index item = static_cast<Index>(blockIdx.x); item < count; item += static_cast<Index>(gridDim.x)) {
    body(block, item);
    __syncwarp();
  }
}

template <class Body>
constexpr bool runs_in_warps() {
  if constexpr (requires { Body::runs_in_warps; })
    return Body::runs_in_warps;
  else
    return false;
}

/// Of a kernel on its device, whoever launches it: always the same, therefore.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, const Queue& queue, std::size_t bytes) {
  if (bytes > shared_without_asking)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(queue.shared_limit));
}

/// As many blocks as run at once, as there are items, or as the workspace has pieces for.
template <class Kernel>
unsigned blocks_at_once(Kernel* kernel, const Queue& queue, Index count, int threads, std::size_t shared,
                        std::size_t piece) {
  int resident = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared);
  const std::size_t most = std::min(static_cast<std::size_t>(count), queue.workspace_bytes / piece);
  const auto running = static_cast<std::size_t>(resident) * static_cast<std::size_t>(queue.multiprocessors);
  return static_cast<unsigned>(running > 0 ? std::min(most, running) : most);
}
}  // namespace detail

// A failed launch shows at the next copy or wait of the queue (Memory), which names the error.
//
// One launch does a step or many of a group of small cloths, decisions included. Large meshes go kernel by
// kernel: what is launched between two waits of the host goes together, as a CUDA graph from the second time
// on (launch_sequence.cuh). The hundreds of launches of a factorisation, which are always the same, are a
// recording (host/memory/recording.hpp), whose arguments nobody compares. The host reads a few numbers before
// it decides on the next iteration.
//
// Whoever launches needs no more than the queue: launch() has the device of the queue for its own call.

template <class Body>
void parallel_for(const Queue& queue, Index count, const Body& body) {
  constexpr Index size = 128;
  const auto blocks = static_cast<unsigned>((count + size - 1) / size);
  if (count <= 0) return;
  launch(queue, ISOCLOTH_KERNEL(detail::for_kernel<Body>, size), blocks, size, 0, count, body);
}

/// Shared memory past shared_without_asking needs a queue that knows its shared_limit; past that limit, and
/// for a workspace, one with at least one workspace_piece().
template <class Body>
void for_each_block(const Queue& queue, Index count, BlockMemory memory, const Body& body) {
  if (count <= 0) return;
  const CurrentDevice current(queue.device);
  const std::size_t piece = workspace_piece(queue, memory);
  char* const workspace = static_cast<char*>(queue.workspace);
  if constexpr (detail::runs_in_warps<Body>()) {
    constexpr int warp = 32;
    const bool is_wanted =
        queue.block_threads > 0 ? queue.block_threads == warp : has_room_for_many(queue, memory);
    if (is_wanted && piece > 0 && fits_shared_memory(queue, memory)) {
      detail::allow_shared_memory(detail::warp_kernel<Body>, queue, memory.shared);
      const unsigned blocks =
          detail::blocks_at_once(detail::warp_kernel<Body>, queue, count, warp, memory.shared, piece);
      launch(queue, ISOCLOTH_KERNEL(detail::warp_kernel<Body>, warp), blocks, static_cast<unsigned>(warp),
             memory.shared, count, body, workspace, piece);
      return;
    }
  }
  const int threads = detail::threads_of(queue, body);
  const bool fits = fits_shared_memory(queue, memory);
  const std::size_t shared = fits ? memory.shared : 0, in_workspace = fits ? 0 : memory.shared;
  if constexpr (!detail::runs_in_warps<Body>())  // those have a workspace
    if (piece == 0) {
      detail::allow_shared_memory(detail::block_kernel<Body>, queue, shared);
      launch(queue, ISOCLOTH_KERNEL(detail::block_kernel<Body>, detail::most_threads<Body>()),
             static_cast<unsigned>(count), static_cast<unsigned>(threads), shared, body);
      return;
    }
  detail::allow_shared_memory(detail::workspace_kernel<Body>, queue, shared);
  const unsigned blocks =
      detail::blocks_at_once(detail::workspace_kernel<Body>, queue, count, threads, shared, piece);
  launch(queue, ISOCLOTH_KERNEL(detail::workspace_kernel<Body>, detail::most_threads<Body>()), blocks,
         static_cast<unsigned>(threads), shared, count, body, workspace, piece,
         workspace_piece(queue, {in_workspace}));
}

}  // namespace isocloth::cuda

#else

namespace isocloth {

/// A block of one thread: every loop is whole, every sync() is nothing.
class SoloBlock {
 public:
  static constexpr bool is_solo = true, is_warp = false;
  ISOCLOTH_HD SoloBlock(void* shared, void* workspace) : shared_(shared), workspace_(workspace) {}
  ISOCLOTH_HD static constexpr int rank() { return 0; }
  ISOCLOTH_HD static constexpr int size() { return 1; }
  ISOCLOTH_HD static constexpr void sync() {}
  template <class T>
  ISOCLOTH_HD T* shared() const {
    return static_cast<T*>(shared_);
  }
  template <class T>
  ISOCLOTH_HD T* workspace() const {
    return static_cast<T*>(workspace_);
  }

 private:
  void *shared_, *workspace_;
};

/// Concurrent threads, so that a thread sanitizer names a missing sync().
class EmulatedBlock {
 public:
  static constexpr bool is_solo = false, is_warp = false;
  ISOCLOTH_HD EmulatedBlock(int rank, int size, void* shared, void* workspace, void* barrier)
      : rank_(rank), size_(size), shared_(shared), workspace_(workspace), barrier_(barrier) {}
  ISOCLOTH_HD int rank() const { return rank_; }
  ISOCLOTH_HD int size() const { return size_; }
  void sync() const;
  template <class T>
  ISOCLOTH_HD T* shared() const {
    return static_cast<T*>(shared_);
  }
  template <class T>
  ISOCLOTH_HD T* workspace() const {
    return static_cast<T*>(workspace_);
  }

 private:
  int rank_, size_;
  void *shared_, *workspace_;
  void* barrier_;
};

namespace detail {

/// A loop body without its type: what threads, barriers and scratch are needed for is compiled once, for
/// every instruction set alike (cpu_launch.cpp).
struct RangeCall {
  const void* body;
  void (*run)(const void* body, Index begin, Index end);
};
struct BlockCall {
  const void* body;
  void (*run)(const void* body, const SoloBlock& block, Index item);
  void (*run_emulated)(const void* body, const EmulatedBlock& block, Index item);  ///< null: not built
};
void run_ranges(const Queue& queue, Index count, RangeCall call);
void run_blocks(const Queue& queue, Index count, BlockMemory memory, BlockCall call);

}  // namespace detail

namespace ISOCLOTH_BACKEND {

template <class Body>
void parallel_for(const Queue& queue, Index count, const Body& body) {
  detail::run_ranges(queue, count, {&body, [](const void* b, Index begin, Index end) {
                                      const Body& typed = *static_cast<const Body*>(b);
                                      for (Index i = begin; i < end; ++i) typed(i);
                                    }});
}

/// Memory is aligned for every lane value; filled with NaN in emulated blocks. Throws std::bad_alloc when a
/// thread finds none: some items are done then and others are not.
template <class Body>
void for_each_block(const Queue& queue, Index count, BlockMemory memory, const Body& body) {
  detail::run_blocks(queue, count, memory, {
    &body,
        [](const void* b, const SoloBlock& block, Index item) {
          (*static_cast<const Body*>(b))(block, item);
        },
#if defined(ISOCLOTH_EMULATED_BLOCKS)
        [](const void* b, const EmulatedBlock& block, Index item) {
          (*static_cast<const Body*>(b))(block, item);
        }
#else
       nullptr
#endif
  });
}

template <class T>
T* in_device_memory(T* address) {
  return address;
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth

#endif

namespace isocloth::ISOCLOTH_BACKEND {

/// body(i) for every i of [0, count), shared out among the threads of a block.
template <class Block, class Body>
ISOCLOTH_DEVICE void share(const Block& block, std::size_t count, const Body& body) {
  for (Index i = static_cast<Index>(block.rank()); i < static_cast<Index>(count); i += block.size()) body(i);
}

/// Adds to a number that the items of a launch share, and returns the sum. Whole numbers, so that their order
/// does not show in what it is at the end; what it is before then no result may depend on.
ISOCLOTH_DEVICE inline std::uint64_t add_to_shared(std::uint64_t more, std::uint64_t& sum) {
#if defined(__CUDACC__)
  return atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(more)) + more;
#else
  return __atomic_add_fetch(&sum, more, __ATOMIC_RELAXED);
#endif
}

}  // namespace isocloth::ISOCLOTH_BACKEND

// How kernels run: of all that a kernel includes, the only file that knows what a thread is.
//
// parallel_for(queue, count, body)              body(i) for every i, in any order
// for_each_block(queue, count, scratch, body)   body(block, item): the threads of a block share the item
// share(block, count, body)                     body(i) for every i, by the threads of a block
// add_to_shared(more, sum)                      whole numbers of all items
//
// A block body must be right for any block size: it strides by rank() and size(), passes values through
// shared() between sync()s, and every thread reaches every sync(). A body is a struct of plain data.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/platform.hpp"
#include "kernels/launch/queue.hpp"

#if defined(__CUDACC__)

#include <cuda_runtime.h>

#include "kernels/launch/current_device.cuh"

// The software device of the tests (tests/device) is a C++ compiler's, which knows neither.
#if !defined(ISOCLOTH_LAUNCH)
#define ISOCLOTH_LAUNCH(kernel, most_threads, blocks, threads, shared, stream, ...) \
  kernel<<<blocks, threads, shared, stream>>>(__VA_ARGS__)
#define ISOCLOTH_BLOCK_MEMORY(name) extern __shared__ double2 name[]
#endif

namespace isocloth::cuda {

class Block {
 public:
  static constexpr bool is_solo = false;
  __device__ explicit Block(void* shared) : shared_(shared) {}
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ void sync() const { __syncthreads(); }
  /// Shared memory of the block: at least the bytes that the launch asked for, the same for every thread.
  template <class T>
  __device__ T* shared() const {
    return static_cast<T*>(shared_);
  }

 private:
  void* shared_;
};

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
  ISOCLOTH_BLOCK_MEMORY(scratch);
  body(Block(scratch), static_cast<Index>(blockIdx.x));
}
/// Scratch too large for shared memory: one piece of the workspace per block, blocks take items in turn.
template <class Body>
__global__ void __launch_bounds__(most_threads<Body>(), 1)
    workspace_kernel(Index count, const __grid_constant__ Body body, char* workspace, std::size_t piece) {
  for (Index item = static_cast<Index>(blockIdx.x); item < count; item += static_cast<Index>(gridDim.x)) {
    body(Block(workspace + blockIdx.x * piece), item);
    __syncthreads();
  }
}
}  // namespace detail

// A failed launch shows at the next copy or wait of the queue (Memory), which names the error.
//
// One launch does all steps of a frame of a group of small cloths, decisions included, so that there is
// nothing for a CUDA graph to save. Large meshes go kernel by kernel; the hundreds of launches of their
// factorisation are a graph (host/memory/recording.hpp), and the host reads one number before it decides on
// the next iteration.

template <class Body>
void parallel_for(const Queue& queue, Index count, const Body& body) {
  constexpr Index size = 128;
  const auto blocks = static_cast<unsigned>((count + size - 1) / size);
  if (count <= 0) return;
  const CurrentDevice current(queue.device);
  ISOCLOTH_LAUNCH(detail::for_kernel<Body>, size, blocks, size, 0, static_cast<cudaStream_t>(queue.stream),
                  count, body);
}

/// scratch: bytes per block. Past 48 KiB it needs a queue that knows its shared_limit, past that limit one
/// with a workspace of at least workspace_piece(scratch) bytes.
template <class Body>
void for_each_block(const Queue& queue, Index count, std::size_t scratch, const Body& body) {
  if (count <= 0) return;
  const CurrentDevice current(queue.device);
  const auto stream = static_cast<cudaStream_t>(queue.stream);
  const int threads = detail::threads_of(queue, body);
  constexpr std::size_t without_asking = 48 * 1024;
  if (scratch <= without_asking || scratch <= queue.shared_limit) {
    if (scratch >
        without_asking)  // of the kernel on its device, whoever launches it: always the same, therefore
      cudaFuncSetAttribute(detail::block_kernel<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(queue.shared_limit));
    ISOCLOTH_LAUNCH(detail::block_kernel<Body>, detail::most_threads<Body>(), static_cast<unsigned>(count),
                    static_cast<unsigned>(threads), scratch, stream, body);
    return;
  }
  const std::size_t piece = workspace_piece(scratch), pieces = queue.workspace_bytes / piece;
  const unsigned blocks = static_cast<unsigned>(pieces < static_cast<std::size_t>(count) ? pieces : count);
  ISOCLOTH_LAUNCH(detail::workspace_kernel<Body>, detail::most_threads<Body>(), blocks,
                  static_cast<unsigned>(threads), 0, stream, count, body, static_cast<char*>(queue.workspace),
                  piece);
}

}  // namespace isocloth::cuda

#else

namespace isocloth {

/// A block of one thread: every loop is whole, every sync() is nothing.
class SoloBlock {
 public:
  static constexpr bool is_solo = true;
  ISOCLOTH_HD explicit SoloBlock(void* shared) : shared_(shared) {}
  ISOCLOTH_HD static constexpr int rank() { return 0; }
  ISOCLOTH_HD static constexpr int size() { return 1; }
  ISOCLOTH_HD static constexpr void sync() {}
  template <class T>
  ISOCLOTH_HD T* shared() const {
    return static_cast<T*>(shared_);
  }

 private:
  void* shared_;
};

/// Concurrent threads, so that a thread sanitizer names a missing sync().
class EmulatedBlock {
 public:
  static constexpr bool is_solo = false;
  ISOCLOTH_HD EmulatedBlock(int rank, int size, void* shared, void* barrier)
      : rank_(rank), size_(size), shared_(shared), barrier_(barrier) {}
  ISOCLOTH_HD int rank() const { return rank_; }
  ISOCLOTH_HD int size() const { return size_; }
  void sync() const;
  template <class T>
  ISOCLOTH_HD T* shared() const {
    return static_cast<T*>(shared_);
  }

 private:
  int rank_, size_;
  void* shared_;
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
void run_blocks(const Queue& queue, Index count, std::size_t scratch, BlockCall call);

}  // namespace detail

namespace ISOCLOTH_BACKEND {

template <class Body>
void parallel_for(const Queue& queue, Index count, const Body& body) {
  detail::run_ranges(queue, count, {&body, [](const void* b, Index begin, Index end) {
                                      const Body& typed = *static_cast<const Body*>(b);
                                      for (Index i = begin; i < end; ++i) typed(i);
                                    }});
}

/// scratch: bytes per block, aligned for every lane value; filled with NaN in emulated blocks. Throws
/// std::bad_alloc when a thread finds no memory for it: some items are done then and others are not.
template <class Body>
void for_each_block(const Queue& queue, Index count, std::size_t scratch, const Body& body) {
  detail::run_blocks(queue, count, scratch, {
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

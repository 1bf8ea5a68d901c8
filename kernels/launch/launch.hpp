// How kernels run: the only kernel file that knows what a thread is.
//
// parallel_for(queue, count, body)              body(i) for every i, in any order
// for_each_block(queue, count, scratch, body)   body(block, item): the threads of a block share the item
//
// A block body must be right for any block size: it strides by rank() and size(), passes values through
// shared() between sync()s, and every thread reaches every sync(). A body is a struct of plain data.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/platform.hpp"
#include "kernels/launch/queue.hpp"

#if defined(__CUDACC__)

#include <cuda_runtime.h>

namespace isocloth::cuda {

class Block {
 public:
  __device__ explicit Block(void* shared) : shared_(shared) {}
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ void sync() const { __syncthreads(); }
  template <class T>
  __device__ T* shared() const {
    return static_cast<T*>(shared_);
  }

 private:
  void* shared_;
};

namespace detail {
template <class Body>
__global__ void for_kernel(Index count, Body body) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) body(i);
}
template <class Body>
__global__ void block_kernel(Body body) {
  extern __shared__ double2 scratch[];
  body(Block(scratch), static_cast<Index>(blockIdx.x));
}
}  // namespace detail

template <class Body>
void parallel_for(const Queue& queue, Index count, const Body& body) {
  constexpr Index size = 128;
  if (count > 0)
    detail::for_kernel<<<(count + size - 1) / size, size, 0, static_cast<cudaStream_t>(queue.stream)>>>(count,
                                                                                                        body);
}

/// scratch: bytes of shared memory per block, at most 48 KiB.
template <class Body>
void for_each_block(const Queue& queue, Index count, std::size_t scratch, const Body& body) {
  if (count > 0) detail::block_kernel<<<count, 128, scratch, static_cast<cudaStream_t>(queue.stream)>>>(body);
}

}  // namespace isocloth::cuda

#else

#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "kernels/launch/thread_pool.hpp"

namespace isocloth::cpu {

/// A block of one thread: every loop is whole, every sync() is nothing.
class SoloBlock {
 public:
  explicit SoloBlock(void* shared) : shared_(shared) {}
  static constexpr int rank() { return 0; }
  static constexpr int size() { return 1; }
  static constexpr void sync() {}
  template <class T>
  T* shared() const {
    return static_cast<T*>(shared_);
  }

 private:
  void* shared_;
};

/// Concurrent threads, so that a thread sanitizer names a missing sync().
class EmulatedBlock {
 public:
  EmulatedBlock(int rank, int size, void* shared, std::barrier<>* barrier)
      : rank_(rank), size_(size), shared_(shared), barrier_(barrier) {}
  int rank() const { return rank_; }
  int size() const { return size_; }
  void sync() const { barrier_->arrive_and_wait(); }
  template <class T>
  T* shared() const {
    return static_cast<T*>(shared_);
  }

 private:
  int rank_, size_;
  void* shared_;
  std::barrier<>* barrier_;
};

namespace detail {
/// Runs body(rank) on `size` threads at once.
template <class Body>
void concurrently(int size, const Body& body) {
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back([&body, rank] { body(rank); });
}
}  // namespace detail

template <class Body>
void parallel_for(const Queue& queue, Index count, const Body& body) {
  auto range = [&body](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) body(i);
  };
  if (queue.emulated_block > 0) {
    const int size = queue.emulated_block;
    detail::concurrently(size, [&](int rank) {
      for (Index i = rank; i < count; i += size) body(i);
    });
  } else if (queue.pool) {
    queue.pool->run(count, 1024, range);  // below, waking a thread costs more than the work
  } else {
    range(0, count);
  }
}

template <class Body>
void for_each_block(const Queue& queue, Index count, std::size_t scratch, const Body& body) {
  const std::size_t words = (scratch + sizeof(double) - 1) / sizeof(double);
  if (queue.emulated_block > 0) {
    const int size = queue.emulated_block;
    std::vector<double> shared(words);
    std::barrier<> barrier(size);
    detail::concurrently(size, [&](int rank) {
      const EmulatedBlock block(rank, size, shared.data(), &barrier);
      for (Index i = 0; i < count; ++i) {
        if (rank == 0 && words > 0)
          std::memset(shared.data(), 0xFF, words * sizeof(double));  // NaN: a read before a write shows
        block.sync();
        body(block, i);
        block.sync();
      }
    });
    return;
  }
  auto range = [&](Index begin, Index end) {
    std::vector<double> shared(words);
    const SoloBlock block(shared.data());
    for (Index i = begin; i < end; ++i) body(block, i);
  };
  if (queue.pool)
    queue.pool->run(count, 1, range);
  else
    range(0, count);
}

}  // namespace isocloth::cpu

#endif

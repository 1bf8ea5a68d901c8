// Where a kernel runs. Free of any backend's headers.
#pragma once

#include <cstddef>

#include "engine/core/monitor.hpp"

namespace isocloth {

class ThreadPool;

/// Handed to every kernel; plain data.
struct Queue {
  MonitorView monitor;              ///< CPU: asked inside of long kernels
  ThreadPool* pool = nullptr;       ///< CPU: workers, null: the calling thread alone
  int emulated_block = 0;           ///< CPU, tests: run in blocks of this many concurrent threads; 0: off
  int device = 0;                   ///< CUDA: number of the device
  void* stream = nullptr;           ///< CUDA: cudaStream_t, of that device
  int block_threads = 0;            ///< CUDA: threads per block, 0: what the kernel wants
  int multiprocessors = 0;          ///< CUDA: of the device
  std::size_t shared_limit = 0;     ///< CUDA: bytes of shared memory that one block may have
  void* workspace = nullptr;        ///< CUDA: device memory for the scratch that does not fit there
  std::size_t workspace_bytes = 0;  ///< CUDA: its size
};

/// Memory that the threads of a block work in [bytes].
struct BlockMemory {
  std::size_t shared = 0;     ///< CUDA: in shared memory where it fits
  std::size_t workspace = 0;  ///< CUDA: in device memory, beside what is read most
  constexpr BlockMemory(std::size_t bytes_shared, std::size_t bytes_of_workspace = 0)
      : shared(bytes_shared), workspace(bytes_of_workspace) {}
};

/// CUDA: shared memory that a kernel may have without asking for it [bytes].
constexpr std::size_t shared_without_asking = 48 * 1024;
constexpr bool fits_shared_memory(const Queue& queue, const BlockMemory& memory) {
  return memory.shared <= shared_without_asking || memory.shared <= queue.shared_limit;
}
/// CUDA: bytes of the queue's workspace that a block takes; 0: none.
constexpr std::size_t workspace_piece(const Queue& queue, const BlockMemory& memory) {
  constexpr std::size_t unit = 256;
  const auto whole = [](std::size_t bytes) { return (bytes + unit - 1) / unit * unit; };
  return whole(memory.workspace) + (fits_shared_memory(queue, memory) ? 0 : whole(memory.shared));
}
/// CUDA: whether so many blocks have room on a multiprocessor that a warp each keeps it busy.
constexpr bool has_room_for_many(const Queue& queue, const BlockMemory& memory) {
  constexpr std::size_t many = 4;
  return many * memory.shared <= queue.shared_limit;
}

}  // namespace isocloth

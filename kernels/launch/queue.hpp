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

/// Bytes of workspace that a block with so much scratch takes.
constexpr std::size_t workspace_piece(std::size_t scratch) { return (scratch + 255) / 256 * 256; }

}  // namespace isocloth

// Where a kernel runs. Free of any backend's headers.
#pragma once

namespace isocloth {

class ThreadPool;

/// Handed to every kernel; plain data.
struct Queue {
  ThreadPool* pool = nullptr;  ///< CPU: workers, null: the calling thread alone
  int emulated_block = 0;      ///< CPU, tests: run in blocks of this many concurrent threads; 0: off
  void* stream = nullptr;      ///< CUDA: cudaStream_t
};

}  // namespace isocloth

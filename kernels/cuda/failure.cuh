// What the last call that failed said, for Memory::last_error.
#pragma once

#include <cuda_runtime.h>

namespace isocloth {

inline thread_local cudaError_t failure = cudaSuccess;

inline bool worked(cudaError_t error) {
  if (error != cudaSuccess) failure = error;
  return error == cudaSuccess;
}

}  // namespace isocloth

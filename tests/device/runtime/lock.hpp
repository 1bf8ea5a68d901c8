// The one lock of the software device, and its last error: threads of the host ask it one after the other.
#pragma once

#include <cuda_runtime.h>

#include <mutex>

namespace isocloth::software {

using Lock = std::lock_guard<std::recursive_mutex>;
std::recursive_mutex& mutex();
/// Notes an error for cudaGetLastError(), and returns it.
cudaError_t set_last_error(cudaError_t error);

}  // namespace isocloth::software

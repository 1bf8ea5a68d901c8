// Memory, streams and errors of CUDA and its libraries.
#pragma once

#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <string>

#include "engine/core/errors.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth::bench {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw DeviceError(std::string("CUDA: ") + cudaGetErrorString(status));
}
inline void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw DeviceError(std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}
inline void check(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw DeviceError("cuSOLVER: status " + std::to_string(static_cast<int>(status)));
}

inline cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

/// Owns `size` values on the device, not initialised.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) {
    if (size == 0) return;
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, size * sizeof(T));
    if (status != cudaSuccess) cudaGetLastError();  // else the next kernel would seem to have failed
    check(status);
    data_ = static_cast<T*>(memory);
  }
  DeviceArray(DeviceArray&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    T* const data = data_;
    data_ = other.data_;
    other.data_ = data;
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace isocloth::bench

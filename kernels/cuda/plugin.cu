// The door of the plugin libisocloth_cuda.so: two C functions, looked up by name.
#include <cuda_runtime.h>

#include "kernels/kernel_table.hpp"

namespace isocloth {
namespace {

thread_local cudaError_t failure = cudaSuccess;

bool worked(cudaError_t error) {
  if (error != cudaSuccess) failure = error;
  return error == cudaSuccess;
}
bool allocate(std::size_t bytes, void** pointer) { return worked(cudaMalloc(pointer, bytes)); }
void release(void* pointer) { cudaFree(pointer); }
bool upload(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  // Waits, because the caller may change the source as soon as this returns.
  const auto stream = static_cast<cudaStream_t>(queue.stream);
  return worked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream)) &&
         worked(cudaStreamSynchronize(stream));
}
bool download(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  const auto stream = static_cast<cudaStream_t>(queue.stream);
  return worked(cudaGetLastError()) &&
         worked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream)) &&
         worked(cudaStreamSynchronize(stream));
}
const char* last_error() { return cudaGetErrorString(failure); }

}  // namespace
}  // namespace isocloth

extern "C" {

/// The backend, or null when no device can be used; isocloth_cuda_status() then says why.
const isocloth::Backend* isocloth_cuda_backend() {
  int count = 0;
  if (!isocloth::worked(cudaGetDeviceCount(&count)) || count == 0) return nullptr;
  static const isocloth::Backend backend =
      isocloth::cuda::make_backend("cuda", {.host_accessible = false,
                                            .allocate = isocloth::allocate,
                                            .release = isocloth::release,
                                            .upload = isocloth::upload,
                                            .download = isocloth::download,
                                            .last_error = isocloth::last_error});
  return &backend;
}

/// The device's name, or why there is none.
const char* isocloth_cuda_status() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  if (count == 0) return "no CUDA device";
  static cudaDeviceProp properties;
  const cudaError_t known = cudaGetDeviceProperties(&properties, 0);
  return known == cudaSuccess ? properties.name : cudaGetErrorString(known);
}
}

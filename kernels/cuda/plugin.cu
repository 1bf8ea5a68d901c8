// The door of the plugin libisocloth_cuda.so: two C functions, looked up by name.
#include <cuda_runtime.h>

#include <cstdlib>
#include <string>

#include "kernels/cuda/failure.cuh"
#include "kernels/kernel_table.hpp"

namespace isocloth {
namespace {

cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

bool allocate(std::size_t bytes, void** pointer) {
  if (worked(cudaMalloc(pointer, bytes))) return true;
  cudaGetLastError();  // else the next kernel would seem to have failed
  return false;
}
void release(void* pointer) { cudaFree(pointer); }
bool wait(const Queue& queue) {
  return worked(cudaGetLastError()) && worked(cudaStreamSynchronize(stream_of(queue)));
}
bool allocate_locked(std::size_t bytes, void** pointer) {
  if (worked(cudaMallocHost(pointer, bytes))) return true;
  cudaGetLastError();
  return false;
}
void release_locked(void* pointer) { cudaFreeHost(pointer); }
bool begin_upload(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  return worked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(queue)));
}
bool begin_download(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  return worked(cudaGetLastError()) &&
         worked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(queue)));
}
bool upload(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  // Waits, because the caller may change the source as soon as this returns.
  return begin_upload(queue, to, from, bytes) && wait(queue);
}
bool download(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  return begin_download(queue, to, from, bytes) && wait(queue);
}
bool available(std::size_t* free, std::size_t* total) { return worked(cudaMemGetInfo(free, total)); }
bool open_queue(Queue* queue) {
  int shared = 0, multiprocessors = 0;
  cudaStream_t stream = nullptr;
  // Not blocking: queues would else wait for one another through the default stream.
  if (!worked(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0)) ||
      !worked(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0)) ||
      !worked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)))
    return false;
  queue->shared_limit = static_cast<std::size_t>(shared);
  queue->multiprocessors = multiprocessors;
  queue->stream = stream;
  return true;
}
void close_queue(Queue* queue) {
  cudaStreamSynchronize(stream_of(*queue));
  cudaStreamDestroy(stream_of(*queue));
  queue->stream = nullptr;
}
const char* last_error() { return cudaGetErrorString(failure); }
bool begin_recording(const Queue& queue) {
  return worked(cudaGetLastError()) &&
         worked(cudaStreamBeginCapture(stream_of(queue), cudaStreamCaptureModeThreadLocal));
}
bool end_recording(const Queue& queue, void** recording) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  const bool ended = worked(cudaStreamEndCapture(stream_of(queue), &graph));
  const bool made = ended && worked(cudaGraphInstantiate(&executable, graph, 0));
  if (graph != nullptr) cudaGraphDestroy(graph);
  *recording = executable;
  return made;
}
bool replay(const Queue& queue, void* recording) {
  return worked(cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording), stream_of(queue)));
}
void release_recording(void* recording) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording)); }

__global__ void probe_kernel() {}

/// Device 0, or why it cannot be used and what to do.
struct Probe {
  bool usable = false;
  std::string message;

  Probe() {
    int driver = 0, count = 0;
    cudaDriverGetVersion(&driver);
    const cudaError_t counted = cudaGetDeviceCount(&count);
    if (driver == 0) {
      message = "found no NVIDIA driver (libcuda.so.1), expected one for CUDA " + version(CUDART_VERSION) +
                " or newer: install it";
    } else if (counted == cudaErrorInsufficientDriver) {
      message = "found a driver for CUDA " + version(driver) + ", expected one for CUDA " +
                version(CUDART_VERSION) + " or newer: update the driver";
    } else if (counted == cudaErrorNoDevice || (counted == cudaSuccess && count == 0)) {
      const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
      message = "found a driver for CUDA " + version(driver) + " but no device: see nvidia-smi" +
                (visible ? std::string("; CUDA_VISIBLE_DEVICES is \"") + visible + '"' : "");
    } else if (counted != cudaSuccess) {
      message = std::string("devices cannot be counted: ") + cudaGetErrorString(counted);
    } else {
      look_at_device(driver);
    }
  }

 private:
  static std::string version(int number) {
    return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10);
  }

  void look_at_device(int driver) {
    cudaDeviceProp device;
    const cudaError_t known = cudaGetDeviceProperties(&device, 0);
    if (known != cudaSuccess) {
      message = std::string("device 0 does not answer: ") + cudaGetErrorString(known);
      return;
    }
    const std::string name = std::string(device.name) + ", compute capability " +
                             std::to_string(device.major) + '.' + std::to_string(device.minor);
    if (device.major < 8) {
      message = "found " + name + ", expected compute capability 8.0 or newer";
      return;
    }
    cudaFuncAttributes attributes;
    const cudaError_t loaded = cudaFuncGetAttributes(&attributes, probe_kernel);
    if (loaded != cudaSuccess) {
      cudaGetLastError();
      message = "found " + name + ", for which the plugin has no code (" + cudaGetErrorString(loaded) +
                "): build it with -DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(device.major) +
                std::to_string(device.minor);
      return;
    }
    usable = true;
    message = name + ", " + std::to_string(device.totalGlobalMem >> 30) + " GiB, driver for CUDA " +
              version(driver);
  }
};

const Probe& probe() {
  static const Probe result;
  return result;
}

}  // namespace
}  // namespace isocloth

extern "C" {

/// The backend, or null when no device can be used; isocloth_cuda_status() then says why.
const isocloth::Backend* isocloth_cuda_backend() {
  if (!isocloth::probe().usable) return nullptr;
  static const isocloth::Backend backend =
      isocloth::cuda::make_backend("cuda", {.host_accessible = false,
                                            .allocate = isocloth::allocate,
                                            .release = isocloth::release,
                                            .upload = isocloth::upload,
                                            .download = isocloth::download,
                                            .available = isocloth::available,
                                            .open_queue = isocloth::open_queue,
                                            .close_queue = isocloth::close_queue,
                                            .wait = isocloth::wait,
                                            .last_error = isocloth::last_error,
                                            .allocate_locked = isocloth::allocate_locked,
                                            .release_locked = isocloth::release_locked,
                                            .begin_upload = isocloth::begin_upload,
                                            .begin_download = isocloth::begin_download,
                                            .begin_recording = isocloth::begin_recording,
                                            .end_recording = isocloth::end_recording,
                                            .replay = isocloth::replay,
                                            .release_recording = isocloth::release_recording});
  return &backend;
}

/// The device's name, or why there is none.
const char* isocloth_cuda_status() { return isocloth::probe().message.c_str(); }
}

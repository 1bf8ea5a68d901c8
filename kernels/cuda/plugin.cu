// The door of the plugin libisocloth_cuda.so: three C functions, looked up by name.
#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "kernels/cuda/failure.cuh"
#include "kernels/kernel_table.hpp"
#include "kernels/launch/current_device.cuh"
#include "kernels/launch/launch.hpp"
#include "kernels/launch/launch_sequence.cuh"

namespace isocloth {
namespace {

using cuda::CurrentDevice;

cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

bool allocate(int device, std::size_t bytes, void** pointer) {
  const CurrentDevice current(device);
  if (worked(cudaMalloc(pointer, bytes))) return true;
  cudaGetLastError();  // else the next kernel would seem to have failed
  return false;
}
void release(int device, void* pointer) {
  cuda::send_launches(device);
  const CurrentDevice current(device);
  cudaFree(pointer);
}
bool wait(const Queue& queue) {
  cuda::send_launches(queue.device);
  const CurrentDevice current(queue.device);
  return worked(cudaGetLastError()) && worked(cudaStreamSynchronize(stream_of(queue)));
}
bool allocate_locked(int device, std::size_t bytes, void** pointer) {
  const CurrentDevice current(device);
  if (worked(cudaMallocHost(pointer, bytes))) return true;
  cudaGetLastError();
  return false;
}
void release_locked(int device, void* pointer) {
  cuda::send_launches(device);
  const CurrentDevice current(device);
  cudaFreeHost(pointer);
}
bool begin_upload(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  cuda::send_launches(queue);
  const CurrentDevice current(queue.device);
  return worked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(queue)));
}
bool begin_download(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  cuda::send_launches(queue);
  const CurrentDevice current(queue.device);
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
bool available(int device, std::size_t* free, std::size_t* total) {
  const CurrentDevice current(device);
  return worked(cudaMemGetInfo(free, total));
}
bool open_queue(Queue* queue) {
  const CurrentDevice current(queue->device);
  int shared = 0, multiprocessors = 0;
  cudaStream_t stream = nullptr;
  // Not blocking: queues would else wait for one another through the default stream.
  if (!worked(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, queue->device)) ||
      !worked(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, queue->device)) ||
      !worked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)))
    return false;
  queue->shared_limit = static_cast<std::size_t>(shared);
  queue->multiprocessors = multiprocessors;
  queue->stream = stream;
  cuda::open_sequence(*queue);
  return true;
}
void close_queue(Queue* queue) {
  cuda::close_sequence(*queue);
  const CurrentDevice current(queue->device);
  cudaStreamSynchronize(stream_of(*queue));
  cudaStreamDestroy(stream_of(*queue));
  queue->stream = nullptr;
}
void send(const Queue& queue) { cuda::send_launches(queue); }
const char* last_error() { return cudaGetErrorString(failure); }
bool begin_recording(const Queue& queue) {
  cuda::record_launches(queue, true);
  const CurrentDevice current(queue.device);
  return worked(cudaGetLastError()) &&
         worked(cudaStreamBeginCapture(stream_of(queue), cudaStreamCaptureModeThreadLocal));
}
/// Nodes of graphs that repeat came with this driver and toolkit.
constexpr int repeating_version = 12040;
#if CUDART_VERSION >= 12040
__global__ void condition_kernel(cudaGraphConditionalHandle handle, const Index* repeat_while) {
  cudaGraphSetConditional(handle, *repeat_while != 0 ? 1 : 0);
}

/// Makes a graph that does another one until it leaves 0.
bool make_repeating(cudaGraph_t once, const Index* repeat_while, cudaGraph_t* graph) {
  cudaGraphConditionalHandle handle{};
  if (!worked(cudaGraphCreate(graph, 0)) ||
      !worked(cudaGraphConditionalHandleCreate(&handle, *graph, 1, cudaGraphCondAssignDefault)))
    return false;
  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = handle;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node{}, child{}, condition{};
#if CUDART_VERSION >= 13000
  const cudaError_t added = cudaGraphAddNode(&node, *graph, nullptr, nullptr, 0, &loop);
#else
  const cudaError_t added = cudaGraphAddNode(&node, *graph, nullptr, 0, &loop);
#endif
  if (!worked(added)) return false;
  const cudaGraph_t body = loop.conditional.phGraph_out[0];
  void* arguments[]{&handle, &repeat_while};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(ISOCLOTH_KERNEL(condition_kernel, 1));
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  return worked(cudaGraphAddChildGraphNode(&child, body, nullptr, 0, once)) &&
         worked(cudaGraphAddKernelNode(&condition, body, &child, 1, &kernel));
}
#else
bool make_repeating(cudaGraph_t, const Index*, cudaGraph_t*) { return false; }
#endif
bool can_repeat() {
  static const bool can = [] {
    int driver = 0;
    return CUDART_VERSION >= repeating_version && cudaDriverGetVersion(&driver) == cudaSuccess &&
           driver >= repeating_version;
  }();
  return can;
}
bool end_recording(const Queue& queue, const Index* repeat_while, void** recording) {
  cuda::record_launches(queue, false);
  const CurrentDevice current(queue.device);
  cudaGraph_t once = nullptr, repeating = nullptr;
  cudaGraphExec_t executable = nullptr;
  const bool repeats = repeat_while != nullptr && can_repeat();
  const bool made = worked(cudaStreamEndCapture(stream_of(queue), &once)) &&
                    (!repeats || make_repeating(once, repeat_while, &repeating)) &&
                    worked(cudaGraphInstantiate(&executable, repeats ? repeating : once, 0));
  for (const cudaGraph_t graph : {once, repeating})
    if (graph != nullptr) cudaGraphDestroy(graph);
  *recording = executable;
  return made;
}
bool replay(const Queue& queue, void* recording) {
  cuda::send_launches(queue);
  const CurrentDevice current(queue.device);
  return worked(cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording), stream_of(queue)));
}
void release_recording(const Queue& queue, void* recording) {
  const CurrentDevice current(queue.device);
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording));
}

__global__ void probe_kernel() {}

/// A device, or why it cannot be used and what to do.
struct Probe {
  bool usable = false;
  std::string message;

  explicit Probe(int number) {
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
    } else if (number < 0 || number >= count) {
      message = "found no device " + std::to_string(number) + " among " + std::to_string(count);
    } else {
      look_at_device(number, driver);
    }
  }

 private:
  static std::string version(int number) {
    return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10);
  }

  void look_at_device(int number, int driver) {
    cudaDeviceProp device;
    const cudaError_t known = cudaGetDeviceProperties(&device, number);
    if (known != cudaSuccess) {
      message = "device " + std::to_string(number) + " does not answer: " + cudaGetErrorString(known);
      return;
    }
    const std::string name = std::string(device.name) + ", compute capability " +
                             std::to_string(device.major) + '.' + std::to_string(device.minor);
    if (device.major < 8) {
      message = "found " + name + ", expected compute capability 8.0 or newer";
      return;
    }
    const CurrentDevice current(number);
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

/// Asked once: a device that is asked takes memory of its own.
const Probe& probe(int device) {
  static std::mutex mutex;
  static std::map<int, const Probe> probes;
  const std::lock_guard lock(mutex);
  return probes.try_emplace(device, device).first->second;
}

}  // namespace
}  // namespace isocloth

extern "C" {

/// The backend, or null when this device cannot be used; isocloth_cuda_status() then says why.
const isocloth::Backend* isocloth_cuda_backend(int device) {
  if (!isocloth::probe(device).usable) return nullptr;
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
                                            .send = isocloth::send,
                                            .begin_recording = isocloth::begin_recording,
                                            .end_recording = isocloth::end_recording,
                                            .can_repeat = isocloth::can_repeat,
                                            .replay = isocloth::replay,
                                            .release_recording = isocloth::release_recording});
  return &backend;
}

/// The device's name, or why there is none.
const char* isocloth_cuda_status(int device) { return isocloth::probe(device).message.c_str(); }

/// Number of devices, usable or not; 0: none, or no driver to count them.
int isocloth_cuda_device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
}

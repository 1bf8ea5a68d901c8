// What the plugin uses of CUDA's runtime, in the place of NVIDIA's header: the sources of kernels/ and
// kernels/cuda/ are compiled against it as they are, by a C++ compiler that is told -D__CUDACC__. What stands
// behind the functions is in tests/device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/device/runtime/launch.hpp"

#if defined(__CUDACC__)
#define __CUDA_ARCH__ 900
#endif
// Libraries of the compiler write __attribute__((__noinline__)).
#define __noinline__
#define __forceinline__ inline
#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define ISOCLOTH_KERNEL(kernel, most_threads) (::isocloth::software::known_kernel<&kernel>(most_threads))
#define ISOCLOTH_BLOCK_MEMORY(name) void* const name = ::isocloth::software::block_memory

inline auto &threadIdx = isocloth::software::thread_index, &blockIdx = isocloth::software::block_index,
            &blockDim = isocloth::software::block_size, &gridDim = isocloth::software::grid_size;
struct alignas(16) double2 {
  double x, y;
};
inline void __syncthreads() { isocloth::software::sync_threads(); }
inline void __syncwarp() { isocloth::software::sync_threads(); }
/// Of blocks of one warp.
template <class T>
T __shfl_sync(unsigned, T own, int rank) {
  static T values[32];
  values[threadIdx.x] = own;
  __syncwarp();
  const T result = values[rank];
  __syncwarp();
  return result;
}
template <class T>
T __shfl_xor_sync(unsigned threads, T own, int distance) {
  return __shfl_sync(threads, own, static_cast<int>(threadIdx.x) ^ distance);
}
#define __builtin_assume(condition) \
  ((condition) ? void() : isocloth::software::fail("an assumption does not hold: " #condition))
#define __isGlobal(address) isocloth::software::is_device_address(address)
inline unsigned long long atomicAdd(unsigned long long* sum, unsigned long long more) {
  return __atomic_fetch_add(sum, more, __ATOMIC_RELAXED);
}

#define CUDART_VERSION 12080
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned long long cudaEnableDefault = 0;
using cudaGraph_t = isocloth::software::Graph*;
using cudaGraphExec_t = isocloth::software::Graph*;
using cudaGraphNode_t = std::size_t;  ///< number in its graph, from 1 on
struct dim3 {
  dim3(unsigned first = 1) : x(first) {}
  unsigned x, y = 1, z = 1;
};
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaDeviceProp {
  char name[256];
  int major, minor;
  std::size_t totalGlobalMem;
};
struct cudaFuncAttributes {
  int numRegs;
};

using cudaGraphConditionalHandle = std::size_t;
constexpr unsigned cudaGraphCondAssignDefault = 1;
enum cudaGraphNodeType { cudaGraphNodeTypeConditional = 13 };
enum cudaGraphConditionalNodeType { cudaGraphCondTypeWhile = 1 };
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  struct {
    cudaGraphConditionalHandle handle;
    cudaGraphConditionalNodeType type;
    unsigned size;
    cudaGraph_t* phGraph_out;
  } conditional;
};

cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaLaunchKernel(const void* kernel, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared, cudaStream_t stream);
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
/// Kernels of a graph run in the order in which they were added: each must depend on the one before.
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* params);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params);
/// Of a graph with nothing else in it: does its body until the condition is 0.
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned at_launch, unsigned flags);
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             std::size_t count, cudaGraphNodeParams* params);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child);
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* found);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel) {
  *attributes = {};
  return cudaSuccess;
}
/// Two, whatever the kernel: registers, which decide it on a GPU, are not known here. Persistent blocks then
/// take several items each.
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int, std::size_t) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t set_shared_limit(const void* kernel, std::size_t bytes);
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute, int bytes) {
  return set_shared_limit(reinterpret_cast<const void*>(kernel), static_cast<std::size_t>(bytes));
}

// CUDA's runtime of the software device: memory, copies, streams, graphs.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/runtime/counters.hpp"
#include "tests/device/runtime/device_memory.hpp"
#include "tests/device/runtime/lock.hpp"
#include "tests/device/runtime/streams.hpp"

namespace isocloth::software {

namespace {

cudaError_t last_error = cudaSuccess;
std::vector<cudaStream_t> streams;
thread_local int device_of_thread = 0;
std::array<bool, device_count> are_used{};

std::size_t number(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}
std::size_t capacity() { return number("ISOCLOTH_TEST_DEVICE_BYTES", std::size_t{1} << 30); }
std::size_t most_shared() {
  const std::size_t bytes = number("ISOCLOTH_TEST_DEVICE_SHARED", 232448);
  if (bytes > most_shared_memory)
    fail("ISOCLOTH_TEST_DEVICE_SHARED: found " + std::to_string(bytes) + ", expected at most " +
         std::to_string(most_shared_memory));
  return bytes;
}

/// A call takes memory of the thread's device for itself, whatever it is for.
void use_device() { are_used[current_device()] = true; }

/// Notes that a stream which captures was asked for what it must not do.
cudaError_t break_capture(CUstream_st& stream) {
  stream.is_broken = true;
  return set_last_error(cudaErrorStreamCaptureUnsupported);
}

}  // namespace

std::recursive_mutex& mutex() {
  static std::recursive_mutex result;
  return result;
}
cudaError_t set_last_error(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

int current_device() { return device_of_thread; }

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::string(value) != "0";
}

void run_pending(CUstream_st& stream) {
  if (stream.pending.empty()) return;
  const DeviceAccess access(stream.device);
  for (const auto& call : std::exchange(stream.pending, {})) call();
}
void run_all_streams() {
  for (const cudaStream_t stream : streams) run_pending(*stream);
}
bool some_stream_captures() {
  return std::ranges::any_of(streams, [](const CUstream_st* stream) { return stream->capture != nullptr; });
}

void add(cudaStream_t stream, const std::string& name, std::function<void()> call) {
  if (stream == nullptr) fail("a launch into the default stream, of " + name);
  if (stream->capture != nullptr) {
    stream->capture->calls->push_back(std::move(call));
    return;
  }
  stream->pending.push_back(std::move(call));
  static const bool is_eager = is_set("ISOCLOTH_TEST_DEVICE_EAGER");
  if (is_eager) run_pending(*stream);
}

bool is_device_memory(const void* pointer, std::size_t bytes) {
  return device_of_memory(pointer, bytes) == current_device();
}

}  // namespace isocloth::software

using namespace isocloth;
using namespace isocloth::software;

cudaError_t set_shared_limit(const void* kernel, std::size_t bytes) {
  const Lock lock(mutex());
  if (bytes > most_shared()) return set_last_error(cudaErrorInvalidValue);
  shared_limits()[{current_device(), kernel}] = bytes;
  return cudaSuccess;
}

// Memory

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  const Lock lock(mutex());
  if (some_stream_captures()) fail("cudaMalloc() while a stream captures");
  ++counters().allocations;
  use_device();
  if (bytes > capacity() - std::min(capacity(), used_device_memory(current_device())))
    return set_last_error(cudaErrorMemoryAllocation);
  *pointer = allocate_device_memory(current_device(), bytes);
  return *pointer != nullptr ? cudaSuccess : set_last_error(cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* pointer) {
  const Lock lock(mutex());
  use_device();
  if (some_stream_captures()) fail("cudaFree() while a stream captures");
  if (pointer == nullptr) return cudaSuccess;
  run_all_streams();  // a device waits for all of them here
  release_device_memory(pointer);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  const Lock lock(mutex());
  use_device();
  if (some_stream_captures()) fail("cudaMallocHost() while a stream captures");
  *pointer = std::malloc(std::max<std::size_t>(1, bytes));
  if (*pointer == nullptr) return set_last_error(cudaErrorMemoryAllocation);
  std::memset(*pointer, 0xff, bytes);  // NaN
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
  const Lock lock(mutex());
  use_device();
  run_all_streams();  // a device waits for all of them here
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const Lock lock(mutex());
  use_device();
  *total = capacity();
  *free = *total - std::min(*total, used_device_memory(current_device()));
  return cudaSuccess;
}

/// Done when the stream comes to it, as of pinned memory: who does not wait sees what was there before.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const Lock lock(mutex());
  use_device();
  if (stream->capture != nullptr) return break_capture(*stream);
  const bool is_upload = kind == cudaMemcpyHostToDevice;
  if (bytes > 0 && device_of_memory(is_upload ? to : from, bytes) != stream->device)
    fail("a copy of " + std::to_string(bytes) + " bytes that are not within an array of the stream's device");
  Counters& c = counters();
  c.calls += is_upload ? 'U' : 'D';
  ++(is_upload ? c.uploads : c.downloads);
  (is_upload ? c.uploaded_bytes : c.downloaded_bytes) += bytes;
  add(stream, "a copy", [to, from, bytes] {
    if (bytes > 0) std::memcpy(to, from, bytes);
  });
  return cudaSuccess;
}

// Errors

cudaError_t cudaGetLastError() {
  const Lock lock(mutex());
  return std::exchange(last_error, cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    default:
      return "unknown error";
  }
}

// Streams and graphs

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const Lock lock(mutex());
  use_device();
  *stream = streams.emplace_back(new CUstream_st);
  (*stream)->device = current_device();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(mutex());
  use_device();
  run_pending(*stream);
  std::erase(streams, stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock(mutex());
  use_device();
  if (stream->capture != nullptr) return break_capture(*stream);
  Counters& c = counters();
  ++c.waits;
  if (c.calls.empty() || (c.calls.back() != 'U' && c.calls.back() != 'D')) c.calls += 'W';
  run_pending(*stream);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  const Lock lock(mutex());
  const bool in_graph = stream != nullptr && stream->capture != nullptr;
  Launch launch = prepare(stream,
                          {.func = const_cast<void*>(kernel),
                           .gridDim = blocks,
                           .blockDim = threads,
                           .sharedMemBytes = static_cast<unsigned>(shared),
                           .kernelParams = arguments,
                           .extra = nullptr},
                          in_graph);
  if (launch.error != cudaSuccess) return launch.error;
  if (!in_graph) {
    ++counters().launches;
    counters().calls += 'L';
  }
  add(stream, launch.name, std::move(launch.call));
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const Lock lock(mutex());
  use_device();
  stream->capture = new Graph{.device = stream->device};
  stream->is_broken = false;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(mutex());
  use_device();
  *graph = std::exchange(stream->capture, nullptr);
  if (!stream->is_broken) return cudaSuccess;
  delete std::exchange(*graph, nullptr);
  return set_last_error(cudaErrorStreamCaptureInvalidated);
}
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  const Lock lock(mutex());
  use_device();
  *graph = new Graph{.device = current_device()};
  return cudaSuccess;
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* params) {
  const Lock lock(mutex());
  Calls& calls = *graph->calls;
  if (count != (calls.empty() ? 0 : 1) || (count == 1 && *dependencies != calls.size()))
    fail("a node of a graph that does not come after the one before");
  Launch launch = prepare(nullptr, *params, true);
  if (launch.error != cudaSuccess) return launch.error;
  calls.push_back(std::move(launch.call));
  *node = calls.size();
  return cudaSuccess;
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  const Lock lock(mutex());
  ++counters().graph_changes;
  Launch launch = prepare(nullptr, *params, true);
  if (launch.error != cudaSuccess) return launch.error;
  ++launch.count->graph_changes;
  // What waits in a stream keeps the arguments that it was launched with.
  if (executable->calls.use_count() > 1) executable->calls = std::make_shared<Calls>(*executable->calls);
  executable->calls->at(node - 1) = std::move(launch.call);
  return cudaSuccess;
}
namespace {

/// Conditions of graphs by their handles, as they are at a launch and as kernels have set them.
struct Condition {
  unsigned at_launch = 0, now = 0;
};
std::vector<Condition>& conditions() {
  static std::vector<Condition> all;
  return all;
}

}  // namespace

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t,
                                             unsigned at_launch, unsigned flags) {
  const Lock lock(mutex());
  if (flags != cudaGraphCondAssignDefault) fail("a condition of a graph without a value at the launch");
  *handle = conditions().size();
  conditions().push_back({at_launch, at_launch});
  return cudaSuccess;
}
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  conditions().at(handle).now = value;
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                             std::size_t count, cudaGraphNodeParams* params) {
  const Lock lock(mutex());
  if (count != 0 || !graph->calls->empty() || params->type != cudaGraphNodeTypeConditional ||
      params->conditional.type != cudaGraphCondTypeWhile || params->conditional.size != 1)
    fail("a node of a graph that is not known here");
  graph->body = std::make_shared<Graph>(Graph{.device = graph->device});
  graph->body_pointer = graph->body.get();
  params->conditional.phGraph_out = &graph->body_pointer;
  graph->calls->push_back([body = graph->body->calls, handle = params->conditional.handle] {
    for (conditions().at(handle).now = conditions().at(handle).at_launch; conditions().at(handle).now != 0;)
      for (const auto& call : *body) call();
  });
  *node = graph->calls->size();
  return cudaSuccess;
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                       std::size_t count, cudaGraph_t child) {
  const Lock lock(mutex());
  if (count != 0 || !graph->calls->empty()) fail("a child graph that is not the first node");
  graph->calls->push_back([calls = std::make_shared<Calls>(*child->calls)] {
    for (const auto& call : *calls) call();
  });
  *node = graph->calls->size();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const Lock lock(mutex());
  use_device();
  ++counters().graphs;
  *executable = new Graph{.device = graph->device, .calls = std::make_shared<Calls>(*graph->calls)};
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const Lock lock(mutex());
  use_device();
  if (stream->capture != nullptr) return break_capture(*stream);
  if (executable->device != stream->device) return set_last_error(cudaErrorInvalidResourceHandle);
  ++counters().graph_launches;
  counters().calls += 'R';
  add(stream, "a graph", [calls = executable->calls] {
    for (const auto& call : *calls) call();
  });
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const Lock lock(mutex());
  use_device();
  delete executable;
  return cudaSuccess;
}

// Devices

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  const Lock lock(mutex());
  if (device < 0 || device >= device_count) return set_last_error(cudaErrorInvalidDevice);
  device_of_thread = device;
  use_device();
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = device_of_thread;
  return cudaSuccess;
}
/// Of the driver's functions this one alone.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long, cudaDriverEntryPointQueryResult* found) {
  if (std::string(symbol) != "cuDevicePrimaryCtxGetState") {
    *found = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
  }
  *found = cudaDriverEntryPointSuccess;
  *function = reinterpret_cast<void*>(+[](int device, unsigned*, int* active) {
    const Lock lock(mutex());
    *active = are_used[device] ? 1 : 0;
    return 0;
  });
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= device_count) return set_last_error(cudaErrorInvalidDevice);
  *properties = {.name = "software device, for tests", .major = 9, .minor = 0, .totalGlobalMem = capacity()};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : static_cast<int>(most_shared());
  return cudaSuccess;
}

extern "C" {

/// What was called since the last question, see Counters::calls.
const char* isocloth_test_device_calls() {
  const Lock lock(mutex());
  static std::string answer;
  answer = std::exchange(counters().calls, {});
  return answer.c_str();
}
/// Whether anything was asked of a device.
bool isocloth_test_device_is_used(int device) {
  const Lock lock(mutex());
  return are_used[device];
}
/// What was counted so far, as JSON.
const char* isocloth_test_device_counts() {
  const Lock lock(mutex());
  static std::string answer;
  answer = counters_as_json();
  return answer.c_str();
}
}

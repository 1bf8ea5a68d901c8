// Streams and graphs of the software device.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tests/device/runtime/counters.hpp"
#include "tests/device/runtime/launch.hpp"

namespace isocloth::software {

using Calls = std::vector<std::function<void()>>;

/// Copied when it is made executable.
struct Graph {
  int device = 0;
  std::shared_ptr<Calls> calls = std::make_shared<Calls>();  ///< live on while they wait in a stream
  std::shared_ptr<Graph> body{};                             ///< of its conditional node
  cudaGraph_t body_pointer = nullptr;                        ///< to that, as CUDA gives it away
};

}  // namespace isocloth::software

/// What waits in a stream, and what captures it.
struct CUstream_st {
  int device = 0;
  isocloth::software::Calls pending;
  isocloth::software::Graph* capture = nullptr;
  bool is_broken = false;  ///< a call was made that a capture forbids
};

namespace isocloth::software {

/// Shared memory that was asked for, by device and kernel [bytes].
using SharedLimits = std::map<std::pair<int, const void*>, std::size_t>;
SharedLimits& shared_limits();
/// Whether a variable of the environment is there and not 0.
bool is_set(const char* name);
/// Does what waits in a stream, with its device's memory open.
void run_pending(CUstream_st& stream);
/// Does what waits in all of them.
void run_all_streams();
/// Whether a stream captures, which forbids what waits or allocates.
bool some_stream_captures();
/// A kernel as it runs, or what a device would say of its launch; stream: null: in a graph.
struct Launch {
  cudaError_t error = cudaSuccess;
  const char* name = nullptr;
  KernelCount* count = nullptr;
  std::function<void()> call{};
};
Launch prepare(cudaStream_t stream, const cudaKernelNodeParams& params, bool in_graph);
/// Puts a call into a stream or into what captures it.
void add(cudaStream_t stream, const std::string& name, std::function<void()> call);

}  // namespace isocloth::software

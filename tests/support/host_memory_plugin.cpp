// A plugin as libisocloth_cuda.so is one, whose device is this machine's CPU behind copies and queues: what
// the host does for a device can be tested without one. Whole steps and factorisations are done when somebody
// waits for their queue, so that a missing wait shows; memory starts as NaN. A host that touches the device's
// memory itself dies of SIGSEGV (tests/support/device_memory.hpp).
//
// Environment: ISOCLOTH_TEST_DEVICE_BYTES  memory of the device, default 1 GiB
//              ISOCLOTH_TEST_DEVICE_ABI    interface that the plugin claims to have
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "kernels/kernel_table.hpp"
#include "tests/support/device_memory.hpp"
#include "tests/support/device_stream.hpp"

namespace isocloth {
namespace {

std::string calls;             ///< U upload, L launch of whole steps, R recording, W wait, D download
bool lacks_workspace = false;  ///< some launch did

std::size_t capacity() {
  const char* bytes = std::getenv("ISOCLOTH_TEST_DEVICE_BYTES");
  return bytes != nullptr ? std::strtoull(bytes, nullptr, 10) : std::size_t{1} << 30;
}

bool allocate(std::size_t bytes, void** pointer) {
  if (bytes > capacity() - std::min(capacity(), used_device_memory())) return false;
  *pointer = allocate_device_memory(bytes);
  return *pointer != nullptr;
}
void release(void* pointer) { release_device_memory(pointer); }
bool copy(const Queue& queue, void* to, const void* from, std::size_t bytes, char letter) {
  if (stream_of(queue).recording != nullptr) return false;
  run_pending(queue);
  calls += letter;
  const DeviceAccess access;
  if (bytes > 0) std::memcpy(to, from, bytes);
  return true;
}
bool upload(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  return copy(queue, to, from, bytes, 'U');
}
bool download(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  return copy(queue, to, from, bytes, 'D');
}
bool available(std::size_t* free, std::size_t* total) {
  *total = capacity();
  *free = *total - std::min(*total, used_device_memory());
  return true;
}
bool open_queue(Queue* queue) {
  queue->stream = new DeviceStream;
  queue->multiprocessors = 2;
  return true;
}
bool wait(const Queue& queue) {
  calls += 'W';
  run_pending(queue);
  return !lacks_workspace;
}
void close_queue(Queue* queue) {
  run_pending(*queue);
  delete &stream_of(*queue);
  queue->stream = nullptr;
}
const char* last_error() {
  return lacks_workspace ? "a launch lacks the workspace for its scratch" : "the test device is full";
}

bool begin_recording(const Queue& queue) {
  stream_of(queue).recording = new DeviceCalls;
  return true;
}
bool end_recording(const Queue& queue, void** recording) {
  DeviceStream& stream = stream_of(queue);
  *recording = stream.recording;
  stream.recording = nullptr;
  return true;
}
bool replay(const Queue& queue, void* recording) {
  calls += 'R';
  stream_of(queue).pending.push_back([recording] {
    for (const auto& call : *static_cast<DeviceCalls*>(recording)) call();
  });
  return true;
}
void release_recording(void* recording) { delete static_cast<DeviceCalls*>(recording); }

/// A kernel of the CPU that waits in the queue or goes into a recording.
template <class Real, auto kernel, class Args>
void later(const Queue& queue, const Args& args) {
  DeviceStream& stream = stream_of(queue);
  (stream.recording != nullptr ? *stream.recording : stream.pending).push_back([args] {
    (step_kernels<Real>(*cpu_backend(Simd::baseline)).*kernel)(Queue{}, args);
  });
}
template <class Real>
void step_later(const Queue& queue, const StepCloths<Real>& args) {
  calls += 'L';
  // There is no shared memory here, whatever the scratch.
  if (queue.workspace == nullptr ||
      queue.workspace_bytes < workspace_piece(step_scratch(args.pattern).size * sizeof(Real)))
    lacks_workspace = true;
  later<Real, &StepKernels<Real>::step_cloths, StepCloths<Real>>(queue, args);
}
/// What is a library's on a GPU.
template <auto selection, class Args>
bool select(const Queue& queue, const Args& args) {
  run_pending(queue);
  const DeviceAccess access;
  return (cpu_backend(Simd::baseline)->selection.*selection)(Queue{}, args);
}
template <class Real>
void launch_later(StepKernels<Real>& kernels) {
  using Kernels = StepKernels<Real>;
  kernels.step_cloths = step_later<Real>;
  kernels.factor_fronts = later<Real, &Kernels::factor_fronts, FactorFronts<Real>>;
  kernels.find_failure = later<Real, &Kernels::find_failure, FindFailure>;
  kernels.forward_fronts = later<Real, &Kernels::forward_fronts, SolveFronts<Real>>;
  kernels.backward_fronts = later<Real, &Kernels::backward_fronts, SolveFronts<Real>>;
}

Backend make_host_memory_backend() {
  Backend backend = *cpu_backend(Simd::baseline);
  backend.name = "cuda";
  backend.memory = {.host_accessible = false,
                    .allocate = allocate,
                    .release = release,
                    .upload = upload,
                    .download = download,
                    .available = available,
                    .open_queue = open_queue,
                    .close_queue = close_queue,
                    .wait = wait,
                    .last_error = last_error,
                    .begin_recording = begin_recording,
                    .end_recording = end_recording,
                    .replay = replay,
                    .release_recording = release_recording};
  using Selection = SelectionKernels;
  backend.selection.running_sums = select<&Selection::running_sums, RunningSums>;
  backend.selection.list_flagged = select<&Selection::list_flagged, ListFlagged>;
  backend.selection.select_contacts = select<&Selection::select_contacts, SelectContacts>;
  launch_later(backend.float32);
  launch_later(backend.float64);
  if (const char* abi = std::getenv("ISOCLOTH_TEST_DEVICE_ABI")) backend.abi = std::atoi(abi);
  return backend;
}

}  // namespace
}  // namespace isocloth

extern "C" {

const isocloth::Backend* isocloth_cuda_backend() {
  static isocloth::Backend backend;
  backend = isocloth::make_host_memory_backend();
  return &backend;
}
const char* isocloth_cuda_status() { return "host memory, for tests"; }
/// What was called since the last question.
const char* isocloth_test_device_calls() {
  static std::string answer;
  answer.swap(isocloth::calls);
  isocloth::calls.clear();
  return answer.c_str();
}
}

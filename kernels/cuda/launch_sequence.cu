#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/launch/current_device.cuh"
#include "kernels/launch/launch_sequence.cuh"

namespace isocloth::cuda {
namespace {

/// Launches with their arguments, one behind another.
class Launches {
 public:
  std::size_t size() const { return kernels_.size(); }
  const std::vector<const void*>& kernels() const { return kernels_; }

  void add(const KernelLaunch& launch, std::span<const KernelArgument> arguments) {
    kernels_.push_back(launch.kernel);
    launches_.push_back(launch);
    for (const KernelArgument& argument : arguments) {
      constexpr std::size_t alignment = alignof(std::max_align_t);
      const std::size_t at = (values_.size() + alignment - 1) / alignment * alignment;
      offsets_.push_back(at);
      values_.resize(at + argument.bytes);
      std::memcpy(values_.data() + at, argument.value, argument.bytes);
    }
    argument_begin_.push_back(offsets_.size());
    value_begin_.push_back(values_.size());
  }
  /// Whether launch i of the same kernels is the same.
  bool has_same(const Launches& other, std::size_t i) const {
    const KernelLaunch &a = launches_[i], &b = other.launches_[i];
    const std::size_t begin = value_begin_[i], end = value_begin_[i + 1];
    return a.blocks == b.blocks && a.threads == b.threads && a.shared == b.shared &&
           std::equal(&values_[begin], &values_[end - 1] + 1, &other.values_[begin]);
  }
  void run(std::size_t i, cudaStream_t stream) {
    const KernelLaunch& l = launches_[i];
    cudaLaunchKernel(l.kernel, dim3(l.blocks), dim3(l.threads), arguments(i), l.shared, stream);
  }
  /// Launch i as a graph takes it, until the next call.
  cudaKernelNodeParams node(std::size_t i) {
    const KernelLaunch& l = launches_[i];
    cudaKernelNodeParams result{};
    result.func = const_cast<void*>(l.kernel);
    result.gridDim = dim3(l.blocks);
    result.blockDim = dim3(l.threads);
    result.sharedMemBytes = static_cast<unsigned>(l.shared);
    result.kernelParams = arguments(i);
    return result;
  }

 private:
  void** arguments(std::size_t i) {
    pointers_.clear();
    for (std::size_t a = argument_begin_[i]; a < argument_begin_[i + 1]; ++a)
      pointers_.push_back(values_.data() + offsets_[a]);
    return pointers_.data();
  }

  std::vector<const void*> kernels_;
  std::vector<KernelLaunch> launches_;
  std::vector<std::size_t> argument_begin_{0}, value_begin_{0};  ///< of each launch, shape [size + 1]
  std::vector<std::size_t> offsets_;                             ///< of each argument in values_
  std::vector<std::byte> values_;
  std::vector<void*> pointers_;
};

/// Launches that were sent before, from the second time on as a graph.
class SentLaunches {
 public:
  explicit SentLaunches(Launches launches) : launches_(std::move(launches)) {}
  ~SentLaunches() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);  // goes on where it runs
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  SentLaunches(const SentLaunches&) = delete;
  SentLaunches& operator=(const SentLaunches&) = delete;

  /// Launches of the same kernels.
  void send(Launches launches, cudaStream_t stream) {
    std::swap(launches, launches_);
    if (executable_ == nullptr)
      build();
    else
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (!launches_.has_same(launches, i)) {
          const cudaKernelNodeParams node = launches_.node(i);
          cudaGraphExecKernelNodeSetParams(executable_, nodes_[i], &node);
        }
    if (executable_ != nullptr) cudaGraphLaunch(executable_, stream);
  }
  std::size_t last_use = 0;

 private:
  /// Where it fails there is no graph, and the error is there for who asks.
  void build() {
    bool works = cudaGraphCreate(&graph_, 0) == cudaSuccess;
    for (std::size_t i = 0; works && i < launches_.size(); ++i) {
      const cudaKernelNodeParams node = launches_.node(i);
      cudaGraphNode_t next{};
      works = cudaGraphAddKernelNode(&next, graph_, i > 0 ? &nodes_.back() : nullptr, i > 0 ? 1 : 0, &node) ==
              cudaSuccess;
      nodes_.push_back(next);
    }
    if (works && cudaGraphInstantiate(&executable_, graph_, 0) == cudaSuccess) return;
    executable_ = nullptr;
    nodes_.clear();
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    graph_ = nullptr;
  }

  Launches launches_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
};

class LaunchSequence {
 public:
  LaunchSequence(int device, cudaStream_t stream) : device_(device), stream_(stream) {}
  int device() const { return device_; }

  void add(const KernelLaunch& launch, std::span<const KernelArgument> arguments) {
    const std::lock_guard lock(mutex_);
    noted_.add(launch, arguments);
    if (are_recorded_ || noted_.size() == most_together) send_noted();
  }
  void send() {
    const std::lock_guard lock(mutex_);
    send_noted();
  }
  void record(bool are_recorded) {
    const std::lock_guard lock(mutex_);
    send_noted();
    are_recorded_ = are_recorded;
  }

 private:
  static constexpr std::size_t most_together = 512, most_graphs = 64;

  void send_noted() {
    if (noted_.size() == 0) return;
    const CurrentDevice current(device_);
    Launches launches = std::exchange(noted_, {});
    const auto known = launches.size() > 1 ? sent_.find(launches.kernels()) : sent_.end();
    if (known != sent_.end()) {
      known->second.last_use = ++uses_;
      known->second.send(std::move(launches), stream_);
      return;
    }
    // Loading a kernel may wait for the device, and what comes once is not worth a graph.
    for (std::size_t i = 0; i < launches.size(); ++i) launches.run(i, stream_);
    if (launches.size() == 1 || are_recorded_) return;
    if (sent_.size() == most_graphs)
      sent_.erase(
          std::ranges::min_element(sent_, {}, [](const auto& entry) { return entry.second.last_use; }));
    const auto& kernels = launches.kernels();
    sent_.try_emplace(kernels, std::move(launches)).first->second.last_use = ++uses_;
  }

  const int device_;
  const cudaStream_t stream_;
  std::mutex mutex_;
  bool are_recorded_ = false;
  Launches noted_;
  std::map<std::vector<const void*>, SentLaunches> sent_;  ///< by their kernels
  std::size_t uses_ = 0;
};

/// Of the queues that are open.
struct Sequences {
  std::mutex mutex;
  std::map<cudaStream_t, std::shared_ptr<LaunchSequence>> of_stream;
};
Sequences& sequences() {
  static Sequences all;
  return all;
}
std::shared_ptr<LaunchSequence> find(const Queue& queue) {
  Sequences& all = sequences();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of_stream.find(static_cast<cudaStream_t>(queue.stream));
  return found != all.of_stream.end() ? found->second : nullptr;
}

}  // namespace

void launch(const Queue& queue, const KernelLaunch& launch, std::span<const KernelArgument> arguments) {
  if (const auto sequence = find(queue)) {
    sequence->add(launch, arguments);
    return;
  }
  const CurrentDevice current(queue.device);
  Launches alone;
  alone.add(launch, arguments);
  alone.run(0, static_cast<cudaStream_t>(queue.stream));
}

void open_sequence(const Queue& queue) {
  const char* const graphs = std::getenv("ISOCLOTH_GRAPHS");
  if (graphs != nullptr && std::string_view(graphs) == "off") return;
  const auto stream = static_cast<cudaStream_t>(queue.stream);
  Sequences& all = sequences();
  const std::lock_guard lock(all.mutex);
  all.of_stream[stream] = std::make_shared<LaunchSequence>(queue.device, stream);
}
void close_sequence(const Queue& queue) {
  send_launches(queue);
  const CurrentDevice current(queue.device);  // its graphs go, too
  Sequences& all = sequences();
  const std::lock_guard lock(all.mutex);
  all.of_stream.erase(static_cast<cudaStream_t>(queue.stream));
}
void send_launches(const Queue& queue) {
  if (const auto sequence = find(queue)) sequence->send();
}
void send_launches(int device) {
  std::vector<std::shared_ptr<LaunchSequence>> own;
  {
    Sequences& all = sequences();
    const std::lock_guard lock(all.mutex);
    for (const auto& [stream, sequence] : all.of_stream)
      if (sequence->device() == device) own.push_back(sequence);
  }
  for (const auto& sequence : own) sequence->send();
}
void record_launches(const Queue& queue, bool are_recorded) {
  if (const auto sequence = find(queue)) sequence->record(are_recorded);
}

}  // namespace isocloth::cuda

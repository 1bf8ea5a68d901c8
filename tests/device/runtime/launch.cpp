#include "tests/device/runtime/launch.hpp"

#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <sstream>
#include <utility>

#include "tests/device/runtime/counters.hpp"
#include "tests/device/runtime/device_memory.hpp"
#include "tests/device/runtime/fibres.hpp"
#include "tests/device/runtime/lock.hpp"
#include "tests/device/runtime/streams.hpp"

namespace isocloth::software {

SharedLimits& shared_limits() {
  static SharedLimits limits;
  return limits;
}

Dimension thread_index, block_index, block_size, grid_size;
void* block_memory = nullptr;

namespace {

std::map<const void*, KnownKernel>& known_kernels() {
  static std::map<const void*, KnownKernel> known;
  return known;
}

const char* running = nullptr;  ///< name of the kernel that runs

struct LaunchShape {
  unsigned blocks = 0, threads = 0;
  int most_threads = 0;    ///< the kernel's launch bound
  std::size_t shared = 0;  ///< shared memory of a block [bytes]
};

/// "block_kernel<TileBody<double>>" of what name_of() says.
const std::string& short_name(const char* pretty) {
  static std::map<const void*, std::string> names;
  std::string& name = names[pretty];
  if (!name.empty()) return name;
  name = pretty;
  if (const auto with = name.find("kernel = "); with != std::string::npos)
    name = name.substr(with + 9, name.size() - with - 10);
  for (const char* cut : {"isocloth::", "cuda::", "(anonymous namespace)::", "{anonymous}::", "detail::"})
    for (auto at = name.find(cut); at != std::string::npos; at = name.find(cut))
      name.erase(at, std::strlen(cut));
  return name;
}

/// Whether the environment leaves a kernel out.
bool is_skipped(const std::string& name) {
  static const char* const skipped = std::getenv("ISOCLOTH_TEST_DEVICE_SKIP");
  if (skipped == nullptr) return false;
  std::istringstream words(skipped);
  for (std::string word; std::getline(words, word, ',');)
    if (!word.empty() && name.find(word) != std::string::npos) return true;
  return false;
}

/// An order of `count` things, as the environment wants it.
class Order {
 public:
  const std::vector<unsigned>& of(unsigned count) {
    const std::string kind = chosen();
    if (numbers_.size() != count || kind != kind_) {
      kind_ = kind;
      numbers_.resize(count);
      std::iota(numbers_.begin(), numbers_.end(), 0u);
      if (kind_ == "descending") std::reverse(numbers_.begin(), numbers_.end());
    }
    if (kind_ == "random") std::shuffle(numbers_.begin(), numbers_.end(), random_);
    return numbers_;
  }

 private:
  static std::string chosen() {
    const char* order = std::getenv("ISOCLOTH_TEST_DEVICE_ORDER");
    const std::string kind = order != nullptr ? order : "ascending";
    if (kind != "ascending" && kind != "descending" && kind != "random")
      fail("ISOCLOTH_TEST_DEVICE_ORDER: found \"" + kind + "\", expected ascending, descending or random");
    return kind;
  }
  std::string kind_;
  std::mt19937 random_{1};
  std::vector<unsigned> numbers_;
};

/// Shared memory of the block that runs: its end is the end of a page, and the next page is closed.
class SharedMemory {
 public:
  SharedMemory() {
    void* const pages =
        mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) fail("no memory for shared memory");
    begin_ = static_cast<char*>(pages);
    mprotect(begin_ + size, page, PROT_NONE);
  }
  void* fresh(std::size_t bytes) const {
    const std::size_t rounded = (bytes + 15) / 16 * 16;
    void* const memory = begin_ + size - rounded;
    std::memset(memory, 0xFF, rounded);
    return memory;
  }

 private:
  static constexpr std::size_t size = most_shared_memory, page = 4096;
  char* begin_ = nullptr;
};

void run_kernel(const char* name, const LaunchShape& shape, const std::function<void()>& thread,
                bool in_graph) {
  static Order blocks, threads;
  static const SharedMemory shared;
  KernelCount& count = counters().kernels[short_name(name)];
  ++count.launches;
  count.in_graphs += in_graph ? 1 : 0;
  count.blocks += shape.blocks;
  count.most_blocks = std::max<std::size_t>(count.most_blocks, shape.blocks);
  count.threads = std::max<std::size_t>(count.threads, shape.threads);
  count.shared = std::max(count.shared, shape.shared);
  if (is_skipped(short_name(name))) return;
  running = name;
  grid_size.x = shape.blocks;
  block_size.x = shape.threads;
  for (const unsigned block : blocks.of(shape.blocks)) {
    block_index.x = block;
    block_memory = shared.fresh(shape.shared);
    const BlockRun run = run_block(
        shape.threads, [&]() -> const std::vector<unsigned>& { return threads.of(shape.threads); },
        [](unsigned number) { thread_index.x = number; }, thread);
    (shape.threads > 32 ? count.barriers : count.warp_barriers) += run.barriers;
    if (count.path.empty()) count.path = run.path;
    if (count.path.size() == run.path.size())
      std::transform(run.path.begin(), run.path.end(), count.path.begin(), count.path.begin(),
                     [](double a, double b) { return std::min(a, b); });
    if (run.outcome == BlockRun::barrier_not_reached_by_all)
      fail("some threads of a block end before a barrier at which others wait, in " + short_name(name));
    if (run.outcome == BlockRun::barriers_at_different_places)
      fail("threads of a block wait at different barriers, in " + short_name(name));
  }
  running = nullptr;
}

/// Whether a word is the address of memory of this process that is not the device's.
bool is_host_address(std::uintptr_t word) {
#if defined(__aarch64__)  // where programs and libraries lie
  constexpr std::uintptr_t lowest = 0xaaaa00000000, highest = 0x1000000000000;
#else
  constexpr std::uintptr_t lowest = 0x550000000000, highest = 0x800000000000;
#endif
  if (word < lowest || word >= highest) return false;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(word / page * page), 1, MS_ASYNC) == 0;
}

/// What is wrong with a launch, for a device.
cudaError_t refusal(cudaStream_t stream, const void* kernel, const LaunchShape& shape) {
  constexpr unsigned most_threads = 1024;
  constexpr std::size_t without_asking = 48 * 1024;
  if (shape.blocks == 0 || shape.blocks > 0x7fffffffu || shape.threads == 0 || shape.threads > most_threads ||
      (shape.most_threads > 0 && static_cast<int>(shape.threads) > shape.most_threads))
    return cudaErrorInvalidConfiguration;
  if (stream != nullptr && stream->device != current_device()) return cudaErrorInvalidResourceHandle;
  const auto limit = shared_limits().find({current_device(), kernel});
  if (shape.shared > (limit == shared_limits().end() ? without_asking : limit->second))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

}  // namespace

void remember(const void* kernel, KnownKernel known) {
  const Lock lock(mutex());
  known_kernels()[kernel] = std::move(known);
}

Launch prepare(cudaStream_t stream, const cudaKernelNodeParams& params, bool in_graph) {
  const auto found = known_kernels().find(params.func);
  if (found == known_kernels().end()) fail("a launch of what is no kernel");
  const KnownKernel& known = found->second;
  const LaunchShape shape{params.gridDim.x, params.blockDim.x, known.most_threads, params.sharedMemBytes};
  if (const cudaError_t error = refusal(stream, params.func, shape); error != cudaSuccess)
    return {.error = set_last_error(error)};
  std::function<void()> thread = known.bind(params.kernelParams);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < known.argument_bytes.size(); ++i) {
    const auto* const argument = static_cast<const std::byte*>(params.kernelParams[i]);
    const std::size_t size = known.argument_bytes[i];
    bytes += size;
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= size; at += sizeof(std::uintptr_t)) {
      std::uintptr_t word;
      std::memcpy(&word, argument + at, sizeof word);
      if (is_host_address(word))
        fail("a pointer to the host's memory at byte " + std::to_string(at) + " of the arguments of " +
             short_name(known.name));
      const int owner = device_of_memory(reinterpret_cast<const void*>(word), 1);
      if (owner >= 0 && owner != current_device())
        fail("a pointer to memory of device " + std::to_string(owner) + " at byte " + std::to_string(at) +
             " of the arguments of " + short_name(known.name) + ", on device " +
             std::to_string(current_device()));
    }
  }
  constexpr std::size_t most_bytes = 32764;
  if (bytes > most_bytes) fail(std::to_string(bytes) + " bytes of arguments of " + short_name(known.name));
  KernelCount& count = counters().kernels[short_name(known.name)];
  count.argument_bytes = std::max(count.argument_bytes, bytes);
  return {.name = known.name,
          .count = &count,
          .call = [name = known.name, shape, thread = std::move(thread), in_graph] {
            run_kernel(name, shape, thread, in_graph);
          }};
}

void enqueue_library_call(cudaStream_t stream, const char* name, std::function<void()> call) {
  const Lock lock(mutex());
  if (stream != nullptr && stream->device != current_device())
    fail(std::string(name) + ": a stream of another device than the thread's");
  if (stream == nullptr || stream->capture == nullptr) {
    ++counters().launches;
    counters().calls += 'L';
  }
  add(stream, name, [name, call = std::move(call)] {
    ++counters().kernels[name].launches;
    running = name;
    call();
    running = nullptr;
  });
}

void sync_threads() { wait_for_block(__builtin_return_address(0)); }

void fail(const std::string& what) {
  std::fprintf(stderr, "software device: %s\n", what.c_str());
  std::abort();
}

const char* running_kernel() { return running; }

}  // namespace isocloth::software

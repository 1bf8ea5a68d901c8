#include "host/memory/device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>
#include <utility>

#include "engine/core/errors.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth {
namespace {

/// More blocks per multiprocessor than so many gain nothing: their registers leave room for about as many.
constexpr std::size_t resident_blocks = 4, resident_warps = 16;

Simd chosen_simd(const std::string& name) {
  if (cpu_backend(widest_simd()) == nullptr)
    throw DeviceError(
        "found none of the vector instructions that this build is for; build it on this machine, "
        "or with -DISOCLOTH_SIMD=\"baseline;avx2;avx512\"");
  if (name.empty()) return widest_simd();
  for (const Simd simd : {Simd::baseline, Simd::avx2, Simd::avx512}) {
    if (name != to_string(simd)) continue;
    if (cpu_backend(simd) != nullptr) return simd;
    throw DeviceError("simd: found \"" + name + "\", which this machine or build lacks; expected at most \"" +
                      to_string(widest_simd()) + "\"");
  }
  throw DeviceError("simd: found \"" + name + "\", expected \"baseline\", \"avx2\" or \"avx512\"");
}

std::string in_units(double value) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

/// A demand that does not fit may be beyond std::size_t.
double bytes_of(const MemoryDemand& demand) {
  const double groups = std::ceil(static_cast<double>(demand.count) / static_cast<double>(demand.together));
  return static_cast<double>(demand.bytes_fixed) +
         static_cast<double>(demand.bytes_each) * static_cast<double>(demand.together) * groups;
}

constexpr const char* way_out =
    "; use fewer garments at once, a coarser mesh, single precision or a device with more memory";

}  // namespace

std::string shortage(const std::string& backend, const MemoryDemand& demand, std::size_t free,
                     std::size_t total) {
  const double needed = bytes_of(demand);
  if (needed <= static_cast<double>(free)) return {};
  const std::size_t left = free > demand.bytes_fixed ? free - demand.bytes_fixed : 0;
  const std::size_t fitting = left / (demand.bytes_each * demand.together) * demand.together;
  return backend + ": out of device memory: " + std::to_string(demand.count) + " x " + demand.kind +
         " needs " + in_units(needed) + ", " + in_units(static_cast<double>(free)) + " of " +
         in_units(static_cast<double>(total)) + " are free, enough for " + std::to_string(fitting) + way_out;
}

WorkQueue::WorkQueue(const Device& device) : device_(device), queue_(device.model_) {
  if (!device.backend().memory.host_accessible) queue_.monitor = {};  // of the host's memory
  const Memory& memory = device.backend().memory;
  if (!memory.open_queue(&queue_))
    throw DeviceError(std::string(device.backend().name) +
                      ": a queue cannot be opened: " + memory.last_error());
}

WorkQueue::~WorkQueue() {
  device_.backend().memory.close_queue(&queue_);
  if (queue_.workspace != nullptr) device_.release(queue_.workspace);
}

void WorkQueue::reserve(const BlockMemory& memory, std::size_t items) {
  const std::size_t piece = workspace_piece(queue_, memory);
  if (device_.backend().memory.host_accessible || piece == 0) return;
  std::size_t total = 0;
  const std::size_t free = device_.free_bytes(total);
  const std::size_t resident = has_room_for_many(queue_, memory) ? resident_warps : resident_blocks,
                    at_once = resident * static_cast<std::size_t>(std::max(1, queue_.multiprocessors));
  // A quarter at most: the garments themselves come after.
  const std::size_t pieces = std::max<std::size_t>(1, std::min({items, at_once, free / 4 / piece}));
  if (pieces * piece <= queue_.workspace_bytes) return;
  wait();
  if (queue_.workspace != nullptr) device_.release(queue_.workspace);
  queue_.workspace = nullptr;
  queue_.workspace_bytes = 0;
  queue_.workspace = device_.allocate(pieces * piece);
  queue_.workspace_bytes = pieces * piece;
}

void WorkQueue::wait() const { device_.check(device_.backend().memory.wait(queue_)); }

Device::Device(const ExecutionOptions& options) {
  constexpr int most_threads = 1024;
  if (options.threads < 0 || options.threads > most_threads)
    throw DeviceError("threads: found " + std::to_string(options.threads) +
                      ", expected 0 (all cores) or 1 to " + std::to_string(most_threads));
  if (options.emulated_block < 0 || options.emulated_block > max_block_threads)
    throw DeviceError("emulated_block: found " + std::to_string(options.emulated_block) +
                      ", expected 0 (off) to " + std::to_string(max_block_threads));
  if (options.emulated_block > 0 && !emulates_blocks())
    throw DeviceError(
        "emulated_block: found " + std::to_string(options.emulated_block) +
        ", expected 0: blocks are emulated for tests, in builds with -DISOCLOTH_BUILD_TESTS=ON");
  if (options.backend == "cpu") {
    if (options.device != 0)
      throw DeviceError("device: found " + std::to_string(options.device) +
                        ", expected 0 where the backend is \"cpu\"; devices are those of \"cuda\"");
    simd_ = chosen_simd(options.simd);
    backend_ = cpu_backend(simd_);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int threads = options.threads > 0 ? options.threads : cores;
    if (threads > 1) pool_ = std::make_unique<ThreadPool>(threads);
    model_.pool = pool_.get();
    model_.emulated_block = options.emulated_block;
  } else if (options.backend == "cuda") {
    const CudaStatus& status = cuda_status(options.device);
    const int count = status.device_count;
    if (count > 0 && (options.device < 0 || options.device >= count))
      throw DeviceError("device: found " + std::to_string(options.device) + ", expected 0" +
                        (count > 1 ? " to " + std::to_string(count - 1) : "") + "; this machine has " +
                        std::to_string(count) + " (isocloth info)");
    if (status.backend == nullptr)
      throw DeviceError("backend: found \"cuda\", but it cannot be used: " + status.message);
    backend_ = status.backend;
    model_.device = options.device;
    if (options.block_threads < 0 || options.block_threads > max_block_threads ||
        options.block_threads % 32 != 0)
      throw DeviceError("block_threads: found " + std::to_string(options.block_threads) +
                        ", expected 0 (automatic) or a multiple of 32 up to " +
                        std::to_string(max_block_threads));
    model_.block_threads = options.block_threads;
  } else {
    throw DeviceError("backend: found \"" + options.backend + "\", expected \"cpu\" or \"cuda\"");
  }
  model_.monitor = MonitorView(options.monitor);
  if (!backend_->memory.host_accessible) arena_ = std::make_unique<Arena>(backend_->memory, model_.device);
  work_ = std::make_unique<WorkQueue>(*this);
}

Device::~Device() {
  if (upload_room_ != nullptr) backend_->memory.release_locked(model_.device, upload_room_);
}

int Device::threads() const { return pool_ ? pool_->size() : 1; }

std::size_t Device::free_bytes(std::size_t& total) const {
  std::size_t free = 0;
  total = 0;
  if (!backend_->memory.available(model_.device, &free, &total)) return total = 0;
  return std::max(free, arena_ ? arena_->largest_free() : 0);
}

void Device::check(bool worked) const {
  if (!worked) throw DeviceError(std::string(backend_->name) + ": " + backend_->memory.last_error());
}

void* Device::allocate(std::size_t bytes) const {
  void* pointer = nullptr;
  if (arena_)
    pointer = arena_->allocate(bytes);
  else if (!backend_->memory.allocate(model_.device, bytes, &pointer))
    pointer = nullptr;
  if (pointer != nullptr) return pointer;
  std::size_t total = 0;
  const std::size_t free = free_bytes(total);
  throw DeviceError(
      std::string(backend_->name) + ": out of memory: an array needs " +
      in_units(static_cast<double>(bytes)) +
      (total > 0 ? ", " + in_units(static_cast<double>(free)) + " of " +
                       in_units(static_cast<double>(total)) + " are free"
                 : "") +
      (arena_ ? ", this simulation holds " + in_units(static_cast<double>(arena_->used())) : "") + " (" +
      backend_->memory.last_error() + ")" + way_out);
}

void Device::release(void* pointer) const {
  if (arena_)
    arena_->release(pointer);
  else
    backend_->memory.release(model_.device, pointer);
}

void* Device::staging(std::size_t bytes) const {
  if (bytes <= staging_bytes_) return staging_;
  if (staging_ != nullptr) release(std::exchange(staging_, nullptr));
  staging_bytes_ = 0;
  staging_ = allocate(bytes + bytes / 2);
  staging_bytes_ = bytes + bytes / 2;
  return staging_;
}

void* Device::upload_room(std::size_t bytes) const {
  constexpr std::size_t room = std::size_t{4} << 20, most = room / 4, alignment = 256;
  const Memory& memory = backend_->memory;
  if (bytes > most || memory.allocate_locked == nullptr) return nullptr;
  if (upload_room_ == nullptr && !memory.allocate_locked(model_.device, room, &upload_room_)) return nullptr;
  if (upload_bytes_ + bytes > room) {
    work_->wait();
    upload_bytes_ = 0;
  }
  void* const found = static_cast<std::byte*>(upload_room_) + upload_bytes_;
  upload_bytes_ += (bytes + alignment - 1) / alignment * alignment;
  return found;
}

void Device::send() const {
  if (backend_->memory.send != nullptr) backend_->memory.send(queue());
}

void Device::require(const MemoryDemand& demand) const {
  std::size_t total = 0;
  const std::size_t free = free_bytes(total);
  if (total == 0) return;
  const std::string message = shortage(backend_->name, demand, free, total);
  if (!message.empty()) throw DeviceError(message);
  // Below the total, hence exact.
  if (arena_) arena_->reserve(static_cast<std::size_t>(bytes_of(demand)));
}

}  // namespace isocloth

// A backend that is open, its memory, and where its kernels run.
#pragma once

#include <memory>
#include <string>

#include "host/memory/arena.hpp"
#include "host/state/execution_options.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

class Device;

/// Kernels in one queue run one after another, those of several queues may overlap. Copies of a Buffer go
/// through the device's own queue and are done when they return: wait() before one reads what this queue
/// wrote.
class WorkQueue {
 public:
  /// Throws DeviceError when there is no stream left. The device must outlive the queue.
  explicit WorkQueue(const Device& device);
  /// Waits until the queue is empty.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  const Queue& get() const { return queue_; }
  /// The workspace of kernels of `items` blocks, see workspace_piece(): as many pieces as run at once, fewer
  /// if memory is short. Throws DeviceError when there is none for one block.
  void reserve(const BlockMemory& memory, std::size_t items);
  /// Waits until the queue is empty; throws DeviceError when a kernel in it failed.
  void wait() const;

 private:
  const Device& device_;
  Queue queue_;
};

/// What several things of one kind need of a device's memory.
struct MemoryDemand {
  std::string kind;             ///< name of one of the things, for the message
  std::size_t count = 0;        ///< number of the things
  std::size_t bytes_each = 0;   ///< memory that grows with the count, for each of the things [bytes]
  std::size_t bytes_fixed = 0;  ///< memory that is needed whatever the count [bytes]
  std::size_t together = 1;     ///< room is taken for a multiple of so many
};
/// Text that is empty where `demand` fits into `free` bytes, else what is needed, what there is and how many
/// would fit.
std::string shortage(const std::string& backend, const MemoryDemand& demand, std::size_t free,
                     std::size_t total);

/// Backend, memory, queue and workers of one simulation.
class Device {
 public:
  /// Opens options.backend: "cpu", or options.device of "cuda" through the plugin libisocloth_cuda.so. Throws
  /// DeviceError saying why it cannot (no plugin, a plugin of another build, no driver, no such device, an
  /// old device, unknown name).
  explicit Device(const ExecutionOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Backend& backend() const { return *backend_; }
  const Queue& queue() const { return work_->get(); }
  const MonitorView& monitor() const { return model_.monitor; }
  int threads() const;
  /// Vector instructions of the backend's kernels; baseline on cuda, where it says nothing.
  Simd simd() const { return simd_; }

  /// Throws DeviceError with the backend's last error unless something of it worked.
  void check(bool worked) const;
  /// Takes `bytes` > 0 of memory, aligned for every type, from one arena where the backend has memory of its
  /// own. Throws DeviceError saying how much is needed and how much is there.
  void* allocate(std::size_t bytes) const;
  /// Releases memory of allocate(); see Arena for what must not use it any more.
  void release(void* pointer) const;
  /// Room in the backend's memory for what is gathered before a copy or dealt out after one: the next call
  /// may give the same room to others, whose kernels come later in the device's own queue.
  void* staging(std::size_t bytes) const;
  /// Locked room of the host's for a copy that begin_upload() begins in the device's own queue, while nobody
  /// waits for it; null: so much is to be copied at once. Throws DeviceError when a kernel failed before.
  void* upload_room(std::size_t bytes) const;
  /// Sends launches that wait for more of them (Memory::send).
  void send() const;
  /// Throws DeviceError (shortage()) unless that much is free in one piece, and puts it by for the next
  /// allocations; does nothing where it is not known what is free.
  void require(const MemoryDemand& demand) const;

 private:
  friend class WorkQueue;
  /// Largest free piece of the device's memory, and all of it as `total` [bytes]; 0 of 0: not known.
  std::size_t free_bytes(std::size_t& total) const;

  std::unique_ptr<ThreadPool> pool_;
  const Backend* backend_ = nullptr;
  Simd simd_ = Simd::baseline;
  Queue model_;                   ///< what every queue of this device begins with
  std::unique_ptr<Arena> arena_;  ///< arena of the backend's memory; null: the backend's memory is the host's
  std::unique_ptr<WorkQueue> work_;
  mutable void* staging_ = nullptr;  ///< in the arena
  mutable std::size_t staging_bytes_ = 0;
  mutable void* upload_room_ = nullptr;   ///< locked
  mutable std::size_t upload_bytes_ = 0;  ///< of it, copied from since the queue was waited for
};

/// What `isocloth info` says of CUDA and one of its devices.
struct CudaStatus {
  const Backend* backend = nullptr;  ///< the backend; null: not usable
  std::string plugin;                ///< path of the plugin, empty: not found
  std::string message;               ///< the device's name, or why it is not usable and what to do
  int device_count = 0;              ///< number of devices, usable or not
};

/// Looks for the plugin (environment variable ISOCLOTH_CUDA_PLUGIN, beside the library or command, in ../lib,
/// in the loader's path), opens it and asks it for a device, each once. Devices that nobody asks for are left
/// alone. Never throws.
const CudaStatus& cuda_status(int device = 0);
/// Opens the plugin at a path, or under a name in the loader's path. Never throws.
CudaStatus open_cuda_plugin(const std::string& path, int device = 0);

}  // namespace isocloth

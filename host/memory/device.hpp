// A backend that is open, and where its kernels run.
#pragma once

#include <memory>
#include <string>

#include "host/simulation.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

/// Backend, queue and workers of one simulation.
class Device {
 public:
  /// Opens options.backend: "cpu", or "cuda" through the plugin libisocloth_cuda.so. Throws DeviceError
  /// saying why it cannot (no plugin, a plugin of another build, no driver, no device, unknown name).
  explicit Device(const ExecutionOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Backend& backend() const { return *backend_; }
  const Queue& queue() const { return queue_; }
  int threads() const;

 private:
  std::unique_ptr<ThreadPool> pool_;
  const Backend* backend_ = nullptr;
  Queue queue_;
};

/// What `isocloth info` says of CUDA.
struct CudaStatus {
  const Backend* backend = nullptr;  ///< null: not usable
  std::string plugin;                ///< path of the plugin, empty: not found
  std::string message;               ///< the device's name, or why CUDA is not usable and what to do
};

/// Looks for the plugin (environment variable ISOCLOTH_CUDA_PLUGIN, beside the library or command, in ../lib,
/// in the loader's path), opens it once and asks it for a device. Never throws.
const CudaStatus& cuda_status();

}  // namespace isocloth

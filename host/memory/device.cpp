#include "host/memory/device.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "engine/core/errors.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth {
namespace {

constexpr const char* plugin_name = "libisocloth_cuda.so";

/// Where the plugin may lie, the most explicit place first; a bare name asks the loader's own path.
std::vector<std::string> plugin_candidates() {
  std::vector<std::string> candidates;
  if (const char* chosen = std::getenv("ISOCLOTH_CUDA_PLUGIN")) return {chosen};
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&cuda_status), &self) != 0 && self.dli_fname != nullptr) {
    std::error_code ignored;
    const auto here = std::filesystem::canonical(self.dli_fname, ignored).parent_path();
    for (const auto& folder : {here, here.parent_path() / "lib"}) candidates.push_back(folder / plugin_name);
  }
  candidates.emplace_back(plugin_name);
  return candidates;
}

CudaStatus open_plugin() {
  CudaStatus status;
  void* plugin = nullptr;
  for (const auto& candidate : plugin_candidates()) {
    const bool is_path = candidate.find('/') != std::string::npos;
    if (is_path && !std::filesystem::exists(candidate)) continue;
    plugin = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (plugin != nullptr) {
      status.plugin = candidate;
      break;
    }
    if (is_path) {
      status.message = std::string("plugin cannot be loaded: ") + dlerror();
      return status;
    }
  }
  if (plugin == nullptr) {
    status.message =
        std::string("no plugin ") + plugin_name +
        ": built without CUDA; configure with -DISOCLOTH_CUDA=ON (needs nvcc) or set ISOCLOTH_CUDA_PLUGIN";
    return status;
  }
  const auto backend = reinterpret_cast<const Backend* (*)()>(dlsym(plugin, "isocloth_cuda_backend"));
  const auto message = reinterpret_cast<const char* (*)()>(dlsym(plugin, "isocloth_cuda_status"));
  if (backend == nullptr || message == nullptr) {
    status.message =
        "plugin " + status.plugin + " is not an isocloth plugin: it lacks isocloth_cuda_backend; rebuild it";
    return status;
  }
  status.message = message();
  const Backend* opened = backend();
  if (opened != nullptr && opened->abi != backend_abi) {
    status.message = "plugin " + status.plugin + " belongs to another build: interface " +
                     std::to_string(opened->abi) + ", expected " + std::to_string(backend_abi) +
                     "; rebuild it";
    return status;
  }
  status.backend = opened;
  return status;
}

const Backend& chosen_cpu_backend(const std::string& simd) {
  if (simd.empty()) return cpu_backend();
  for (const Simd known : {Simd::baseline, Simd::avx2, Simd::avx512}) {
    if (simd != to_string(known)) continue;
    if (const Backend* backend = cpu_backend(known)) return *backend;
    throw DeviceError("simd: found \"" + simd +
                      "\", which this machine or this build lacks; expected at most \"" +
                      to_string(widest_simd()) + "\"");
  }
  throw DeviceError("simd: found \"" + simd + "\", expected \"baseline\", \"avx2\" or \"avx512\"");
}

}  // namespace

const CudaStatus& cuda_status() {
  static const CudaStatus status = open_plugin();
  return status;
}

Device::Device(const ExecutionOptions& options) {
  if (options.backend == "cpu") {
    backend_ = &chosen_cpu_backend(options.simd);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int threads = options.threads > 0 ? options.threads : cores;
    if (threads > 1) pool_ = std::make_unique<ThreadPool>(threads);
    queue_.pool = pool_.get();
    queue_.emulated_block = options.emulated_block;
  } else if (options.backend == "cuda") {
    if (cuda_status().backend == nullptr)
      throw DeviceError("backend: found \"cuda\", but it cannot be used: " + cuda_status().message);
    backend_ = cuda_status().backend;
  } else {
    throw DeviceError("backend: found \"" + options.backend + "\", expected \"cpu\" or \"cuda\"");
  }
}

Device::~Device() = default;

int Device::threads() const { return pool_ ? pool_->size() : 1; }

}  // namespace isocloth

// Finding and opening the CUDA plugin.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "host/memory/device.hpp"

namespace isocloth {
namespace {

constexpr const char* plugin_name = "libisocloth_cuda.so";

/// Where the plugin may lie, the most explicit place first; a bare name asks the loader's own path.
std::vector<std::string> plugin_candidates() {
  std::vector<std::string> candidates;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&cuda_status), &self) != 0 && self.dli_fname != nullptr) {
    std::error_code ignored;
    const auto here = std::filesystem::canonical(self.dli_fname, ignored).parent_path();
    for (const auto& folder : {here, here.parent_path() / "lib"})
      if (std::filesystem::exists(folder / plugin_name, ignored)) candidates.push_back(folder / plugin_name);
  }
  candidates.emplace_back(plugin_name);
  return candidates;
}

std::string plugin_path() {
  const char* chosen = std::getenv("ISOCLOTH_CUDA_PLUGIN");
  return chosen != nullptr && *chosen != 0 ? chosen : plugin_candidates().front();
}

}  // namespace

CudaStatus open_cuda_plugin(const std::string& path, int device) {
  CudaStatus status;
  void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    const char* reason = dlerror();
    std::error_code ignored;
    if (path == plugin_name)
      status.message =
          "found no plugin " + path +
          ": this is a build without CUDA; configure with -DISOCLOTH_CUDA=ON (needs nvcc) or set "
          "ISOCLOTH_CUDA_PLUGIN (" +
          (reason != nullptr ? reason : "") + ")";
    else if (!std::filesystem::exists(path, ignored))
      status.message = "found no plugin \"" + path + "\"; expected the path of a " + plugin_name;
    else
      status.message = "plugin cannot be loaded: " + std::string(reason != nullptr ? reason : path);
    return status;
  }
  status.plugin = path;
  const auto backend = reinterpret_cast<const Backend* (*)(int)>(dlsym(plugin, "isocloth_cuda_backend"));
  const auto message = reinterpret_cast<const char* (*)(int)>(dlsym(plugin, "isocloth_cuda_status"));
  if (backend == nullptr || message == nullptr) {
    status.message =
        "plugin " + path + " is not an isocloth plugin: it lacks isocloth_cuda_backend; rebuild it";
    return status;
  }
  const Backend* opened = backend(device);
  if (opened != nullptr && opened->abi != backend_abi) {
    status.message = "plugin " + path + " belongs to another build: found interface " +
                     std::to_string(opened->abi) + ", expected " + std::to_string(backend_abi) +
                     "; rebuild it";
    return status;
  }
  const auto count = reinterpret_cast<int (*)()>(dlsym(plugin, "isocloth_cuda_device_count"));
  if (count == nullptr) {  // older, with nothing to show
    status.message =
        "plugin " + path + " belongs to another build: it lacks isocloth_cuda_device_count; rebuild it";
    return status;
  }
  status.device_count = count();
  status.message = message(device);
  status.backend = opened;
  return status;
}

const CudaStatus& cuda_status(int device) {
  static std::mutex mutex;
  static std::map<int, CudaStatus> statuses;
  const std::lock_guard lock(mutex);
  const auto [status, is_new] = statuses.try_emplace(device);
  if (is_new) status->second = open_cuda_plugin(plugin_path(), device);
  return status->second;
}

}  // namespace isocloth

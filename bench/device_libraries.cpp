#include "bench/device_libraries.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/memory/device.hpp"

namespace isocloth::bench {
namespace {

constexpr const char* plugin_name = "libisocloth_device_libraries.so";

const DeviceLibraries& open_plugin() {
  const std::filesystem::path path = std::filesystem::path(cuda_status().plugin).parent_path() / plugin_name;
  void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    const char* const reason = dlerror();
    throw DeviceError(text("libraries: found no plugin ", path,
                           "; configure with -DISOCLOTH_CUDA=ON where cuSPARSE and cuSOLVER are installed (",
                           reason != nullptr ? reason : "", ')'));
  }
  const auto abi = reinterpret_cast<int (*)()>(dlsym(plugin, "isocloth_device_libraries_abi"));
  const auto libraries =
      reinterpret_cast<const DeviceLibraries* (*)()>(dlsym(plugin, "isocloth_device_libraries"));
  if (abi == nullptr || libraries == nullptr || abi() != device_libraries_abi)
    throw DeviceError(text("libraries: plugin ", path, " belongs to another build; rebuild it"));
  return *libraries();
}

}  // namespace

const DeviceLibraries& device_libraries(const std::string& backend) {
  if (backend == "cpu") return standard_libraries();
  static const DeviceLibraries& libraries = open_plugin();
  return libraries;
}

}  // namespace isocloth::bench

// Which GPU the CUDA calls of a thread of the host go to.
#pragma once

#include <cuda_runtime.h>

namespace isocloth::cuda {

/// Whether somebody in this process uses a device, so that cudaSetDevice() does not take memory there for
/// nobody.
inline bool is_in_use(int device) {
  using Ask = int (*)(int device, unsigned* flags, int* active);  // cuDevicePrimaryCtxGetState
  static const Ask ask = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    constexpr const char* name = "cuDevicePrimaryCtxGetState";
#if CUDART_VERSION >= 12050
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
    cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
    return found == cudaDriverEntryPointSuccess ? reinterpret_cast<Ask>(function) : nullptr;
  }();
  unsigned flags = 0;
  int active = 0;
  return ask != nullptr && ask(device, &flags, &active) == 0 && active != 0;
}

/// The calling thread's calls go to one device while this lives: launches and allocations are its own, and
/// any call takes memory of the device that it goes to. Then they go again where they did before, if that
/// device is in use: a program chooses one for its own calls to CUDA, too. A failure shows at the call that
/// is made.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) : device_(device) {
    if (cudaGetDevice(&before_) == cudaSuccess && before_ == device_) return;
    cudaSetDevice(device_);
  }
  ~CurrentDevice() {
    if (before_ != device_ && is_in_use(before_)) cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int device_, before_ = 0;
};

}  // namespace isocloth::cuda

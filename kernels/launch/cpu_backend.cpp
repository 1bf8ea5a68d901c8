#include <cstring>
#include <new>

#include "kernels/kernel_table.hpp"

namespace isocloth {
namespace {

constexpr std::align_val_t alignment{64};

bool allocate(std::size_t bytes, void** pointer) {
  *pointer = ::operator new(bytes, alignment, std::nothrow);
  return *pointer != nullptr;
}
void release(void* pointer) { ::operator delete(pointer, alignment); }
bool copy(const Queue&, void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return true;
}
const char* last_error() { return "out of memory"; }

}  // namespace

const Backend& cpu_backend() {
  static const Backend backend = cpu::make_backend("cpu", {.host_accessible = true,
                                                           .allocate = allocate,
                                                           .release = release,
                                                           .upload = copy,
                                                           .download = copy,
                                                           .last_error = last_error});
  return backend;
}

}  // namespace isocloth

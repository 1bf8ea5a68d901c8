#include <cstring>
#include <new>

#include "kernels/kernel_table.hpp"

namespace isocloth {

#if defined(ISOCLOTH_HAS_avx2)
namespace cpu_avx2 {
Backend make_backend(const char* name, const Memory& memory);
}
#endif
#if defined(ISOCLOTH_HAS_avx512)
namespace cpu_avx512 {
Backend make_backend(const char* name, const Memory& memory);
}
#endif

namespace {

constexpr std::align_val_t alignment{64};

bool allocate(int, std::size_t bytes, void** pointer) {
  *pointer = ::operator new(bytes, alignment, std::nothrow);
  return *pointer != nullptr;
}
void release(int, void* pointer) { ::operator delete(pointer, alignment); }
bool copy(const Queue&, void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return true;
}
bool available(int, std::size_t*, std::size_t*) { return false; }
bool open_queue(Queue*) { return true; }
void close_queue(Queue*) {}
bool wait(const Queue&) { return true; }
const char* last_error() { return "out of memory"; }

constexpr Memory memory{.host_accessible = true,
                        .allocate = allocate,
                        .release = release,
                        .upload = copy,
                        .download = copy,
                        .available = available,
                        .open_queue = open_queue,
                        .close_queue = close_queue,
                        .wait = wait,
                        .last_error = last_error,
                        .allocate_locked = nullptr,
                        .release_locked = nullptr,
                        .begin_upload = nullptr,
                        .begin_download = nullptr,
                        .send = nullptr,
                        .begin_recording = nullptr,
                        .end_recording = nullptr,
                        .can_repeat = nullptr,
                        .replay = nullptr,
                        .release_recording = nullptr};

}  // namespace

const char* to_string(Simd simd) {
  return simd == Simd::avx512 ? "avx512" : simd == Simd::avx2 ? "avx2" : "baseline";
}

const Backend* cpu_backend(Simd simd) {
#if defined(ISOCLOTH_HAS_baseline)
  if (simd == Simd::baseline) {
    static const Backend backend = cpu::make_backend("cpu", memory);
    return &backend;
  }
#endif
#if defined(ISOCLOTH_HAS_avx2)
  if (simd == Simd::avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    static const Backend backend = cpu_avx2::make_backend("cpu", memory);
    return &backend;
  }
#endif
#if defined(ISOCLOTH_HAS_avx512)
  if (simd == Simd::avx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("fma")) {
    static const Backend backend = cpu_avx512::make_backend("cpu", memory);
    return &backend;
  }
#endif
  return nullptr;
}

bool emulates_blocks() {
#if defined(ISOCLOTH_EMULATED_BLOCKS)
  return true;
#else
  return false;
#endif
}

Simd widest_simd() {
  for (const Simd simd : {Simd::avx512, Simd::avx2})
    if (cpu_backend(simd) != nullptr) return simd;
  return Simd::baseline;
}

}  // namespace isocloth

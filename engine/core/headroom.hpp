// Whether memory is left for what does not survive where it ends.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace isocloth {

/// Whether the process may have so many bytes more (within `ulimit -v`; what a container allows only shows
/// when pages are used). They are not kept.
inline bool has_headroom(std::size_t bytes) {
  // Not by malloc, which would keep large blocks in its heap from then on.
  void* const room =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, bytes);
  return true;
}

/// Throws std::bad_alloc where they are not left.
inline void require_headroom(std::size_t bytes) {
  if (!has_headroom(bytes)) throw std::bad_alloc();
}

/// What must be left for a thread to begin: its stack, and what the system allocates in it for variables of
/// threads, where it ends the program if it cannot.
inline constexpr std::size_t thread_headroom = std::size_t{24} << 20;

}  // namespace isocloth

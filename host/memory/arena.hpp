// Memory of a device, asked for in few large pieces and dealt out in small ones.
#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "kernels/kernel_table.hpp"

namespace isocloth {

/// Deals out ranges of chunks that come from a backend: an allocation of the driver's costs as much as a step
/// of a batch, and waits for the device. A range that was released may be dealt out at once: whoever releases
/// it makes sure that no kernel uses it any more, or that the next user comes later in the same queue.
/// ISOCLOTH_ARENA=off in the environment makes every range an allocation of its own, so that memory checkers
/// (compute-sanitizer) see what is touched behind its end or after its release.
class Arena {
 public:
  static constexpr std::size_t alignment = 256;  ///< alignment of ranges [bytes], a cudaMalloc's

  /// Of the memory of one of the backend's devices.
  explicit Arena(const Memory& memory, int device = 0);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns a range of so many bytes (> 0), the smallest that fits; null when neither a free range nor the
  /// backend has them. O(number of free ranges).
  void* allocate(std::size_t bytes);
  /// Takes so many bytes (> 0) from the backend in one piece unless that much is free in one here: what is
  /// allocated of it next is sure to fit. False when the backend has less.
  bool reserve(std::size_t bytes);
  /// Releases a range by its pointer of allocate(). A chunk that is all free goes back, unless it is the
  /// last.
  void release(void* pointer);

  std::size_t largest_free() const;           ///< size of the largest free range [bytes]
  std::size_t used() const { return used_; }  ///< size of the ranges dealt out, roundings included [bytes]
  std::size_t reserved() const { return reserved_; }  ///< size of all chunks [bytes]
  std::size_t chunk_count() const { return chunks_.size(); }

 private:
  bool add_chunk(std::size_t bytes);

  const Memory memory_;
  const int device_;
  const bool is_off_;                         ///< every range is a chunk
  std::map<std::byte*, std::size_t> chunks_;  ///< size of each chunk [bytes]
  std::map<std::byte*, std::size_t> free_;    ///< size of each free range [bytes]; neighbours are merged
  std::unordered_map<std::byte*, std::size_t> taken_;  ///< size of each range that is dealt out [bytes]
  std::size_t used_ = 0, reserved_ = 0;
};

}  // namespace isocloth

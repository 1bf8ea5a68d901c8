#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "kernels/launch/launch.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth {

void EmulatedBlock::sync() const { static_cast<std::barrier<>*>(barrier_)->arrive_and_wait(); }

namespace detail {
namespace {

/// Memory of one thread that lives on between launches: fresh pages for every launch would cost more than
/// many a kernel.
class Scratch {
 public:
  static constexpr std::size_t alignment = 64;
  ~Scratch() { release(); }
  /// Null when there is no memory.
  char* at_least(std::size_t bytes) {
    if (bytes > size_ || data_ == nullptr) {
      release();
      data_ = static_cast<char*>(
          ::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{alignment}, std::nothrow));
      size_ = data_ != nullptr ? bytes : 0;
    }
    return data_;
  }

 private:
  void release() {
    if (data_ != nullptr) ::operator delete (data_, std::align_val_t{alignment});
    data_ = nullptr;
  }
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

thread_local Scratch thread_scratch;

/// Runs body(rank) on `size` threads at once.
template <class Body>
void concurrently(int size, const Body& body) {
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back([&body, rank] { body(rank); });
}

}  // namespace

void run_ranges(const Queue& queue, Index count, RangeCall call) {
  if (queue.emulated_block > 0) {
    const int size = queue.emulated_block;
    concurrently(size, [&](int rank) {
      for (Index i = rank; i < count; i += size) call.run(call.body, i, i + 1);
    });
  } else if (queue.pool) {
    queue.pool->run(count, least_range, [&](Index begin, Index end) { call.run(call.body, begin, end); });
  } else {
    call.run(call.body, 0, count);
  }
}

void run_blocks(const Queue& queue, Index count, BlockMemory memory, BlockCall call) {
  const std::size_t shared =
                        (memory.shared + Scratch::alignment - 1) / Scratch::alignment * Scratch::alignment,
                    bytes = shared + memory.workspace;
  if (queue.emulated_block > 0) {
    const int size = queue.emulated_block;
    char* const own = thread_scratch.at_least(bytes);
    if (own == nullptr) throw std::bad_alloc();
    std::barrier<> barrier(size);
    concurrently(size, [&](int rank) {
      const EmulatedBlock block(rank, size, own, own + shared, &barrier);
      for (Index i = 0; i < count; ++i) {
        if (rank == 0 && bytes > 0) std::memset(own, 0xFF, bytes);  // NaN: a read before a write shows
        block.sync();
        call.run_emulated(call.body, block, i);
        block.sync();
      }
    });
    return;
  }
  std::atomic<bool> out_of_memory = false;  // workers must not throw
  auto range = [&](Index begin, Index end) {
    char* const own = thread_scratch.at_least(bytes);
    if (own == nullptr) {
      out_of_memory = true;
      return;
    }
    const SoloBlock block(own, own + shared);
    for (Index i = begin; i < end; ++i) call.run(call.body, block, i);
  };
  if (queue.pool)
    queue.pool->run(count, 1, range);
  else
    range(0, count);
  if (out_of_memory) throw std::bad_alloc();
}

}  // namespace detail
}  // namespace isocloth

// Pieces of work of different size on the threads of a pool.
#pragma once

#include <algorithm>
#include <exception>
#include <vector>

#include "kernels/launch/thread_pool.hpp"

namespace isocloth {

/// Threads that a cloth of so many nodes has work for, kernel by kernel: a few ranges each, or they wait for
/// each other most of the time.
constexpr std::size_t threads_for(std::size_t nodes) {
  constexpr std::size_t ranges = 4;
  return 1 + nodes / (ranges * least_range);
}

/// Calls work(i) for each piece i. Pieces that cannot fill the pool are done side by side, each with all that
/// it launches on one thread, where that ends sooner than one after the other; the rest in turn, each on all
/// threads. widths: threads that each has work for, taken as the measure of its work. Whatever pieces throw,
/// all are done, then the first that threw is heard. A piece must not depend on another.
template <class Work>
void side_by_side(ThreadPool* pool, const std::vector<std::size_t>& widths, const Work& work) {
  const std::size_t size = pool != nullptr ? static_cast<std::size_t>(pool->size()) : 1;
  std::vector<std::size_t> narrow, others;
  std::size_t sum = 0, widest = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    (widths[i] < size ? narrow : others).push_back(i);
    if (widths[i] >= size) continue;
    sum += widths[i];
    widest = std::max(widest, widths[i]);
  }
  if (narrow.size() * size < std::max(sum, widest * size)) {
    others.insert(others.end(), narrow.begin(), narrow.end());
    std::sort(others.begin(), others.end());
    narrow.clear();
  }
  std::vector<std::exception_ptr> errors(widths.size());
  const auto call = [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  if (!narrow.empty())
    pool->run(static_cast<Index>(narrow.size()), 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) call(narrow[static_cast<std::size_t>(i)]);
    });
  for (const std::size_t i : others) call(i);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace isocloth

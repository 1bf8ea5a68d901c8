#include "host/memory/arena.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace isocloth {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
/// Chunks double what there is, within these bounds.
constexpr std::size_t least_chunk = 4 * mebibyte, most_chunk = 256 * mebibyte;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

bool is_switched_off() {
  const char* arena = std::getenv("ISOCLOTH_ARENA");
  return arena != nullptr && std::string_view(arena) == "off";
}

}  // namespace

Arena::Arena(const Memory& memory, int device)
    : memory_(memory), device_(device), is_off_(is_switched_off()) {}

Arena::~Arena() {
  for (const auto& [begin, size] : chunks_) memory_.release(device_, begin);
}

bool Arena::add_chunk(std::size_t bytes) {
  void* pointer = nullptr;
  if (!memory_.allocate(device_, bytes, &pointer)) return false;
  const auto begin = static_cast<std::byte*>(pointer);
  chunks_.emplace(begin, bytes);
  free_.emplace(begin, bytes);
  reserved_ += bytes;
  return true;
}

bool Arena::reserve(std::size_t bytes) {
  if (is_off_) return true;
  const std::size_t size = rounded(bytes, alignment);
  return size >= bytes && (largest_free() >= size || add_chunk(size));
}

std::size_t Arena::largest_free() const {
  std::size_t largest = 0;
  for (const auto& range : free_) largest = std::max(largest, range.second);
  return largest;
}

void* Arena::allocate(std::size_t bytes) {
  const std::size_t size = is_off_ ? bytes : rounded(bytes, alignment);
  if (size < bytes) return nullptr;  // overflow
  auto smallest = [&] {
    auto best = free_.end();
    for (auto range = free_.begin(); range != free_.end(); ++range)
      if (range->second >= size && (best == free_.end() || range->second < best->second)) best = range;
    return best;
  };
  auto range = smallest();
  if (range == free_.end()) {
    const std::size_t wanted =
        is_off_ ? size : std::max(size, std::clamp(reserved_, least_chunk, most_chunk));
    if (!add_chunk(wanted) && !(wanted > size && add_chunk(size))) return nullptr;
    range = smallest();
  }
  std::byte* const begin = range->first;
  const std::size_t rest = range->second - size;
  free_.erase(range);
  if (rest > 0) free_.emplace(begin + size, rest);
  taken_.emplace(begin, size);
  used_ += size;
  return begin;
}

void Arena::release(void* pointer) {
  const auto taken = taken_.find(static_cast<std::byte*>(pointer));
  if (taken == taken_.end()) return;
  std::byte* begin = taken->first;
  std::size_t size = taken->second;
  taken_.erase(taken);
  used_ -= size;
  const auto chunk = std::prev(chunks_.upper_bound(begin));
  const auto next = free_.lower_bound(begin);
  // Neighbours of another chunk that happens to lie beside this one are none.
  if (next != free_.end() && next->first == begin + size && chunks_.find(next->first) == chunks_.end()) {
    size += next->second;
    free_.erase(next);
  }
  const auto after = free_.lower_bound(begin);
  if (after != free_.begin() && begin != chunk->first) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      free_.erase(before);
    }
  }
  if (size == chunk->second && (is_off_ || chunks_.size() > 1)) {
    memory_.release(device_, begin);
    reserved_ -= size;
    chunks_.erase(chunk);
  } else {
    free_.emplace(begin, size);
  }
}

}  // namespace isocloth

#include "tests/support/device_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace isocloth {
namespace {

/// Boundaries of pages that the system can merge into one, so that opening and closing costs little.
constexpr std::size_t large_page = std::size_t{2} << 20;

struct Range {
  std::size_t bytes;   ///< asked for
  void* mapped;        ///< of the mapping that holds it
  std::size_t length;  ///< of the mapping
  std::size_t open;    ///< bytes from the pointer on that are opened and closed, whole pages
};

std::mutex mutex;
std::map<void*, Range> ranges;
std::size_t used = 0;
/// Where libraries of the host stand in for those of a device, it stays open.
int accesses = std::getenv("ISOCLOTH_TEST_DEVICE_OPEN") != nullptr ? 1 : 0;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

void protect(void* pointer, const Range& range, int protection) {
  if (mprotect(pointer, range.open, protection) == 0) return;
  std::perror("test device: memory cannot be opened or closed");
  std::abort();
}

}  // namespace

DeviceAccess::DeviceAccess() {
  const std::lock_guard lock(mutex);
  if (accesses++ > 0) return;
  for (const auto& [pointer, range] : ranges) protect(pointer, range, PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
  const std::lock_guard lock(mutex);
  if (--accesses > 0) return;
  for (const auto& [pointer, range] : ranges) protect(pointer, range, PROT_NONE);
}

void* allocate_device_memory(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  Range range{.bytes = bytes, .mapped = nullptr, .length = 0, .open = 0};
  range.open = rounded(std::max<std::size_t>(bytes, 1), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  range.length = rounded(range.open, large_page) + 2 * large_page;  // room to align, and a closed end
  range.mapped = mmap(nullptr, range.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range.mapped == MAP_FAILED) return nullptr;
  void* pointer = range.mapped;
  std::size_t space = range.length;
  std::align(large_page, range.open, pointer, space);
  madvise(pointer, range.open, MADV_HUGEPAGE);
  protect(pointer, range, PROT_READ | PROT_WRITE);
  std::memset(pointer, 0xFF, range.open);
  if (accesses == 0) protect(pointer, range, PROT_NONE);
  ranges.emplace(pointer, range);
  used += bytes;
  return pointer;
}

void release_device_memory(void* pointer) {
  const std::lock_guard lock(mutex);
  const auto found = ranges.find(pointer);
  if (found == ranges.end()) {
    std::fprintf(stderr, "test device: released what was not allocated\n");
    std::abort();
  }
  const Range range = found->second;
  munmap(range.mapped, range.length);
  ranges.erase(found);
  used -= range.bytes;
}

std::size_t used_device_memory() {
  const std::lock_guard lock(mutex);
  return used;
}

}  // namespace isocloth

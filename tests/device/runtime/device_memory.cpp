#include "tests/device/runtime/device_memory.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "tests/device/runtime/launch.hpp"
#include "tests/device/runtime/streams.hpp"

namespace isocloth::software {

const char* running_kernel();

namespace {

/// Boundaries of pages that the system can merge into one, so that opening and closing costs little.
constexpr std::size_t large_page = std::size_t{2} << 20;

struct Range {
  std::size_t bytes;  ///< asked for
  void* pages;        ///< what is opened and closed
  std::size_t open;   ///< its size [bytes]
  int device;
};

std::mutex memory_mutex;
std::map<const void*, Range> ranges;  ///< by the pointer that was given out
std::array<std::size_t, device_count> used{};
std::uintptr_t next_address = first_device_address;
/// Where libraries of the host stand in for those of a device, it stays open.
const int always = is_set("ISOCLOTH_TEST_DEVICE_OPEN") ? 1 : 0;
std::array<int, device_count> accesses{always, always};

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

void protect(const Range& range, int protection) {
  if (mprotect(range.pages, range.open, protection) != 0)
    fail("memory of the device cannot be opened or closed");
}

void protect_all(int device, int protection) {
  for (const auto& [pointer, range] : ranges)
    if (range.device == device) protect(range, protection);
}

/// Says who touched what before the process ends as it would have.
void explain(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const char* const kernel = running_kernel();
  char text[600];
  const int length =
      std::snprintf(text, sizeof text, "software device: %s touches %s, at %p%s%.400s\n",
                    kernel != nullptr ? "a kernel" : "the host",
                    address >= first_device_address && address < end_of_device_addresses
                        ? (kernel != nullptr ? "memory behind an array, released or of another device"
                                             : "memory of the device")
                        : "memory that it may not",
                    info->si_addr, kernel != nullptr ? ", in " : "", kernel != nullptr ? kernel : "");
  if (length > 0 && write(2, text, static_cast<std::size_t>(length)) < 0) _exit(1);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

struct Explainer {
  Explainer() {
    struct sigaction action = {};
    action.sa_sigaction = explain;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
  }
};
const Explainer explainer;

}  // namespace

DeviceAccess::DeviceAccess(int device) : device_(device) {
  const std::lock_guard lock(memory_mutex);
  if (accesses[device_]++ == 0) protect_all(device_, PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
  const std::lock_guard lock(memory_mutex);
  if (--accesses[device_] == 0) protect_all(device_, PROT_NONE);
}

void* allocate_device_memory(int device, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex);
  const std::size_t kept = rounded(std::max<std::size_t>(bytes, 1), 16);
  Range range{.bytes = bytes, .pages = nullptr, .open = 0, .device = device};
  range.open = rounded(kept, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  range.pages = mmap(reinterpret_cast<void*>(next_address), range.open, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (range.pages == MAP_FAILED) return nullptr;
  // Addresses are never given out again, so that what was released stays closed.
  next_address += rounded(range.open, large_page) + large_page;
  madvise(range.pages, range.open, MADV_HUGEPAGE);
  protect(range, PROT_READ | PROT_WRITE);
  static const int fresh = std::getenv("ISOCLOTH_TEST_DEVICE_SKIP") != nullptr ? 0 : 0xFF;
  std::memset(range.pages, fresh, range.open);
  if (accesses[device] == 0) protect(range, PROT_NONE);
  void* const pointer = static_cast<char*>(range.pages) + (range.open - kept);
  ranges.emplace(pointer, range);
  used[device] += bytes;
  return pointer;
}

void release_device_memory(void* pointer) {
  const std::lock_guard lock(memory_mutex);
  const auto found = ranges.find(pointer);
  if (found == ranges.end()) fail("released what was not allocated");
  munmap(found->second.pages, found->second.open);
  used[found->second.device] -= found->second.bytes;
  ranges.erase(found);
}

std::size_t used_device_memory(int device) {
  const std::lock_guard lock(memory_mutex);
  return used[device];
}

int device_of_memory(const void* pointer, std::size_t bytes) {
  const std::lock_guard lock(memory_mutex);
  const auto behind = ranges.upper_bound(pointer);
  if (behind == ranges.begin()) return -1;
  const auto& [begin, range] = *std::prev(behind);
  const bool is_within =
      static_cast<const char*>(pointer) + bytes <= static_cast<const char*>(begin) + range.bytes;
  return is_within ? range.device : -1;
}

}  // namespace isocloth::software

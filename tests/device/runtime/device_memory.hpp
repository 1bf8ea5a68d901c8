// Memory of the software device: pages that its kernels and copies alone may touch.
//
// A CPU would read the memory of a device as well as its own, and a host that does so shows only on a GPU,
// as a crash. Here these pages are closed (PROT_NONE) but while a kernel of their device runs or a copy is
// made there: a host that reads or writes them itself dies of SIGSEGV, in a debugger at the very line. What
// to do about it: read by Buffer::read() or download(), or keep the number that is needed on the host. An
// array ends where its last page does, up to 15 bytes; the page behind it and all of one that was released
// are closed for kernels, too. Most arrays are parts of an allocation (host/memory/arena.hpp):
// ISOCLOTH_ARENA=off gives each its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isocloth::software {

/// Addresses that nothing else of a process has.
constexpr std::uintptr_t first_device_address = 0x200000000000, end_of_device_addresses = 0x300000000000;
inline bool is_device_address(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return address >= first_device_address && address < end_of_device_addresses;
}

/// The memory of one device is open for the process as long as any of these lives. Threads may hold several
/// at once; while one does, others could read, too.
class DeviceAccess {
 public:
  explicit DeviceAccess(int device);
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;

 private:
  const int device_;
};

/// Pages of their own, NaN throughout; null: no memory.
void* allocate_device_memory(int device, std::size_t bytes);
void release_device_memory(void* pointer);
/// Bytes of all that is allocated on a device.
std::size_t used_device_memory(int device);
/// The device in one of whose allocations so many bytes lie; -1: none.
int device_of_memory(const void* pointer, std::size_t bytes);

}  // namespace isocloth::software

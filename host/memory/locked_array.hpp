// Memory of the host that a device copies to and from while nobody waits.
#pragma once

#include <utility>

#include "host/memory/buffer.hpp"

namespace isocloth {

/// An array of plain values, locked in the host's memory (pinned), of a device whose memory is its own. The
/// device must outlive it, and no queue may copy to or from it when it goes.
template <class T>
class LockedArray {
 public:
  LockedArray() = default;
  /// Values are not initialised. Throws DeviceError where so much memory cannot be locked.
  LockedArray(const Device& device, std::size_t size)
      : memory_(&device.backend().memory), device_(device.queue().device), size_(size) {
    void* pointer = nullptr;
    if (size > 0) device.check(memory_->allocate_locked(device_, size * sizeof(T), &pointer));
    data_ = static_cast<T*>(pointer);
  }
  LockedArray(LockedArray&& other) noexcept { swap(other); }
  LockedArray& operator=(LockedArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~LockedArray() {
    if (data_ != nullptr) memory_->release_locked(device_, data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void swap(LockedArray& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  const Memory* memory_ = nullptr;
  int device_ = 0;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Begins to copy the first values of a locked array to those of a buffer, in the order of `queue`; the array
/// stays as it is until the queue was waited for.
template <class T>
void begin_upload(const Device& device, const Queue& queue, const LockedArray<T>& from, std::size_t count,
                  Buffer<T>& to) {
  if (count > 0)
    device.check(
        device.backend().memory.begin_upload(queue, to.view().data(), from.data(), count * sizeof(T)));
}
/// Begins to copy the first values of a buffer to those of a locked array, in which they are when the queue
/// was waited for.
template <class T>
void begin_download(const Device& device, const Queue& queue, const Buffer<T>& from, std::size_t count,
                    LockedArray<T>& to) {
  if (count > 0)
    device.check(
        device.backend().memory.begin_download(queue, to.data(), from.view().data(), count * sizeof(T)));
}

}  // namespace isocloth

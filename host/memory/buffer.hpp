// Arrays in a backend's memory.
#pragma once

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/errors.hpp"
#include "host/memory/device.hpp"

namespace isocloth {

/// Owns an array of plain values where the kernels of a device can reach it. The device must outlive it.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Device& device, std::size_t size) : Buffer(device, std::vector<T>(size)) {}
  /// A copy of `values`. Throws DeviceError when memory runs out.
  Buffer(const Device& device, const std::vector<T>& values)
      : device_(&device),
        data_(values.empty() ? nullptr : static_cast<T*>(device.allocate(values.size() * sizeof(T)))),
        size_(values.size()) {
    try {
      upload(values);
    } catch (...) {
      if (data_ != nullptr) device_->release(data_);
      throw;
    }
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) device_->release(data_);
  }

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  ArrayView<T> view() { return {data_, size_}; }
  ArrayView<const T> view() const { return {data_, size_}; }

  void upload(const std::vector<T>& values) {
    if (values.size() != size_)
      throw ShapeError("array: found " + std::to_string(values.size()) + " values, expected " +
                       std::to_string(size_));
    upload(values.data());
  }
  void upload(const T* values) {
    if (size_ > 0) device_->check(device_->backend().memory.upload(device_->queue(), data_, values, bytes()));
  }
  std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ > 0)
      device_->check(device_->backend().memory.download(device_->queue(), values.data(), data_, bytes()));
    return values;
  }

  /// Copies all values into a vector that has room already, mostly, as download() does.
  void copy_to(std::vector<T>& values) const {
    values.resize(size_);
    if (size_ > 0)
      device_->check(device_->backend().memory.download(device_->queue(), values.data(), data_, bytes()));
  }

  /// The values where the host can read them: in place, or copied into `staging`.
  const T* read(std::vector<T>& staging) const {
    if (size_ == 0 || device_->backend().memory.host_accessible) return data_;
    staging = download();
    return staging.data();
  }
  /// Values [begin, begin + count): in place, or copied into `staging`.
  const T* read(std::size_t begin, std::size_t count, std::vector<T>& staging) const {
    assert(begin <= size_ && count <= size_ - begin);
    if (count == 0 || device_->backend().memory.host_accessible) return data_ + begin;
    staging.resize(count);
    device_->check(device_->backend().memory.download(device_->queue(), staging.data(), data_ + begin,
                                                      count * sizeof(T)));
    return staging.data();
  }
  /// Lets the host change some of the values [begin, begin + count): edit(pointer to the first) in place, or
  /// in a copy that goes back.
  template <class Edit>
  void edit(std::size_t begin, std::size_t count, const Edit& change) {
    assert(begin <= size_ && count <= size_ - begin);
    if (count == 0) return;
    if (device_->backend().memory.host_accessible) {
      change(data_ + begin);
    } else {
      std::vector<T> values;
      read(begin, count, values);
      change(values.data());
      device_->check(device_->backend().memory.upload(device_->queue(), data_ + begin, values.data(),
                                                      count * sizeof(T)));
    }
  }
  /// Lets the host write the values [begin, begin + count): fill(pointer) in place, or into `staging`, which
  /// is then copied.
  template <class Fill>
  void write(std::size_t begin, std::size_t count, std::vector<T>& staging, const Fill& fill) {
    assert(begin <= size_ && count <= size_ - begin);
    if (count == 0 || device_->backend().memory.host_accessible) {
      fill(data_ + begin);
    } else {
      staging.resize(count);
      fill(staging.data());
      device_->check(device_->backend().memory.upload(device_->queue(), data_ + begin, staging.data(),
                                                      count * sizeof(T)));
    }
  }
  /// Lets the host write the first `count` values, as the other write().
  template <class Fill>
  void write(std::size_t count, std::vector<T>& staging, const Fill& fill) {
    write(0, count, staging, fill);
  }
  template <class Fill>
  void write(std::vector<T>& staging, const Fill& fill) {
    write(size_, staging, fill);
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  const Device* device_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace isocloth

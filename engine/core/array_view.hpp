// A pointer and a length that host and device code can both use (std::span needs compiler flags on CUDA).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/core/platform.hpp"

namespace isocloth {

using Index = std::int32_t;

template <class T>
class ArrayView {
 public:
  ArrayView() = default;
  ISOCLOTH_HD ArrayView(T* data, std::size_t size) : data_(data), size_(size) {}
  /// View of a whole vector; the vector must outlive the view.
  template <class U, class = std::enable_if_t<std::is_same_v<std::remove_const_t<T>, U>>>
  ArrayView(const std::vector<U>& v) : data_(v.data()), size_(v.size()) {}
  template <class U, class = std::enable_if_t<std::is_same_v<T, U>>>
  ArrayView(std::vector<U>& v) : data_(v.data()), size_(v.size()) {}
  /// A view to read from a view to write.
  template <class U, class = std::enable_if_t<std::is_same_v<T, const U>>>
  ISOCLOTH_HD ArrayView(const ArrayView<U>& other) : data_(other.data()), size_(other.size()) {}

  /// i < size(); checked in builds with assertions, as the ones with sanitizers are.
  ISOCLOTH_HD T& operator[](std::size_t i) const {
    assert(i < size_);
    ISOCLOTH_IN_DEVICE_MEMORY(data_) return data_[i];
  }
  ISOCLOTH_HD T* data() const { return data_; }
  ISOCLOTH_HD std::size_t size() const { return size_; }
  ISOCLOTH_HD bool empty() const { return size_ == 0; }
  ISOCLOTH_HD T* begin() const { return data_; }
  ISOCLOTH_HD T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Elements [begin, end), begin <= end <= all.size(); checked in builds with assertions.
template <class T>
ISOCLOTH_HD ArrayView<T> slice(ArrayView<T> all, std::size_t begin, std::size_t end) {
  assert(begin <= end && end <= all.size());
  return {all.data() + begin, end - begin};
}

}  // namespace isocloth

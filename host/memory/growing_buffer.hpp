// Buffers whose first values count, and which grow.
#pragma once

#include <algorithm>
#include <vector>

#include "host/memory/buffer.hpp"

namespace isocloth {

/// View of the first `count` values of a buffer.
template <class T>
auto first(Buffer<T>& buffer, std::size_t count) {
  return slice(buffer.view(), 0, count);
}
template <class T>
ArrayView<const T> first(const Buffer<T>& buffer, std::size_t count) {
  return slice(buffer.view(), 0, count);
}

/// Room for `size` values, whatever was in it before.
template <class T>
void reserve(const Device& device, std::size_t size, Buffer<T>& buffer) {
  if (buffer.size() < size) buffer = {device, size + size / 2};
}
template <class T>
void fill(const Device& device, const std::vector<T>& values, Buffer<T>& buffer) {
  reserve(device, values.size(), buffer);
  std::vector<T> staging;
  buffer.write(values.size(), staging, [&](T* to) { std::copy(values.begin(), values.end(), to); });
}

}  // namespace isocloth

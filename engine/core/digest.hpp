// One number for many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace isocloth {

/// FNV-1a, 64 bits, over what is put in, in order; sizes go in before arrays so that no two contents run
/// together.
class Digest {
 public:
  void add(std::string_view bytes) {
    add(static_cast<std::int64_t>(bytes.size()));
    add_bytes(bytes.data(), bytes.size());
  }
  void add(double value) { add_bytes(&value, sizeof value); }
  void add(std::int64_t value) { add_bytes(&value, sizeof value); }
  void add(std::span<const double> values) {
    add(static_cast<std::int64_t>(values.size()));
    add_bytes(values.data(), values.size_bytes());
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_bytes(const void* bytes, std::size_t size) {
    const auto* const begin = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ begin[i]) * 1099511628211u;
  }
  std::uint64_t value_ = 14695981039346656037u;
};

}  // namespace isocloth

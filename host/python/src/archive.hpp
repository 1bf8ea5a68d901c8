// Plain data as bytes, and back, for pickles: by this build and for it.
#pragma once

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/members.hpp"

namespace isocloth::python {

/// Calls visit(member) for every member of a struct, in their order.
template <class Struct, class Visit>
void for_each_part(Struct& value, const Visit& visit) {
  using Plain = std::remove_const_t<Struct>;
  if constexpr (Described<Plain>)
    for_each_field<Plain>([&](const char*, auto member) { visit(value.*member); });
  else
    std::apply([&](auto&... each) { (visit(each), ...); }, members(value));
}

/// Appends values to `bytes`.
class Writer {
 public:
  std::string bytes;

  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (requires { value.has_value(); }) {
      (*this)(value.has_value());
      if (value) (*this)(*value);
    } else if constexpr (requires { value.index(); }) {
      (*this)(value.index());
      std::visit(*this, value);
    } else if constexpr (requires { typename T::mapped_type; }) {
      (*this)(value.size());
      for (const auto& [key, each] : value) (*this)(key), (*this)(each);
    } else if constexpr (
        requires(T sizable) { sizable.resize(0); } || requires { typename T::key_type; }) {
      (*this)(value.size());
      for (const auto& each : value) (*this)(each);
    } else if constexpr (requires { value.begin(); }) {
      for (const auto& each : value) (*this)(each);
    } else {
      for_each_part(value, [this](const auto& part) { (*this)(part); });
    }
  }
};

/// Takes from `bytes` what a Writer put there. Throws FileError where they end too soon.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  bool is_at_end() const { return left_.empty(); }

  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      require(sizeof value);
      std::memcpy(&value, left_.data(), sizeof value);
      left_.remove_prefix(sizeof value);
    } else if constexpr (requires { value.has_value(); }) {
      value.reset();
      if (take<bool>()) (*this)(value.emplace());
    } else if constexpr (requires { value.index(); }) {
      emplace(value, take<std::size_t>(), std::make_index_sequence<std::variant_size_v<T>>());
      std::visit(*this, value);
    } else if constexpr (requires { typename T::key_type; }) {
      value.clear();
      for (auto left = take<std::size_t>(); left > 0; --left) {
        const auto key = take<typename T::key_type>();
        if constexpr (requires { typename T::mapped_type; })
          (*this)(value[key]);
        else
          value.insert(key);
      }
    } else if constexpr (requires { value.resize(0); }) {
      const auto size = take<std::size_t>();
      require(size);  // each takes a byte at least
      value.resize(size);
      for (auto& each : value) (*this)(each);
    } else if constexpr (requires { value.begin(); }) {
      for (auto& each : value) (*this)(each);
    } else {
      for_each_part(value, [this](auto& part) { (*this)(part); });
    }
  }
  template <class T>
  T take() {
    T value{};
    (*this)(value);
    return value;
  }

 private:
  void require(std::size_t count) const {
    if (left_.size() < count)
      throw FileError("pickle: found bytes that end too soon, expected those of this version of isocloth");
  }
  template <class Variant, std::size_t... i>
  void emplace(Variant& value, std::size_t index, std::index_sequence<i...>) {
    const bool is_one = ((index == i && (value.template emplace<i>(), true)) || ...);
    if (!is_one)
      throw FileError("pickle: found bytes of another kind, expected those of this version of isocloth");
  }
  std::string_view left_;
};

}  // namespace isocloth::python

// Numbers that are no value of their enumeration: a cast makes them, or memory that nobody set.
#pragma once

#include <cstddef>
#include <type_traits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

/// Checks a value of an enumeration whose values run from 0 to `last` without a gap. Throws Fault, "KEY:
/// found 7, expected a value of its enumeration, 0 to 2".
template <class Fault = SceneError, class Enum, class Key>
void require_enum(const Key& key, Enum value, Enum last) {
  static_assert(std::is_enum_v<Enum>);
  const auto found = static_cast<long long>(value), most = static_cast<long long>(last);
  if (found < 0 || found > most)
    throw Fault(text(key, ": found ", found, ", expected a value of its enumeration, 0 to ", most));
}

/// The name of a value, names[value].
template <class Enum, std::size_t count>
constexpr const char* enum_name(const char* const (&names)[count], Enum value) {
  const auto number = static_cast<std::size_t>(value);
  return number < count ? names[number] : "no value of its enumeration";
}

}  // namespace isocloth

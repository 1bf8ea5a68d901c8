// Structs that name their members once, for all that goes through every one of them: copies, files, checks.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "engine/core/text.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// A member and its name in files and messages.
template <class Struct, class Type>
struct Field {
  const char* name;
  Type Struct::*member;
  constexpr Field(const char* n, Type Struct::*m) : name(n), member(m) {}
};

/// A struct with `static constexpr auto fields()`, a tuple of the Field of every member.
template <class T>
concept Described = requires {
  T::fields();
};

/// What a member is initialised with when members are counted.
struct AnyValue {
  template <class T>
  operator T() const;
};
/// Members of an aggregate.
template <class Struct, class... Known>
constexpr std::size_t member_count() {
  if constexpr (requires { Struct{Known{}..., AnyValue{}}; })
    return member_count<Struct, Known..., AnyValue>();
  else
    return sizeof...(Known);
}

/// Calls visit(name, pointer to member) for every member; one that fields() leaves out does not compile.
template <Described Struct, class Visit>
constexpr void for_each_field(const Visit& visit) {
  constexpr auto all = Struct::fields();
  static_assert(std::tuple_size_v<decltype(all)> == member_count<Struct>(), "fields() leaves out a member");
  std::apply([&](const auto&... field) { (visit(field.name, field.member), ...); }, all);
}

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

/// Calls visit(number) for the number, or the few, that a value is.
template <class T, class Visit>
constexpr void for_each_number(T& value, const Visit& visit) {
  if constexpr (requires { value.z; }) {
    visit(value.x), visit(value.y), visit(value.z);
  } else if constexpr (requires { value.x; }) {
    visit(value.x), visit(value.y);
  } else if constexpr (requires { value.size(); }) {
    for (auto& each : value) for_each_number(each, visit);
  } else {
    visit(value);
  }
}

/// Where the first number is whose size is not at most `largest`, and what: ".positions[5] = nan"; none.
template <class T>
std::optional<std::string> find_beyond(const T& value, double largest) {
  std::optional<std::string> found;
  if constexpr (Described<T>) {
    for_each_field<T>([&](const char* name, auto member) {
      if (found) return;
      found = find_beyond(value.*member, largest);
      if (found) found = text(".", name, *found);
    });
  } else if constexpr (is_vector<T>) {
    for (std::size_t i = 0; i < value.size() && !found; ++i) {
      found = find_beyond(value[i], largest);
      if (found) found = text("[", i, "]", *found);
    }
  } else if constexpr (!std::is_enum_v<T>) {
    for_each_number(value, [&](auto number) {
      if (!found && !(std::abs(static_cast<double>(number)) <= largest)) found = text(" = ", number);
    });
  }
  return found;
}

}  // namespace isocloth

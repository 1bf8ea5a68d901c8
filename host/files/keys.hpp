// The keys of a JSON file, described once: the same description reads a file and prints its schema, so that
// the two cannot drift apart.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/range.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

enum class Need { optional, required };
inline constexpr Need required = Need::required;

/// Where a description goes: a reader or a schema. A value passed in is the default and receives what is
/// read. `doc` says what the key means, with its unit in brackets.
class Keys {
 public:
  using Text = const std::string&;
  using Describe = std::function<void(Keys&)>;
  /// One form of an object: the one that has `key`; with the word `value` there, unless that is empty (then
  /// `describe` describes `key` too).
  struct Alternative {
    std::string key, value, doc;
    Describe describe;
  };

  virtual ~Keys() = default;
  virtual void number(Text name, double& value, const Range& range, Text doc, Need need = Need::optional) = 0;
  /// A number that has no default of its own.
  virtual void number(Text name, std::optional<double>& value, const Range& range, Text doc) = 0;
  /// Exactly values.size() numbers.
  virtual void tuple(Text name, std::span<double> values, const Range& range, Text doc, Need need) = 0;
  /// Any number of numbers.
  virtual void list(Text name, std::vector<double>& values, const Range& range, Text doc, Need need) = 0;
  /// Any number of [x, y, z].
  virtual void vectors(Text name, std::vector<Vec3d>& values, Text doc, Need need) = 0;
  /// Any number of [x, y].
  virtual void points(Text name, std::vector<Vec2d>& values, Text doc, Need need) = 0;
  virtual void string(Text name, std::string& value, Text doc, Need need = Need::optional) = 0;
  /// The index of one of `words`.
  virtual void string_index(Text name, std::size_t& index, const std::vector<std::string>& words,
                            Text doc) = 0;
  virtual void flag(Text name, bool& value, Text doc, Need need = Need::optional) = 0;
  virtual void object(Text name, Text doc, Need need, const Describe& describe) = 0;
  /// A list of at least `least_count` objects; `describe` is called with the index of each.
  virtual void objects(Text name, Text doc, std::size_t least_count,
                       const std::function<void(Keys&, std::size_t)>& describe) = 0;
  virtual void one_of(Text name, Text doc, Need need, const std::vector<Alternative>& alternatives) = 0;
  /// An object whose keys are free; `describe` describes one key of it, under the name that it is called
  /// with.
  virtual void members(Text name, Text doc, const std::function<void(Keys&, Text)>& describe) = 0;

  void vector(Text name, Vec3d& value, Text doc, Need need = Need::optional) {
    std::array<double, 3> xyz{value.x, value.y, value.z};
    tuple(name, xyz, any_number, doc, need);
    value = {xyz[0], xyz[1], xyz[2]};
  }
  /// `range` must lie within that of Integer.
  template <class Integer>
  void integer(Text name, Integer& value, const Range& range, Text doc, Need need = Need::optional) {
    auto number_value = static_cast<double>(value);
    number(name, number_value, range, doc, need);
    value = static_cast<Integer>(number_value);
  }
  /// An enumeration whose values are 0, 1, ... in the order of `words`.
  template <class Enum>
  void choice(Text name, Enum& value, const std::vector<std::string>& words, Text doc) {
    auto index = static_cast<std::size_t>(value);
    string_index(name, index, words, doc);
    value = static_cast<Enum>(index);
  }
};

/// JSON Schema (draft 2020-12) of a description, indented.
std::string schema_of(const std::string& title, const Keys::Describe& describe);

}  // namespace isocloth

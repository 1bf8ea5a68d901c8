// The numbers that a key of a file, or an argument, accepts.
#pragma once

#include <limits>
#include <string>

namespace isocloth {

/// An interval of finite numbers.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false;  ///< greater than `least`, not equal
  bool whole = false;  ///< integers only

  bool contains(double value) const;
};
inline constexpr Range any_number{};
inline constexpr Range positive{.least = 0, .above = true};
inline constexpr Range not_negative{.least = 0};
constexpr Range whole(double least, double most = std::numeric_limits<double>::infinity()) {
  return {.least = least, .most = most, .whole = true};
}

/// The range in words, e.g. "a number > 0", with the fewest digits that tell its ends.
std::string to_string(const Range& range);

}  // namespace isocloth

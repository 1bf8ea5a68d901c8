// A number beyond its bound in a message: the two never read alike, and what is said of the bound holds.
#pragma once

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "engine/core/text.hpp"

namespace isocloth {

/// The number with `digits` significant digits, as text() writes it.
inline std::string in_digits(double value, int digits) {
  std::ostringstream line;
  line.precision(digits);
  line << value;
  return line.str();
}

/// The number with `digits` significant digits, rounded down or up: a bound from above that is printed so is
/// one that passes.
inline std::string rounded_to_side(double value, bool up, int digits) {
  const std::string nearest = in_digits(value, digits);
  const double read = std::strtod(nearest.c_str(), nullptr);
  if (!std::isfinite(value) || (up ? read >= value : read <= value)) return nearest;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - digits + 1);
  const std::string beside = in_digits(read + (up ? unit : -unit), digits);
  const double there = std::strtod(beside.c_str(), nullptr);
  return (up ? there >= value : there <= value) ? beside : in_digits(value, 17);
}

struct ToldApart {
  std::string found, bound;
};

/// Both with `digits` significant digits, the bound rounded to the side that passes, what was found with as
/// many more as keep it beyond the bound that is printed. is_measure: the bound is nothing to choose; it is
/// rounded as every number where that tells the two apart.
inline ToldApart told_apart(double found, double bound, int digits, bool is_measure = false) {
  const bool is_above = found > bound;
  ToldApart told{in_digits(found, digits), in_digits(bound, digits)};
  const double nearest = std::strtod(told.bound.c_str(), nullptr);
  const double told_found = std::strtod(told.found.c_str(), nullptr);
  if (is_measure && (is_above ? told_found > nearest : told_found < nearest)) return told;
  told.bound = rounded_to_side(bound, !is_above, digits);
  if (!is_above && !(found < bound)) return told;
  const double printed = std::strtod(told.bound.c_str(), nullptr);
  for (int more = digits; more <= 17; ++more) {
    told.found = in_digits(found, more);
    const double read = std::strtod(told.found.c_str(), nullptr);
    if (is_above ? read > printed : read < printed) break;
  }
  return told;
}

/// "found 0.0003 m, expected at most 0.0002 m"; `digits` of both, or more where they would read alike.
inline std::string found_above(double found, double bound, const char* unit = "", int digits = 9) {
  const ToldApart told = told_apart(found, bound, digits);
  return text("found ", told.found, unit, ", expected at most ", told.bound, unit);
}
/// "found 1 m, expected at least 2 m"
inline std::string found_below(double found, double bound, const char* unit = "", int digits = 9) {
  const ToldApart told = told_apart(found, bound, digits);
  return text("found ", told.found, unit, ", expected at least ", told.bound, unit);
}

}  // namespace isocloth

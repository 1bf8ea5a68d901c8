// Refusals of values in scenes: SceneError "KEY: found FOUND, expected EXPECTED".
#pragma once

#include <string>
#include <vector>

#include "engine/core/bound_text.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

template <class Found>
[[noreturn]] void refuse(const std::string& key, const Found& found, const std::string& expected) {
  throw SceneError(text(key, ": found ", found, ", expected ", expected));
}

/// KEY: found FOUND, expected at most MOST REST; or at least.
[[noreturn]] inline void refuse_above(const std::string& key, double found, double most,
                                      const std::string& rest = {}) {
  throw SceneError(text(key, ": ", found_above(found, most), rest));
}
[[noreturn]] inline void refuse_below(const std::string& key, double found, double least,
                                      const std::string& rest = {}) {
  throw SceneError(text(key, ": ", found_below(found, least), rest));
}

void require_positive(const std::string& key, double value);
void require_not_negative(const std::string& key, double value);
void require_finite(const std::string& key, double value);
void require_finite(const std::string& key, const Vec3d& vector);
void require_finite(const std::string& key, const std::vector<Vec3d>& vectors);

/// Two durations are whole multiples of each other up to this relative rounding of the scene file.
inline constexpr double whole_tolerance = 1e-6;

/// Places and lengths in scenes reach so far [m]: a double still tells 0.1 um apart there.
inline constexpr double farthest = 1e9;
/// Each coordinate at most `farthest` from 0.
void require_position(const std::string& key, const Vec3d& vector);
void require_position(const std::string& key, const std::vector<Vec3d>& vectors);
/// Greater than 0, at most `farthest`.
void require_length(const std::string& key, double value);
void require_size(const std::string& key, std::size_t found, std::size_t expected, const char* of_what);
/// Requires at least one time, all finite, each above the one before it.
void require_ascending(const std::string& key, const std::vector<double>& times);

}  // namespace isocloth

#include "engine/core/checks.hpp"

#include <cmath>

namespace isocloth {

void require_positive(const std::string& key, double value) {
  if (!(value > 0) || !std::isfinite(value)) refuse(key, value, "a number > 0");
}

void require_not_negative(const std::string& key, double value) {
  if (!(value >= 0) || !std::isfinite(value)) refuse(key, value, "a number >= 0");
}

void require_finite(const std::string& key, double value) {
  if (!std::isfinite(value)) refuse(key, value, "a finite number");
}

void require_finite(const std::string& key, const Vec3d& vector) {
  for (const double x : {vector.x, vector.y, vector.z})
    if (!std::isfinite(x)) refuse(key, x, "three finite numbers");
}

void require_finite(const std::string& key, const std::vector<Vec3d>& vectors) {
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const Vec3d& v = vectors[i];
    if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z))
      require_finite(text(key, "[", i, "]"), v);
  }
}

void require_position(const std::string& key, const Vec3d& vector) {
  for (const double x : {vector.x, vector.y, vector.z})
    if (!(std::abs(x) <= farthest * (1 + 1e-6)))
      refuse(key, text(x < 0 ? "-" : "", told_apart(std::abs(x), farthest, 9).found),
             text("at most ", farthest, " m from the origin"));
}

void require_position(const std::string& key, const std::vector<Vec3d>& vectors) {
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const Vec3d& v = vectors[i];
    if (!(std::abs(v.x) <= farthest && std::abs(v.y) <= farthest && std::abs(v.z) <= farthest))
      require_position(text(key, "[", i, "]"), v);
  }
}

void require_length(const std::string& key, double value) {
  require_positive(key, value);
  if (value > farthest * (1 + 1e-6)) refuse_above(key, value, farthest, " m");
}

void require_size(const std::string& key, std::size_t found, std::size_t expected, const char* of_what) {
  if (found != expected) {
    refuse(key, text(found, " vectors"), text(expected, ", one per ", of_what));
  }
}

void require_ascending(const std::string& key, const std::vector<double>& times) {
  if (times.empty()) refuse(key, "no times", "at least one");
  for (std::size_t i = 0; i < times.size(); ++i) {
    require_finite(text(key, "[", i, "]"), times[i]);
    if (i > 0 && !(times[i] > times[i - 1])) {
      refuse(text(key, "[", i, "]"), times[i], text("more than the time before it, ", times[i - 1]));
    }
  }
}

}  // namespace isocloth

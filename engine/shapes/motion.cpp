#include "engine/shapes/motion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "engine/core/checks.hpp"

namespace isocloth {
namespace {

/// Interpolation between two samples: value = (1 - weight) value[low] + weight value[high].
struct Interpolation {
  std::size_t low, high;
  double weight;
};

/// Where t lies among ascending times; the first or last sample outside of them.
Interpolation locate(const std::vector<double>& times, double t) {
  const auto after =
      static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), t) - times.begin());
  if (after == 0) return {0, 0, 0};
  if (after == times.size()) return {after - 1, after - 1, 0};
  return {after - 1, after, (t - times[after - 1]) / (times[after] - times[after - 1])};
}

Vec3d mix(const Vec3d& low, const Vec3d& high, double weight) {
  // Exact where nothing moves: (1 - w) a + w a need not be a.
  return low + weight * (high - low);
}

/// The keys' value between them; zero without keys.
Vec3d key_value(const std::vector<Vec3d>& keys, const Interpolation& at) {
  return keys.empty() ? Vec3d{} : mix(keys[at.low], keys[at.high], at.weight);
}

}  // namespace

Vec3d keyframe_rotation(const KeyframeMotion& motion, double t) {
  return key_value(motion.rotations, locate(motion.times, t));
}

Vec3d evaluate_motion(const OscillationMotion& motion, const Vec3d& start, double t) {
  const double s = std::clamp(t - motion.start, 0.0, motion.duration);
  return start + (std::cos(2 * std::numbers::pi * motion.frequency * s) - 1) * motion.amplitude;
}

Vec3d evaluate_motion(const KeyframeMotion& motion, const Vec3d& start, double t) {
  const Interpolation at = locate(motion.times, t);
  const Vec3d moved = start + key_value(motion.translations, at);
  const Vec3d rotation = key_value(motion.rotations, at);
  if (rotation == Vec3d{}) return moved;
  const Vec3d arm = start - motion.center;
  return moved + (rotated(rotation, arm) - arm);
}

Vec3d evaluate_motion(const Motion& motion, const Vec3d& start, std::size_t node_index, double t) {
  const auto evaluate = [&](const auto& kind) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(kind)>, RecordedMotion>) {
      const Interpolation at = locate(kind.times, t);
      const std::size_t node_count = kind.positions.size() / kind.times.size();
      return mix(kind.positions[at.low * node_count + node_index],
                 kind.positions[at.high * node_count + node_index], at.weight);
    } else {
      return evaluate_motion(kind, start, t);
    }
  };
  return std::visit(evaluate, motion);
}

void check_motion(const std::string& key, const OscillationMotion& motion) {
  require_finite(key + ".amplitude", motion.amplitude);
  require_positive(key + ".frequency", motion.frequency);
  require_finite(key + ".start", motion.start);
  require_positive(key + ".duration", motion.duration);
}

void check_motion(const std::string& key, const KeyframeMotion& motion) {
  require_ascending(key + ".times", motion.times);
  if (!motion.translations.empty()) {
    require_size(key + ".translations", motion.translations.size(), motion.times.size(), "time");
  }
  if (!motion.rotations.empty()) {
    require_size(key + ".rotations", motion.rotations.size(), motion.times.size(), "time");
  }
  require_finite(key + ".translations", motion.translations);
  require_finite(key + ".rotations", motion.rotations);
  require_finite(key + ".center", motion.center);
}

void check_bounded_motion(const std::string& key, const OscillationMotion& motion) {
  check_motion(key, motion);
  require_position(key + ".amplitude", motion.amplitude);
}

void check_bounded_motion(const std::string& key, const KeyframeMotion& motion) {
  check_motion(key, motion);
  require_position(key + ".translations", motion.translations);
  require_position(key + ".center", motion.center);
}

}  // namespace isocloth

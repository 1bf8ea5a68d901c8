#include "engine/model/motion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace isocloth {
namespace {

/// A place between two samples: value = (1 - weight) value[low] + weight value[high].
struct Place {
  std::size_t low, high;
  double weight;
};

/// Where t lies among ascending times; the first or last sample outside of them.
Place locate(const std::vector<double>& times, double t) {
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

/// v turned by the rotation vector r (Rodrigues).
Vec3d rotated(Vec3d r, Vec3d v) {
  const double angle = norm(r);
  if (angle == 0) return v;
  const Vec3d axis = (1 / angle) * r;
  return std::cos(angle) * v + std::sin(angle) * cross(axis, v) + (1 - std::cos(angle)) * dot(axis, v) * axis;
}

struct Evaluate {
  const Vec3d& start;
  std::size_t node_index;
  double t;

  Vec3d operator()(const FixedMotion&) const { return start; }

  Vec3d operator()(const OscillationMotion& motion) const {
    const double s = std::clamp(t - motion.start, 0.0, motion.duration);
    return start + (std::cos(2 * std::numbers::pi * motion.frequency * s) - 1) * motion.amplitude;
  }

  Vec3d operator()(const KeyframeMotion& motion) const {
    const Place place = locate(motion.times, t);
    const auto value = [&](const std::vector<Vec3d>& keys) {
      return keys.empty() ? Vec3d{} : mix(keys[place.low], keys[place.high], place.weight);
    };
    const Vec3d moved = start + value(motion.translations);
    const Vec3d rotation = value(motion.rotations);
    if (rotation == Vec3d{}) return moved;
    const Vec3d arm = start - motion.center;
    return moved + (rotated(rotation, arm) - arm);
  }

  Vec3d operator()(const RecordedMotion& motion) const {
    const Place place = locate(motion.times, t);
    const std::size_t node_count = motion.positions.size() / motion.times.size();
    return mix(motion.positions[place.low * node_count + node_index],
               motion.positions[place.high * node_count + node_index], place.weight);
  }
};

}  // namespace

Vec3d evaluate_motion(const Motion& motion, const Vec3d& start, std::size_t node_index, double t) {
  return std::visit(Evaluate{start, node_index, t}, motion);
}

}  // namespace isocloth

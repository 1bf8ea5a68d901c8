// Where prescribed motions lead: written once, for the host and for kernels that place pins.
#pragma once

#include <cmath>
#include <numbers>

#include "engine/core/array_view.hpp"
#include "engine/core/rotation.hpp"

namespace isocloth {

/// Interpolation between two samples: value = (1 - weight) value[low] + weight value[high].
struct Interpolation {
  std::size_t low = 0, high = 0;
  double weight = 0;
};

/// Where t lies among ascending times; the first or last sample outside of them.
ISOCLOTH_HD Interpolation locate(ArrayView<const double> times, double t) {
  std::size_t after = 0;  // the first that is later
  for (std::size_t end = times.size(); after < end;) {
    const std::size_t middle = after + (end - after) / 2;
    if (t < times[middle])
      end = middle;
    else
      after = middle + 1;
  }
  if (after == 0) return {0, 0, 0};
  if (after == times.size()) return {after - 1, after - 1, 0};
  return {after - 1, after, (t - times[after - 1]) / (times[after] - times[after - 1])};
}

ISOCLOTH_HD Vec3d mix(const Vec3d& low, const Vec3d& high, double weight) {
  // Exact where nothing moves: (1 - w) a + w a need not be a.
  return low + weight * (high - low);
}

/// The keys' value between them; zero without keys.
ISOCLOTH_HD Vec3d key_value(ArrayView<const Vec3d> keys, const Interpolation& at) {
  return keys.empty() ? Vec3d{} : mix(keys[at.low], keys[at.high], at.weight);
}

/// What is left of a way at the share s of the time in which it is gone: 1 - s^2 (3 - 2 s), from 1 to 0.
ISOCLOTH_HD double eased_share(double s) {
  if (!(s > 0)) return 1;
  return s < 1 ? 1 - s * s * (3 - 2 * s) : 0;
}

enum class MotionKind { fixed, oscillation, keyframes, recorded };

/// A motion (engine/shapes/motion.hpp) as it is evaluated: plain data, whose arrays are elsewhere.
struct MotionView {
  MotionKind kind = MotionKind::fixed;
  Vec3d vector;                                    ///< amplitude, or centre of rotations [m]
  double frequency = 1, start = 0, duration = 0;   ///< of an oscillation [Hz], [s], [s]
  ArrayView<const double> times;                   ///< [s], shape [sample_count]
  ArrayView<const Vec3d> translations, rotations;  ///< of keyframes [m], [rad], shape [sample_count] or empty
  ArrayView<const Vec3d> positions;                ///< recorded [m], shape [sample_count, node_count]

  /// Position at time t [s] of the node_index-th node, which starts at x [m].
  ISOCLOTH_HD Vec3d position(const Vec3d& x, std::size_t node_index, double t) const {
    if (kind == MotionKind::fixed) return x;
    if (kind == MotionKind::oscillation) {
      const double since = t - start, s = since < 0 ? 0 : duration < since ? duration : since;
      return x + (std::cos(2 * std::numbers::pi * frequency * s) - 1) * vector;
    }
    const Interpolation at = locate(times, t);
    if (kind == MotionKind::recorded) {
      const std::size_t node_count = positions.size() / times.size();
      return mix(positions[at.low * node_count + node_index], positions[at.high * node_count + node_index],
                 at.weight);
    }
    const Vec3d moved = x + key_value(translations, at);
    const Vec3d rotation = key_value(rotations, at);
    if (rotation == Vec3d{}) return moved;
    const Vec3d arm = x - vector;
    return moved + (rotated(rotation, arm) - arm);
  }
};

/// The motion of a pin and its ramp, see Pin.
struct PinView {
  MotionView motion;
  double ramp = 0, start = 0;  ///< duration of the ramp, and when the garment's clock starts [s]

  ISOCLOTH_HD Vec3d position(const Vec3d& x, std::size_t node_index, double t) const {
    const Vec3d place = motion.position(x, node_index, t);
    const double s = (t - start) / ramp;
    if (!(ramp > 0 && s < 1)) return place;
    return place + eased_share(s) * (x - motion.position(x, node_index, start));
  }
};

}  // namespace isocloth

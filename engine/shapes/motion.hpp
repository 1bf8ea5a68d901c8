// How pinned and driven nodes move.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/core/rotation.hpp"
#include "engine/shapes/motion_view.hpp"

namespace isocloth {

/// The nodes stay where they start.
struct FixedMotion {};

/// Oscillation of Coltraro 2022, equation (23): displacement amplitude * (cos(2 pi frequency s) - 1) with
/// s = clamp(t - start, 0, duration); at rest at its start position before and in its last place after.
struct OscillationMotion {
  Vec3d amplitude;        ///< [m]
  double frequency = 1;   ///< [Hz], > 0
  double start = 0;       ///< [s]
  double duration = 1e9;  ///< [s], > 0
};

/// Rigid displacement interpolated linearly between keys; constant before the first and after the last key.
/// x(t) = c + R(t) (x0 - c) + translation(t) with R the rotation by the interpolated rotation vector.
struct KeyframeMotion {
  std::vector<double> times;        ///< [s], strictly ascending, shape [key_count >= 1]
  std::vector<Vec3d> translations;  ///< [m], shape [key_count] or empty
  std::vector<Vec3d> rotations;     ///< rotation vectors [rad], shape [key_count] or empty
  Vec3d center;                     ///< c [m]
};

/// Positions read from a file: row (time), then x y z of every driven node in the order of the pin's nodes;
/// interpolated linearly, constant outside.
struct RecordedMotion {
  std::string file;              ///< as named in the scene, for messages
  std::vector<double> times;     ///< [s], strictly ascending, shape [sample_count]
  std::vector<Vec3d> positions;  ///< [m], shape [sample_count, node_count of the pin]
  double frames_per_second = 0;  ///< frames per second of a file that counts frames; 0: it has times
  std::string garment = {};      ///< garment of a result whose motion it is; empty: its only one
};

using Motion = std::variant<FixedMotion, OscillationMotion, KeyframeMotion, RecordedMotion>;

/// The same motion, later by `delay` [s]; AnyMotion: a variant of motions.
template <class AnyMotion>
AnyMotion delayed(AnyMotion motion, double delay) {
  const auto delay_times = [delay](auto& kind) {
    if constexpr (requires { kind.times; })
      for (double& t : kind.times) t += delay;
    else if constexpr (requires { kind.start; })
      kind.start += delay;
  };
  std::visit(delay_times, motion);
  return motion;
}

/// Views of the numbers of a motion, which must outlive them.
MotionView view_of(const Motion& motion);
inline MotionView view_of(const FixedMotion&) { return {}; }
MotionView view_of(const OscillationMotion& motion);
MotionView view_of(const KeyframeMotion& motion);
MotionView view_of(const RecordedMotion& motion);

/// Position at time t [s] of the node_index-th node of a pin whose start position is `start` [m].
Vec3d evaluate_motion(const Motion& motion, const Vec3d& start, std::size_t node_index, double t);

// Position at time t [s] by motions of all of space, which need no node.
inline Vec3d evaluate_motion(const FixedMotion&, const Vec3d& start, double) { return start; }
Vec3d evaluate_motion(const OscillationMotion& motion, const Vec3d& start, double t);
Vec3d evaluate_motion(const KeyframeMotion& motion, const Vec3d& start, double t);

/// The rotation vector of R(t) [rad].
Vec3d keyframe_rotation(const KeyframeMotion& motion, double t);

// Checks of motions that need not know what moves: throw SceneError; keys are appended to `key`.
inline void check_motion(const std::string&, const FixedMotion&) {}
void check_motion(const std::string& key, const OscillationMotion& motion);
void check_motion(const std::string& key, const KeyframeMotion& motion);

/// Checks of motions of what must stay where frames can hold it: check_motion(), and require_position of all
/// that it adds.
inline void check_bounded_motion(const std::string&, const FixedMotion&) {}
void check_bounded_motion(const std::string& key, const OscillationMotion& motion);
void check_bounded_motion(const std::string& key, const KeyframeMotion& motion);

}  // namespace isocloth

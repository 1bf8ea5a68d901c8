#include "engine/shapes/motion.hpp"

#include "engine/core/checks.hpp"

namespace isocloth {

Vec3d keyframe_rotation(const KeyframeMotion& motion, double t) {
  return key_value(motion.rotations, locate(motion.times, t));
}

MotionView view_of(const OscillationMotion& motion) {
  MotionView view;
  view.kind = MotionKind::oscillation;
  view.vector = motion.amplitude;
  view.frequency = motion.frequency;
  view.start = motion.start;
  view.duration = motion.duration;
  return view;
}

MotionView view_of(const KeyframeMotion& motion) {
  MotionView view;
  view.kind = MotionKind::keyframes;
  view.vector = motion.center;
  view.times = motion.times;
  view.translations = motion.translations;
  view.rotations = motion.rotations;
  return view;
}

MotionView view_of(const RecordedMotion& motion) {
  MotionView view;
  view.kind = MotionKind::recorded;
  view.times = motion.times;
  view.positions = motion.positions;
  return view;
}

MotionView view_of(const Motion& motion) {
  return std::visit([](const auto& kind) { return view_of(kind); }, motion);
}

Vec3d evaluate_motion(const OscillationMotion& motion, const Vec3d& start, double t) {
  return view_of(motion).position(start, 0, t);
}

Vec3d evaluate_motion(const KeyframeMotion& motion, const Vec3d& start, double t) {
  return view_of(motion).position(start, 0, t);
}

Vec3d evaluate_motion(const Motion& motion, const Vec3d& start, std::size_t node_index, double t) {
  return view_of(motion).position(start, node_index, t);
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

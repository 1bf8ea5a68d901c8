#include "engine/shapes/obstacle.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/checks.hpp"
#include "engine/core/rotation.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

void require_rounding(const std::string& key, double rounding, double most, const char* of_what) {
  require_not_negative(key, rounding);
  if (rounding > most) refuse_above(key, rounding, most, text(", ", of_what));
}

}  // namespace

void SphereShape::check(const std::string& key) const { require_length(key + ".radius", radius); }

void CapsuleShape::check(const std::string& key) const {
  require_length(key + ".radius", radius);
  require_length(key + ".length", length);
}

void CylinderShape::check(const std::string& key) const {
  require_length(key + ".radius", radius);
  require_length(key + ".height", height);
  require_rounding(key + ".rounding", rounding, std::min(radius, height / 2),
                   "the radius or half of the height");
}

void BoxShape::check(const std::string& key) const {
  const double sides[] = {size.x, size.y, size.z};
  for (std::size_t i = 0; i < 3; ++i) require_length(text(key, ".size[", i, "]"), sides[i]);
  require_rounding(key + ".rounding", rounding, *std::min_element(sides, sides + 3) / 2,
                   "half of the shortest side");
}

void HeightFieldShape::check(const std::string& key) const {
  for (std::size_t i = 0; i < 2; ++i) {
    if (samples[i] < 2) refuse(text(key, ".samples[", i, "]"), samples[i], "at least 2");
  }
  require_length(key + ".spacing", spacing);
  const auto [along_x, along_y] = samples;
  const std::size_t count = static_cast<std::size_t>(along_x) * static_cast<std::size_t>(along_y);
  if (heights.size() != count) {
    refuse(key + ".heights", text(heights.size(), " heights"),
           text(along_x, " x ", along_y, " = ", count, ", one per sample"));
  }
  require_length(key + ".spacing times the number of samples", spacing * (std::max(along_x, along_y) - 1));
  for (std::size_t i = 0; i < count; ++i) {
    if (std::abs(heights[i]) <= farthest) continue;
    require_finite(text(key, ".heights[", i, "]"), heights[i]);
    refuse(text(key, ".heights[", i, "]"),
           text(heights[i] < 0 ? "-" : "", told_apart(std::abs(heights[i]), farthest, 9).found),
           text("at most ", farthest, " m"));
  }
}

void MeshShape::check(const std::string& key) const {
  require_not_negative(key + ".cell", cell);
  require_not_negative(key + ".thicken", thicken);
  const Mesh& mesh = surface;
  const std::string surface_key = key + ".surface";
  require_finite(surface_key + ".positions", mesh.positions);
  require_position(surface_key + ".positions", mesh.positions);
  if (mesh.face_count() == 0) refuse(surface_key, "no faces", "a closed surface");
  if (mesh.face_begin.front() != 0 || mesh.face_begin.back() != static_cast<Index>(mesh.face_nodes.size())) {
    refuse(surface_key + ".face_begin", text(mesh.face_begin.front(), " to ", mesh.face_begin.back()),
           text("0 to ", mesh.face_nodes.size(), ", the number of face corners"));
  }
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const Index size = mesh.face_size(f);
    if (size < 3) refuse(text(surface_key, " face ", f), text(size, " nodes"), "3 or more");
  }
  for (Index f = 0; f < mesh.face_count(); ++f) {
    for (const Index node : mesh.face(f)) {
      if (node < 0 || node >= mesh.node_count()) {
        refuse(text(surface_key, " face ", f), text("node ", node),
               text("a node from 0 to ", mesh.node_count() - 1));
      }
    }
  }
}

Pose evaluate_motion(const PoseMotion& motion, double t) {
  const double last = motion.times.back();
  if (t > last) {
    const Pose& end = motion.poses.back();
    return {.center = end.center + (t - last) * motion.velocity,
            .axes = turned_axes((t - last) * motion.angular_velocity, end.axes)};
  }
  const Interpolation at = locate(motion.times, t);
  const Pose &low = motion.poses[at.low], &high = motion.poses[at.high];
  if (low == high || !(at.weight > 0)) return low;
  return {.center = mix(low.center, high.center, at.weight),
          .axes = turned_axes(at.weight * turn_between(low.axes, high.axes), low.axes)};
}

void check_bounded_motion(const std::string& key, const PoseMotion& motion) {
  require_ascending(key + ".times", motion.times);
  require_size(key + ".poses", motion.poses.size(), motion.times.size(), "time");
  require_finite(key + ".velocity", motion.velocity);
  require_finite(key + ".angular_velocity", motion.angular_velocity);
  for (std::size_t i = 0; i < motion.poses.size(); ++i) {
    const std::string pose_key = text(key, ".poses[", i, "]");
    require_finite(pose_key, motion.poses[i].center);
    require_position(pose_key, motion.poses[i].center);
    const double error = orthonormality_error(motion.poses[i].axes);
    if (!(error <= 1e-9)) refuse(pose_key, text("axes off by ", error), "orthonormal and right-handed ones");
  }
}

Pose frame_pose(const Vec3d& position, const Vec3d& rotation, const ObstacleMotion& motion, double t) {
  if (const auto* const poses = std::get_if<PoseMotion>(&motion)) return evaluate_motion(*poses, t);
  Pose pose{.center = position, .axes = {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
  for (Vec3d& axis : pose.axes) axis = rotated(rotation, axis);
  pose.center = std::visit(
      [&]<class M>(const M& m) {
        if constexpr (std::is_same_v<M, PoseMotion>)
          return position;
        else
          return evaluate_motion(m, position, t);
      },
      motion);
  if (const auto* const keys = std::get_if<KeyframeMotion>(&motion)) {
    const Vec3d turn = keyframe_rotation(*keys, t);
    for (Vec3d& axis : pose.axes) axis = rotated(turn, axis);
  }
  return pose;
}

Pose obstacle_pose(const Obstacle& obstacle, double t) {
  return frame_pose(obstacle.position, obstacle.rotation, obstacle.motion, t);
}

Pose obstacle_pose(const Obstacle& obstacle, Index world, const Moment& moment) {
  const auto own = obstacle.world_motions.find(world);
  if (own != obstacle.world_motions.end())
    return frame_pose(obstacle.position, obstacle.rotation, own->second, moment.of_simulation);
  return obstacle_pose(obstacle, obstacle.is_steered ? moment.of_simulation : moment.of_garment);
}

bool is_moving(const Obstacle& obstacle) {
  return !std::holds_alternative<FixedMotion>(obstacle.motion) || !obstacle.world_motions.empty();
}

void validate_friction(const Friction& friction, const std::string& key) {
  require_not_negative(key + ".static", friction.static_);
  require_not_negative(key + ".dynamic", friction.dynamic);
  if (friction.dynamic > friction.static_) {
    const ToldApart told = told_apart(friction.dynamic, friction.static_, 9);
    refuse(key + ".dynamic", told.found, text("at most the static one, ", told.bound));
  }
}

void validate_shape(const ObstacleShape& shape, const std::string& key) {
  std::visit([&](const auto& own) { own.check(key); }, shape);
}

void validate_obstacle(const Obstacle& obstacle, const std::string& key) {
  if (obstacle.name.empty()) refuse(key + ".name", "an empty text", "a name");
  const std::string motion_key = key + ".motion";
  validate_shape(obstacle.shape, key + ".shape");
  require_finite(key + ".position", obstacle.position);
  require_position(key + ".position", obstacle.position);
  require_finite(key + ".rotation", obstacle.rotation);
  std::visit([&](const auto& motion) { check_bounded_motion(motion_key, motion); }, obstacle.motion);
  validate_friction(obstacle.friction, key + ".friction");
}

}  // namespace isocloth

#include "host/scene/recorded_poses.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/number_rows.hpp"

namespace isocloth {
namespace {

constexpr double pi = std::numbers::pi;

/// A rotation by the angle 2 atan2(|v|, w) about v.
struct Quaternion {
  double w = 1;
  Vec3d v;
};

Quaternion operator*(const Quaternion& a, const Quaternion& b) {
  return {a.w * b.w - dot(a.v, b.v), a.w * b.v + b.w * a.v + cross(a.v, b.v)};
}

Quaternion inverse(const Quaternion& q) { return {q.w, -q.v}; }

Quaternion quaternion(const Vec3d& rotation) {
  const double angle = norm(rotation);
  if (angle == 0) return {};
  return {std::cos(angle / 2), (std::sin(angle / 2) / angle) * rotation};
}

/// The vector of a rotation of which the angle is at most pi.
Vec3d shortest_vector(const Quaternion& q) {
  const double sine = norm(q.v);
  if (sine == 0) return {};
  const double sign = q.w < 0 ? -1 : 1;
  return (sign * 2 * std::atan2(sine, std::abs(q.w)) / sine) * q.v;
}

/// The vector of that rotation which is nearest to `before`.
Vec3d nearest_vector(const Quaternion& q, const Vec3d& before) {
  const Vec3d shortest = shortest_vector(q);
  const double size = norm(shortest), before_size = norm(before);
  if (before_size == 0) return shortest;
  // After whole turns the axis is rounding: that of the vector before is as good.
  constexpr double no_axis = 1e-9;
  const Vec3d axis = size > no_axis ? (1 / size) * shortest : (1 / before_size) * before;
  const double angle = dot(shortest, axis);
  return (angle + 2 * pi * std::round((dot(before, axis) - angle) / (2 * pi))) * axis;
}

}  // namespace

RecordedPoses keyframes_through(std::vector<double> times, const std::vector<Vec3d>& positions,
                                const std::vector<Vec3d>& rotations) {
  RecordedPoses result{.position = positions[0], .rotation = rotations[0], .motion = {}};
  KeyframeMotion& keys = result.motion;
  keys.center = positions[0];
  const Quaternion start = inverse(quaternion(rotations[0]));
  const auto add = [&keys](double time, const Vec3d& translation, const Vec3d& rotation) {
    keys.times.push_back(time);
    keys.translations.push_back(translation);
    keys.rotations.push_back(rotation);
  };
  Quaternion before = {};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Quaternion turn = quaternion(rotations[i]) * start;
    Vec3d rotation = keys.times.empty() ? Vec3d{} : nearest_vector(turn, keys.rotations.back());
    if (!keys.times.empty()) {
      // Vectors below pi change at most pi / 2 times as fast as the rotation turns.
      const double turned = norm(shortest_vector(turn * inverse(before)));
      const Vec3d shorter = shortest_vector(before), other = nearest_vector(turn, shorter);
      const double between = std::nextafter(times[i - 1], std::numeric_limits<double>::infinity());
      constexpr double rounding = 1e-9;
      const double way = norm(rotation - keys.rotations.back());
      if (way > 2 * turned + rounding && norm(other - shorter) < way && between < times[i]) {
        add(between, keys.translations.back(), shorter);
        rotation = other;
      }
    }
    add(times[i], positions[i] - positions[0], rotation);
    before = turn;
  }
  return result;
}

RecordedPoses read_recorded_poses(const std::filesystem::path& path) {
  const NumberRows rows = read_number_rows(path, 7, "t, x, y, z and the rotation vector rx, ry, rz");
  std::vector<Vec3d> positions, rotations;
  for (std::size_t row = 0; row < rows.lines.size(); ++row) {
    const double* const values = &rows.values[7 * row];
    positions.push_back({values[1], values[2], values[3]});
    rotations.push_back(pi / 180 * Vec3d{values[4], values[5], values[6]});
  }
  return keyframes_through(ascending_times(rows, path), positions, rotations);
}

RecordedPoses read_only_poses(const std::filesystem::path& path, const std::string& key,
                              const Vec3d& position, const Vec3d& rotation) {
  if (!(position == Vec3d{}) || !(rotation == Vec3d{})) {
    throw SceneError(text(key,
                          ": found position or rotation_degrees beside a recorded motion, expected neither: "
                          "its file says where the frame is; take them out"));
  }
  return read_recorded_poses(path);
}

}  // namespace isocloth

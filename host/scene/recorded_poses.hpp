// Recorded ways of obstacles.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/shapes/motion.hpp"

namespace isocloth {

/// A frame's way: where it begins, and how it moves from there.
struct RecordedPoses {
  Vec3d position;         ///< position at the first time [m]
  Vec3d rotation;         ///< rotation at the first time, a rotation vector [rad]
  KeyframeMotion motion;  ///< motion relative to position and rotation
};

/// Keyframes through absolute poses. Rotations between them are interpolated as vectors; of the vectors of
/// one rotation, which differ by whole turns, each key takes the nearest to the one before it, so that a
/// wheel goes on turning. Where no vector is near (about a whole turn away from the start), a key at the next
/// double after the earlier time names the same rotation by its shortest vector. `rotations`: vectors [rad];
/// all three have one entry per pose, at least one; times ascend.
RecordedPoses keyframes_through(std::vector<double> times, const std::vector<Vec3d>& positions,
                                const std::vector<Vec3d>& rotations);

/// Reads rows t [s], x, y, z [m], rx, ry, rz (rotation vector [degrees]) of a frame (read_number_rows).
/// Throws FileError naming file and line: what read_number_rows refuses, and times that do not ascend.
RecordedPoses read_recorded_poses(const std::filesystem::path& path);

/// Reads recorded poses as read_recorded_poses() does, of something whose place the scene must leave to the
/// file; throws SceneError naming `key` if it has a position or rotation of its own.
RecordedPoses read_only_poses(const std::filesystem::path& path, const std::string& key,
                              const Vec3d& position, const Vec3d& rotation);

}  // namespace isocloth

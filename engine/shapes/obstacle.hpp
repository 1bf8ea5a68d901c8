// What cloth meets: rigid shapes at rest or on prescribed ways.
#pragma once

#include <array>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/shapes/motion.hpp"
#include "engine/shapes/pose.hpp"

namespace isocloth {

/// A convex solid about the origin: the points within `rounding` of a core. The core is a box, of which sides
/// may be zero, or, where `disc` is not, a cylinder about z.
struct RoundedSolid {
  Vec3d half;           ///< half lengths of the core [m]; of a cylinder along z alone
  double disc = 0;      ///< radius of a cylinder's core [m]
  double rounding = 0;  ///< [m]

  /// Half lengths of the box around the solid [m].
  Vec3d half_lengths() const {
    const double across = disc + rounding;
    return half + Vec3d{across, across, rounding};
  }
};

// Shapes in their own frame; the obstacle's pose places them in the world. check() throws SceneError where a
// size is out of its range, messages begin with `key`. Those with a solid() have mass, picture, corners, box
// and distances by it; of others picture(), if there is one, is a closed surface to look at.

/// The half space z <= 0.
struct PlaneShape {
  static constexpr const char* name = "plane";
  void check(const std::string&) const {}
};
/// Sphere around the origin.
struct SphereShape {
  static constexpr const char* name = "sphere";
  double radius = 0;  ///< [m], > 0
  RoundedSolid solid() const { return {.half = {}, .rounding = radius}; }
  void check(const std::string& key) const;
};
/// Points within `radius` of the segment of this length on the z axis, centred at the origin.
struct CapsuleShape {
  static constexpr const char* name = "capsule";
  double radius = 0;  ///< [m], > 0
  double length = 0;  ///< length of the segment, without the caps [m], > 0
  RoundedSolid solid() const { return {.half = {0, 0, length / 2}, .rounding = radius}; }
  void check(const std::string& key) const;
};
/// Cylinder about the z axis, centred at the origin, its rims rounded.
struct CylinderShape {
  static constexpr const char* name = "cylinder";
  double radius = 0;    ///< [m], > 0
  double height = 0;    ///< height along z [m], > 0
  double rounding = 0;  ///< radius of the rims [m], >= 0, at most radius and height / 2
  RoundedSolid solid() const {
    return {.half = {0, 0, height / 2 - rounding}, .disc = radius - rounding, .rounding = rounding};
  }
  void check(const std::string& key) const;
};
/// Box centred at the origin, its edges and corners rounded.
struct BoxShape {
  static constexpr const char* name = "box";
  Vec3d size;           ///< full lengths along x, y, z [m], > 0
  double rounding = 0;  ///< radius of the edges [m], >= 0, at most half of each length
  RoundedSolid solid() const {
    return {.half = 0.5 * size - Vec3d{rounding, rounding, rounding}, .rounding = rounding};
  }
  void check(const std::string& key) const;
};
/// Solid below z = height(x, y), bilinear between samples, on [0, (columns - 1) spacing] x [0, (rows - 1)
/// spacing]; outside of it there is nothing.
struct HeightFieldShape {
  static constexpr const char* name = "height_field";
  std::array<Index, 2> samples{};  ///< number of samples along x and y, >= 2 each
  double spacing = 0;              ///< [m], > 0
  std::vector<double> heights;     ///< [m], shape [samples y, samples x]
  void check(const std::string& key) const;
};
/// What the faces of a surface bound (build_obstacle_grid), as a grid of signed distances.
struct MeshShape {
  static constexpr const char* name = "mesh";
  Mesh surface;        ///< any; of a rigid body closed, faces counter-clockwise seen from outside
  double cell = 0;     ///< between distances near the surface [m], >= 0; 0: by its longest side
  double thicken = 0;  ///< distance by which the surface is moved outwards [m], >= 0
  /// Only that it has faces of 3 or more nodes in range.
  void check(const std::string& key) const;
};

using ObstacleShape =
    std::variant<PlaneShape, SphereShape, CapsuleShape, CylinderShape, BoxShape, HeightFieldShape, MeshShape>;

template <class Shape>
concept HasSolid = requires(const Shape& shape) {
  shape.solid();
};

/// "plane", "sphere", ..., as in scene files.
inline const char* shape_name(const ObstacleShape& shape) {
  return std::visit([](const auto& s) { return s.name; }, shape);
}

/// Poses of a frame itself, in the place of its position and rotation at time 0. Between two of them the
/// centre goes straight and the axes turn about one axis by the shorter way (slerp, Shoemake 1985); before
/// the first it rests, after the last it goes on with these velocities.
struct PoseMotion {
  std::vector<double> times;  ///< [s], strictly ascending, shape [key_count >= 1]
  std::vector<Pose> poses;    ///< shape [key_count]; axes orthonormal and right-handed
  Vec3d velocity;             ///< velocity of the centre after the last key [m/s]
  Vec3d angular_velocity;     ///< after the last key, along the axes of the world [rad/s]
};
Pose evaluate_motion(const PoseMotion& motion, double t);
/// Throws SceneError for times that do not ascend, poses of another number, not finite, too far away or not
/// orthonormal to 1e-9, and velocities that are not finite; messages begin with `key`.
void check_bounded_motion(const std::string& key, const PoseMotion& motion);

/// Motion of a frame; recorded poses of files are keyframes.
using ObstacleMotion = std::variant<FixedMotion, OscillationMotion, KeyframeMotion, PoseMotion>;

/// Coulomb's law: a contact sticks while |tangential force| <= static_ * normal force, else it slides against
/// a force of dynamic * normal force.
struct Friction {
  double static_ = 0;  ///< >= 0
  double dynamic = 0;  ///< >= 0, at most static_
};

struct Obstacle {
  std::string name;  ///< for messages and results
  ObstacleShape shape;
  Vec3d position;  ///< place of the shape's origin at time 0 [m]
  Vec3d rotation;  ///< rotation vector of the shape's axes at time 0 [rad]
  ObstacleMotion motion;
  Friction friction;  ///< friction with every garment; with a body the geometric mean (ContactSettings)
  /// Whether the times of `motion` are those of the simulation: a program has steered it. Else they are those
  /// of the garment that looks, which start again when it is reset.
  bool is_steered = false;
  /// Where it moves otherwise for the garments of some worlds (Garment::world), by times of the simulation.
  std::map<Index, ObstacleMotion> world_motions = {};
};

/// A frame with this position and rotation vector at time 0, at time t [s] of its motion.
Pose frame_pose(const Vec3d& position, const Vec3d& rotation, const ObstacleMotion& motion, double t);

/// The obstacle's frame at time t [s] of its motion.
Pose obstacle_pose(const Obstacle& obstacle, double t);

/// A moment by both clocks.
struct Moment {
  double of_garment = 0;     ///< [s]
  double of_simulation = 0;  ///< [s]
};
/// The obstacle's frame as garments of a world see it.
Pose obstacle_pose(const Obstacle& obstacle, Index world, const Moment& moment);

/// Whether its pose is ever another than at the start.
bool is_moving(const Obstacle& obstacle);

/// 0 <= dynamic <= static_, both finite; throws SceneError, messages begin with `key`.
void validate_friction(const Friction& friction, const std::string& key);

/// By its check().
void validate_shape(const ObstacleShape& shape, const std::string& key);

/// Checks name, ranges, sizes and motion; of a mesh only that it has faces of 3 or more nodes in range
/// (build_obstacle_grid does the rest). Throws SceneError; messages begin with `key`.
void validate_obstacle(const Obstacle& obstacle, const std::string& key);

}  // namespace isocloth

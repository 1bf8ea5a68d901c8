// What cloth meets: rigid shapes at rest or on prescribed ways.
#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "engine/core/fields.hpp"
#include "engine/mesh/mesh.hpp"
#include "engine/model/motion.hpp"

namespace isocloth {

// Shapes in their own frame; the obstacle's pose places them in the world.

/// The half space z <= 0.
struct PlaneShape {};
/// Around the origin.
struct SphereShape {
  double radius = 0;  ///< [m], > 0
};
/// Points within `radius` of the segment of this length on the z axis, centred at the origin.
struct CapsuleShape {
  double radius = 0;  ///< [m], > 0
  double length = 0;  ///< of the segment, without the caps [m], > 0
};
/// About the z axis, centred at the origin, its rims rounded.
struct CylinderShape {
  double radius = 0;    ///< [m], > 0
  double height = 0;    ///< along z [m], > 0
  double rounding = 0;  ///< radius of the rims [m], >= 0, at most radius and height / 2
};
/// Centred at the origin, edges and corners rounded.
struct BoxShape {
  Vec3d size;           ///< full lengths along x, y, z [m], > 0
  double rounding = 0;  ///< radius of the edges [m], >= 0, at most half of each length
};
/// Solid below z = height(x, y), bilinear between samples, on [0, (columns - 1) spacing] x [0, (rows - 1)
/// spacing]; outside of it there is nothing.
struct HeightFieldShape {
  std::array<Index, 2> samples{};  ///< along x and y, >= 2 each
  double spacing = 0;              ///< [m], > 0
  std::vector<double> heights;     ///< [m], shape [samples y, samples x]
};
/// The inside of a closed surface (check_closed_surface), as a grid of signed distances.
struct MeshShape {
  Mesh surface;        ///< closed, faces counter-clockwise seen from outside
  double cell = 0;     ///< of the grid [m], >= 0; 0: 1/64 of the longest side of the bounding box
  double thicken = 0;  ///< distance by which the surface is moved outwards [m], >= 0
};

using ObstacleShape =
    std::variant<PlaneShape, SphereShape, CapsuleShape, CylinderShape, BoxShape, HeightFieldShape, MeshShape>;

/// As a frame moves: recorded poses are keyframes.
using ObstacleMotion = std::variant<FixedMotion, OscillationMotion, KeyframeMotion>;

/// Coulomb's law: a contact sticks while |tangential force| <= static_ * normal force, else it slides against
/// a force of dynamic * normal force.
struct Friction {
  double static_ = 0;  ///< >= 0
  double dynamic = 0;  ///< >= 0, at most static_
};

struct Obstacle {
  std::string name;  ///< for messages and results
  ObstacleShape shape;
  Vec3d position;  ///< of the shape's origin at time 0 [m]
  Vec3d rotation;  ///< of its axes at time 0, a rotation vector [rad]
  ObstacleMotion motion;
  Friction friction;  ///< as RigidBody::friction
};

/// Where a frame is: x = center + axes x_local.
struct Pose {
  Vec3d center;                 ///< [m]
  std::array<Vec3d, 3> axes{};  ///< the frame's unit vectors in the world, right-handed
  static constexpr auto fields() {
    return std::tuple{Field{"center", &Pose::center}, Field{"axes", &Pose::axes}};
  }
  bool operator==(const Pose&) const = default;
};

/// A frame with this position and rotation vector at time 0, at time t [s] of its motion.
Pose frame_pose(const Vec3d& position, const Vec3d& rotation, const ObstacleMotion& motion, double t);

/// The obstacle's frame at time t [s].
Pose obstacle_pose(const Obstacle& obstacle, double t);

/// Whether its pose is ever another than at the start.
bool is_moving(const Obstacle& obstacle);

/// 0 <= dynamic <= static_, both finite; throws SceneError, messages begin with `key`.
void validate_friction(const Friction& friction, const std::string& key);

/// Checks ranges and sizes as validate_obstacle does.
void validate_shape(const ObstacleShape& shape, const std::string& key);

/// Checks name, ranges, sizes and motion; of a mesh only that it has faces of 3 or 4 nodes in range
/// (check_closed_surface does the rest). Throws SceneError; messages begin with `key`.
void validate_obstacle(const Obstacle& obstacle, const std::string& key);

}  // namespace isocloth

// Rigid bodies that cloth carries, pushes and holds, and that push back.
#pragma once

#include <array>
#include <string>

#include "engine/shapes/obstacle.hpp"

namespace isocloth {

struct RigidBody {
  std::string name;        ///< for messages and results
  ObstacleShape shape;     ///< no plane, no height field; a mesh is closed, convex and not thickened
  double mass = 0;         ///< [kg], > 0, evenly spread; an external body moves as if it had none
  Vec3d position;          ///< place of the shape's origin at the start [m]
  Vec3d rotation;          ///< rotation vector of the shape's axes at the start [rad]
  Vec3d velocity;          ///< velocity of the centre of mass at the start [m/s]
  Vec3d angular_velocity;  ///< angular velocity at the start, along the axes of the world [rad/s]
  /// Friction with every garment; with another solid the geometric mean (ContactSettings).
  Friction friction;
  /// Moves as the dynamics of another program have it, with the inertia that this says (ExternalMotion), not
  /// by gravity; other external bodies and obstacles it passes through.
  bool is_external = false;
};

using Matrix3 = std::array<Vec3d, 3>;  ///< rows

/// What a solid of density 1 weighs, in the frame of its shape.
struct MassProperties {
  double volume = 0;  ///< [m^3]
  Vec3d center;       ///< centre of mass [m]
  Matrix3 inertia;    ///< inertia about the centre of mass, per unit of mass [m^2]
};

/// Sphere, capsule, cylinder and box in closed form, roundings included; a mesh by the divergence theorem
/// over its faces (a quadrilateral as two triangles), cost O(faces). Throws SceneError for shapes without a
/// finite volume; messages begin with `key`.
MassProperties mass_properties(const ObstacleShape& shape, const std::string& key = "shape");

/// A body in motion.
struct BodyState {
  Pose pose;               ///< centre of mass, and axes of the shape
  Vec3d velocity;          ///< velocity of the centre of mass [m/s]
  Vec3d angular_momentum;  ///< angular momentum about the centre of mass [kg m^2/s]
  static constexpr auto fields() {
    return std::tuple{Field{"pose", &BodyState::pose}, Field{"velocity", &BodyState::velocity},
                      Field{"angular_momentum", &BodyState::angular_momentum}};
  }
  bool operator==(const BodyState&) const = default;
};
BodyState start_state(const RigidBody& body, const MassProperties& properties);
/// Angular momentum m A I A^T w [kg m^2/s] about the centre of mass of a body with these axes that turns by w
/// [rad/s].
Vec3d angular_momentum(const RigidBody& body, const MassProperties& properties,
                       const std::array<Vec3d, 3>& axes, const Vec3d& w);

/// Where the shape's origin and axes are.
Pose shape_pose(const Pose& pose, const MassProperties& properties);

/// A I A^T with the axes A as columns.
Matrix3 turned_inertia(const Matrix3& inertia, const std::array<Vec3d, 3>& axes);
Vec3d product(const Matrix3& a, const Vec3d& v);
/// Throws SceneError where `a` is not positive definite.
Matrix3 inverse(const Matrix3& a);

/// A body that nothing touches, after h [s]: v + h g, x + h v + h^2 g as the cloth's steps have it; axes by
/// A' = [A I^-1 A^T L]x A with L kept, in parts of at most 0.02 rad by the Runge-Kutta method of fourth order
/// on the group of rotations (Munthe-Kaas 1999). `inverse_inertia`: of the body, in its frame.
BodyState free_flight(const BodyState& state, const Matrix3& inverse_inertia, const Vec3d& gravity, double h);

/// Checks name, shape and ranges; of a mesh that it is convex (its being closed is checked where it becomes
/// distances). Throws SceneError; messages begin with `key`.
void validate_body(const RigidBody& body, const std::string& key);

}  // namespace isocloth

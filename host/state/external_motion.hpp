// Bodies whose dynamics are another program's, for one step.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/shapes/pose.hpp"

namespace isocloth {

/// How external bodies (RigidBody::is_external) of one mechanism would move in a step in which nothing of
/// this simulation touched them, and how they give way where something does. With generalised masses M and
/// the Jacobian J of the bodies, their twists being J v, the velocities after a step of h are v~ + M^-1 J^T f
/// h by wrenches f, and so poses depart from the free ones by W f h^2 with the inverse inertia W = J M^-1
/// J^T. W may be singular: what no joint allows does not move.
struct ExternalMotion {
  std::vector<std::size_t> bodies;  ///< numbers among the scene's bodies, each once
  std::vector<Pose> begin;          ///< poses of the shapes when the step begins, shape [bodies]
  std::vector<Pose> free_end;       ///< poses when it ends, if nothing touches them, shape [bodies]
  /// W, shape [6 bodies, 6 bodies], row after row, symmetric and positive semidefinite; for each body
  /// translation of the shape's origin [1/kg], then rotation along the axes of the world [1/(kg m^2)].
  std::vector<double> inverse_inertia;
};

/// Where a steered frame is to be, and how it goes on from there.
struct FrameTarget {
  std::size_t obstacle = none;           ///< number of the obstacle; none: a gripper
  std::size_t garment = 0, gripper = 0;  ///< numbers of the gripper and its garment
  Index world = -1;                      ///< world whose garments see the obstacle there; -1: all
  Pose pose;
  Vec3d velocity, angular_velocity;  ///< [m/s], and along the axes of the world [rad/s]
  static constexpr std::size_t none = ~std::size_t{0};
};

/// Force [N] and torque about a point [N m].
struct Wrench {
  Vec3d force, torque;
};

}  // namespace isocloth

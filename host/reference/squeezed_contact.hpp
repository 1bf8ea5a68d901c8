// The row of a point of cloth that an obstacle squeezes, with dense matrices; forces in newtons.
#pragma once

#include <Eigen/Dense>

#include "engine/material/compression.hpp"
#include "engine/model/scene.hpp"

namespace isocloth::reference {

/// A point of the cloth against an obstacle when the step began, and at an iterate.
struct SqueezedPoint {
  double area = 0;     ///< area that the point stands for [m^2]
  double inertia = 0;  ///< inertia of its nodes by their weights, over the square of the step [N/m]
  /// Distance from the obstacle less T / 2, now and when the step began, along the normal of now [m].
  double gap = 0, gap_before = 0;
  /// Normal out of the obstacle, and the way relative to it since the step began [m].
  Eigen::Vector3d normal, way;
  Eigen::Vector3d force, force_before;  ///< force on the cloth, now and when the step began [N]
  /// Way that the point slid since it last stuck, by the speed at which the step began [m].
  double slid_before = 0;
  bool is_new = false;  ///< whether the point was in no solve yet
};

/// A contact in a linear solve: force of a displacement d: force - stiffness d.
struct SqueezedRow {
  bool exists = false;
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  Eigen::Matrix3d stiffness = Eigen::Matrix3d::Zero();
  double error = 0;        ///< error of the thickness [m]
  double normal_rate = 0;  ///< slope of the normal force by the displacement [N/m]
  /// Force along the surface that would hold the point [N].
  Eigen::Vector3d spring = Eigen::Vector3d::Zero();
  bool slides = false;     ///< the bound of friction is less than `spring`
  double spring_rate = 0;  ///< slope of `spring` by the displacement [N/m]; 0: the point feels no friction
};

SqueezedRow squeezed_row(const SqueezedPoint& point, const Compression& law, const Friction& friction,
                         double step);

struct SqueezedForce {
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  double slid = 0;      ///< way that the point slid since it last stuck [m]
  double mismatch = 0;  ///< difference between the force and what the row says [N]
};
/// The force on a point after a displacement d.
SqueezedForce squeezed_force(const SqueezedPoint& point, const SqueezedRow& row, const Eigen::Vector3d& d,
                             const Friction& friction, double step);

}  // namespace isocloth::reference

// The row of a point of cloth that an obstacle squeezes, with dense matrices; forces in newtons.
#pragma once

#include <Eigen/Dense>

#include "engine/material/compression.hpp"
#include "engine/model/scene.hpp"

namespace isocloth::reference {

/// What a point was when the step began, and is at an iterate.
struct SqueezedPoint {
  double area = 0;                 ///< that it stands for [m^2]
  double inertia = 0;              ///< of its nodes by their weights, over the square of the step [N/m]
  double gap = 0, gap_before = 0;  ///< less T / 2, now and when the step began, along the normal of now [m]
  Eigen::Vector3d normal, way;     ///< out of the obstacle; relative to it since the step began [m]
  Eigen::Vector3d force, force_before;  ///< on the cloth [N]
  double slid_before = 0;               ///< since it last stuck, by the speed at which the step began [m]
  bool is_new = false;                  ///< it was in no solve yet
};

/// Force of a displacement d: force - stiffness d.
struct SqueezedRow {
  bool exists = false;
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  Eigen::Matrix3d stiffness = Eigen::Matrix3d::Zero();
  double error = 0;                                  ///< of the thickness [m]
  double normal_rate = 0;                            ///< of the normal force by the displacement [N/m]
  Eigen::Vector3d spring = Eigen::Vector3d::Zero();  ///< what would hold it [N]
  bool slides = false;                               ///< its bound is less
  double spring_rate = 0;                            ///< [N/m]; 0: it feels no friction
};

SqueezedRow squeezed_row(const SqueezedPoint& point, const Compression& law, const Friction& friction,
                         double step);

struct SqueezedForce {
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  double slid = 0;      ///< [m]
  double mismatch = 0;  ///< against what the row says [N]
};
/// After a displacement d.
SqueezedForce squeezed_force(const SqueezedPoint& point, const SqueezedRow& row, const Eigen::Vector3d& d,
                             const Friction& friction, double step);

}  // namespace isocloth::reference

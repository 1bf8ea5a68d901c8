// Breen, House, Wozny 1994: woven cloth as particles at the crossings of its threads.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/material/fabric.hpp"
#include "engine/models/particles/particle_energy.hpp"

namespace isocloth {

/// A curve that was measured: straight between its points, from (0, 0) on, and beyond the last.
class MeasuredCurve {
 public:
  /// Throws SceneError where there is no point, or one does not rise above the last; `x`, `y`: what its
  /// numbers are, with units.
  MeasuredCurve(std::vector<std::array<double, 2>> points, const std::string& x, const std::string& y);
  double value(double x) const;
  double slope(double x) const;
  double integral(double x) const;  ///< integral of the value from 0 to x
  /// Points of the curve, (0, 0) included.
  const std::vector<std::array<double, 2>>& points() const { return points_; }
  /// Number of the piece in which x lies: points()[piece - 1] is where it begins.
  std::size_t piece(double x) const;

 private:
  std::vector<std::array<double, 2>> points_;
  std::vector<double> integrals_;  ///< integral of the value from 0 to each point
};

/// Energy of a bent thread of a patch w x w against c = cos(theta), theta the angle at a particle:
///   B = w^2 (integral of M dK), Kawabata's moment per width M(K) [N] against curvature [1/m],
///   K = (2 / w) cos(theta / 2) from 180 to 45 degrees, below that a / theta + b, C1 at 45 degrees.
/// The tutorial prints dU = M dS (M is a moment: dU = M K dS / 2) and B = M K w^2, which is twice the work
/// that the measured moment does. Spacing w [m].
EnergyLaw breen_bending(const MeasuredCurve& moment, double spacing);
/// Energy of a bent thread whose moment per width is M = kappa K, kappa [N m]; spacing [m].
EnergyLaw breen_bending(double kappa, double spacing);
/// K and dK/dtheta [1/m] of a thread bent to the angle theta [rad], by the rule of breen_bending().
std::array<double, 2> breen_curvature(double theta, double spacing);

/// Kawabata's curve of shear: force per width F [N/m] against angle A [rad], straight between its points,
/// and beyond the last a / (60 degrees - A) + b with the curve's value and slope there. Work of a patch,
///   T(A) = area (integral from 0 to A of F cos(A) dA), infinite from 60 degrees.
class BreenShear {
 public:
  /// points: (A, F), rising, without (0, 0). Throws SceneError where there is none, one does not rise, or the
  /// last is not below 60 degrees.
  explicit BreenShear(std::vector<std::array<double, 2>> points);
  double force(double angle) const;  ///< F [N/m] for angle >= 0
  double slope(double angle) const;  ///< dF/dA [N/m]
  double work(double angle) const;   ///< integral of F cos(A) dA [N/m]
  double measured_to() const { return curve_.points().back()[0]; }

 private:
  MeasuredCurve curve_;
  std::vector<double> works_;  ///< work T / area up to each point [N/m]
  double a_ = 0, b_ = 0;
};
/// T of one corner of a cell, a quarter of it, against the cosine of its angle, sin(A).
EnergyLaw breen_trellis(const BreenShear& shear, double spacing);

/// S(r) = C ((r - w) / w)^5 for r > w, R(r) = C ((w - r) / w)^5 w / r for r < w [J]. The tutorial's R,
/// C (w - r)^5 / r, has another unit than its S.
EnergyLaw breen_stretch(double scale, double spacing);
EnergyLaw breen_repulsion(double scale, double spacing);

struct BreenSettings {
  /// C is that with which a thread stretches by this under the weight of one row of the sheet's particles;
  /// the paper's curves are drawn by hand.
  double strain = 0.05;
};

/// The energies over a grid of particles, spacing w along both threads: the fabric's measured bending
/// (curves.bend, curves.weft_bend) or kappa and weft_kappa, its measured shear (curves.shear: tan A against
/// force) or shear_stiffness up to 8 degrees, where Kawabata's machine ends. Weight is gravity [m/s^2] on
/// delta, as lumped masses. Throws SceneError, beginning with `key`.
ParticleModel breen_model(Index columns, Index rows, double spacing, const Fabric& fabric, Vec3d gravity,
                          const BreenSettings& settings, const std::string& key);

}  // namespace isocloth

// How seams are closed and held.
#pragma once

namespace isocloth {

/// Forces of the threads of a garment's stitches; kernels/forces/stitches.hpp.
struct Sewing {
  /// Greatest force with which seams are drawn together that are open by more than `speed` closes in a step
  /// [N per m of seam], > 0.
  double force = 10;
  double speed = 1;  ///< greatest speed at which the sides of a seam come nearer to each other [m/s], > 0
  /// Force per opening of seams that `speed` closes in a step [N/m per m of seam], > 0.
  double stiffness = 1e6;
  /// Greatest force of those: more draws them open [N per m of seam], > 0.
  double strength = 400;
  /// Opening from which a seam holds with all its strength [m].
  double hold() const { return strength / stiffness; }
  bool operator==(const Sewing&) const = default;
};

}  // namespace isocloth

// How seams are closed and held.
#pragma once

namespace isocloth {

/// Of the threads of a garment's stitches; kernels/forces/stitches.hpp.
struct Sewing {
  /// At most, with which seams are drawn together that are open by more than `speed` does in a step [N per m
  /// of seam], > 0.
  double force = 10;
  double speed = 1;  ///< at which their sides come nearer to each other, at most [m/s], > 0
  /// Of seams that are closer than that: force per opening [N/m per m of seam], > 0.
  double stiffness = 1e6;
  bool operator==(const Sewing&) const = default;
};

}  // namespace isocloth

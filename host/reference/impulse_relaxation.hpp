// The factor on impulses, sweep by sweep.
#pragma once

#include <optional>

namespace isocloth::reference {

/// A given factor, or, for 0, min(bound, 2 - 4 / (k - first + 4)) in sweep k = 1, 2, ..., first = 1, bound =
/// 1.99. Every 16th sweep is watched: where the largest error that it corrected is more than four times the
/// least of those watched before, the distance of the bound from 2 doubles (the bound stays at least 1), the
/// next sweep is the first again, and the least is forgotten.
class ImpulseRelaxation {
 public:
  explicit ImpulseRelaxation(double given) : given_(given) {}
  double factor() const;  ///< factor of the sweep to come
  /// Ends a sweep; change: the largest error that it corrected, nothing: not to be watched.
  void end_sweep(std::optional<double> change);

 private:
  double given_;
  int sweep_ = 1, first_ = 1;
  double distance_ = 0.01;  ///< distance of the bound from 2
  std::optional<double> least_;
};

}  // namespace isocloth::reference

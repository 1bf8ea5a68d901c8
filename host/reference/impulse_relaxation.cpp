#include "host/reference/impulse_relaxation.hpp"

#include <algorithm>

namespace isocloth::reference {

double ImpulseRelaxation::factor() const {
  if (given_ > 0) return given_;
  const double done = sweep_ - first_;
  return std::min(2 - distance_, 2 * (done + 2) / (done + 4));
}

void ImpulseRelaxation::end_sweep(std::optional<double> change) {
  const int sweep = sweep_++;
  if (!change || sweep % 16 != 0) return;
  if (least_ && *change > 4 * *least_) {
    distance_ = std::min(1.0, 2 * distance_);
    first_ = sweep + 1;
    least_.reset();
  } else {
    least_ = least_ ? std::min(*least_, *change) : *change;
  }
}

}  // namespace isocloth::reference

#include "engine/model/force_slope.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {

bool is_positive_semidefinite(const SymmetricTensor& tensor) {
  double largest = 0;
  for (const double entry : tensor) {
    if (!std::isfinite(entry)) return false;
    largest = std::max(largest, std::fabs(entry));
  }
  if (largest == 0) return true;
  double t[6];
  for (int i = 0; i < 6; ++i) t[i] = tensor[i] / largest;
  // The coefficients of the characteristic polynomial; none is negative where no eigenvalue is.
  const double sum = t[0] + t[3] + t[5];
  const double pairs = t[0] * t[3] - t[1] * t[1] + t[0] * t[5] - t[2] * t[2] + t[3] * t[5] - t[4] * t[4];
  const double product = t[0] * (t[3] * t[5] - t[4] * t[4]) - t[1] * (t[1] * t[5] - t[4] * t[2]) +
                         t[2] * (t[1] * t[4] - t[3] * t[2]);
  constexpr double rounding = 1e-12;
  return sum > 0 && pairs >= -rounding * sum * sum && product >= -rounding * sum * sum * sum;
}

}  // namespace isocloth

// The reduction of kernels/measures as an operator, for the algorithms of libraries.
#pragma once

#include <cmath>

#include "kernels/measures/measures.hpp"

namespace isocloth::bench {

/// What value x number i brings to a reduction.
template <class Real>
ISOCLOTH_HD Reduction<Real> reduction_of(Real x, Index i) {
  const bool finite = x - x == 0;
  const Real magnitude = std::fabs(x);
  Reduction<Real> one;
  one.maximum = finite ? magnitude : Real(0);
  one.sum = x;
  one.magnitude_sum = magnitude;
  one.square_sum = x * x;
  one.first_bad = finite ? -1 : i;
  return one;
}

/// Both together; commutative, and associative but for rounding.
template <class Real>
ISOCLOTH_HD Reduction<Real> merged(const Reduction<Real>& a, const Reduction<Real>& b) {
  Reduction<Real> both;
  both.maximum = a.maximum < b.maximum ? b.maximum : a.maximum;
  both.sum = a.sum + b.sum;
  both.magnitude_sum = a.magnitude_sum + b.magnitude_sum;
  both.square_sum = a.square_sum + b.square_sum;
  const bool b_first = a.first_bad < 0 || (b.first_bad >= 0 && b.first_bad < a.first_bad);
  both.first_bad = b_first ? b.first_bad : a.first_bad;
  return both;
}

}  // namespace isocloth::bench

// Sums and products of doubles with what rounding leaves out.
#pragma once

#include <cmath>

namespace isocloth {

struct ExactPair {
  double high, low;  ///< high + low is exact, high the rounded result
};

/// a + b (Knuth; Shewchuk 1997, theorem 7).
inline ExactPair two_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a, of_a = sum - of_b;
  return {sum, (a - of_a) + (b - of_b)};
}

/// a b.
inline ExactPair two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

}  // namespace isocloth

#include "host/fit/distributions.hpp"

#include <cmath>
#include <unsupported/Eigen/SpecialFunctions>

namespace isocloth {
namespace {

constexpr double many_degrees = 1e4;

/// P(|T| > t).
double student_tails(double t, double degrees) {
  return Eigen::numext::betainc(degrees / 2, 0.5, degrees / (degrees + t * t));
}

}  // namespace

double normal_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double chi_square_tail(double value, double degrees) {
  if (!(value > 0)) return 1;
  if (degrees <= many_degrees) return Eigen::numext::igammac(degrees / 2, value / 2);
  const double variance = 2 / (9 * degrees);
  return normal_tail((std::cbrt(value / degrees) - (1 - variance)) / std::sqrt(variance));
}

double student_95(double degrees) {
  constexpr double normal = 1.959963984540054;
  if (!(degrees < 1e6)) return normal;
  double low = normal, high = 13;  // 12.7 of one degree
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (student_tails(middle, degrees) > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace isocloth

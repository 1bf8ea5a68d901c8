#include "host/reference/stress_laws.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth::reference {

std::array<double, 2> at_strain(const std::vector<CurvePiece>& pieces, double x) {
  auto piece = std::ranges::upper_bound(pieces, x, {}, &CurvePiece::begin);
  --piece;
  const double t = x - piece->begin;
  return {piece->value + piece->slope * t + piece->square * t * t + piece->cube * t * t * t,
          piece->slope + 2 * piece->square * t + 3 * piece->cube * t * t};
}

double strain_of_stress(const std::vector<CurvePiece>& pieces, double stress) {
  double low = 0, high = 1;
  while (at_strain(pieces, high)[0] < stress && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (at_strain(pieces, middle)[0] < stress ? low : high) = middle;
  }
  return high;
}

std::array<double, 2> at_band(double c) {
  // The energy k l0 (s - 1)^2 / 2 of C = s^2 - 1, over k l0 / 4, differentiated twice.
  if (c <= 0) return {1e-3 * c, 1e-3};
  const double s = std::sqrt(1 + c);
  return {2 * (s - 1) / s, std::pow(1 + c, -1.5)};
}

}  // namespace isocloth::reference

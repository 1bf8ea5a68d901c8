#include "host/reference/stress_laws.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace isocloth::reference {
namespace {

/// Integral of p from the begin of a piece over t.
double integral(const CurvePiece& p, double t) {
  return t * (p.value + t * (p.slope / 2 + t * (p.square / 3 + t * p.cube / 4)));
}

}  // namespace

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

StressLaw::StressLaw(std::vector<CurvePiece> pieces) : pieces_(std::move(pieces)), energies_(1, 0.0) {
  for (std::size_t i = 0; i + 1 < pieces_.size(); ++i)
    energies_.push_back(energies_[i] + integral(pieces_[i], pieces_[i + 1].begin - pieces_[i].begin));
}

ThreadStrain thread_strain(StrainMeasure measure, double c) {
  if (measure != StrainMeasure::engineering) return {c, 1};
  // Of an inverted element as the steps have it: none is shorter than a hundredth.
  const double s = std::sqrt(c > -0.9999 ? 1 + c : 1e-4);
  return {2 * (s - 1), s};
}

ElasticResponse thread_response(StrainMeasure measure, double c, const ElasticResponse& by_x) {
  if (measure != StrainMeasure::engineering) return by_x;
  const auto& [energy, p, rise] = by_x;
  const double s = thread_strain(measure, c).by_x;
  return {energy, p / s, rise / (s * s) - p / (2 * s * s * s)};
}

ElasticResponse StressLaw::at(double c, StrainMeasure measure) const {
  const double x = thread_strain(measure, c).x, size = std::fabs(x), sign = x < 0 ? -1 : 1;
  const auto piece = std::prev(std::ranges::upper_bound(pieces_, size, {}, &CurvePiece::begin));
  const double t = size - piece->begin,
               p = sign * (piece->value + t * (piece->slope + t * (piece->square + t * piece->cube))),
               rise = piece->slope + t * (2 * piece->square + 3 * t * piece->cube);
  return thread_response(
      measure, c,
      {energies_[static_cast<std::size_t>(piece - pieces_.begin())] + integral(*piece, t), p, rise});
}

ElasticResponse band_response(double c) {
  // The energy k l0 (s - 1)^2 / 2 of C = s^2 - 1, over k l0 / 4, differentiated twice.
  if (c <= 0) return {1e-3 * c * c / 2, 1e-3 * c, 1e-3};
  const double s = std::sqrt(1 + c);
  return {2 * (s - 1) * (s - 1), 2 * (s - 1) / s, std::pow(1 + c, -1.5)};
}

ElasticResponse difference_response(double c) {
  const double at = std::clamp(c, -0.5, 0.5), ratio = at * at / (0.025 * 0.025), beyond = c - at;
  const ElasticResponse found{at * at * (2 + ratio) / 4, at * (1 + ratio), 1 + 3 * ratio};
  return {found.energy + beyond * (found.stress + beyond * found.slope / 2),
          found.stress + beyond * found.slope, found.slope};
}

ElasticResponse elastic_response(const std::vector<StressLaw>& laws, Index law, StrainMeasure measure,
                                 double c, double curvature) {
  if (law == RowLaw::band) return band_response(c);
  if (law == RowLaw::difference) return difference_response(c);
  if (law < 0 || law >= RowLaw::count || laws.empty()) return {c * c / 2, c, 1};
  const StressLaw& own = laws[static_cast<std::size_t>(law)];
  if (law != RowLaw::bend) return own.at(c, measure);
  const auto [energy, stress, slope] = own.at(curvature * c, StrainMeasure::green);
  return {energy / (curvature * curvature), stress / curvature, slope};
}

}  // namespace isocloth::reference

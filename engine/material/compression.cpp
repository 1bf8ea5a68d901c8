#include "engine/material/compression.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {
namespace {

/// Least and greatest pressure of KES-FB3 [Pa].
constexpr double least_pressure = 49.03325, most_pressure = 4903.325;

double inverse_square(double x) { return 1 / (x * x); }
double inverse_cube(double x) { return 1 / (x * x * x); }
/// W(t) [J/m^2] where the curve is not linear yet.
double work(const Compression& curve, double t) {
  return curve.stiffness / 2 * (inverse_square(t - curve.core) - inverse_square(curve.give())) -
         curve.offset() * (curve.thickness - t);
}

}  // namespace

double Compression::offset() const { return stiffness * inverse_cube(give()); }

double Compression::linear_from() const {
  return stiffness * std::pow(3 * stiffness / largest_slope(), -0.75) - offset();
}

double Compression::pressure(double t) const {
  if (t >= thickness) return 0;
  const double from = thickness_at(linear_from());
  return stiffness * inverse_cube(std::max(t, from) - core) - offset() +
         largest_slope() * std::max(from - t, 0.0);
}

double Compression::thickness_at(double p) const {
  const double from = linear_from(), on_curve = std::clamp(p, 0.0, from);
  return core + std::cbrt(stiffness / (on_curve + offset())) - std::max(p - from, 0.0) / largest_slope();
}

double Compression::slope(double p) const {
  const double on_curve = p > 0 ? std::min(p, linear_from()) : 0;
  return 3 * std::pow(on_curve + offset(), 4.0 / 3) / std::cbrt(stiffness);
}

double Compression::energy(double t) const {
  if (t >= thickness) return 0;
  const double pressure = linear_from(), from = thickness_at(pressure), beyond = std::max(from - t, 0.0);
  return work(*this, std::max(t, from)) + beyond * (pressure + largest_slope() / 2 * beyond);
}

Compression fitted_compression(double t0, double tm, double lc) {
  constexpr double least_offset = 25;  // [Pa]
  const double wanted = lc * most_pressure / 2 * (t0 - tm);
  Compression curve;
  const auto set_core = [&](double core) {
    curve.core = core;
    curve.stiffness = (most_pressure - least_pressure) / (inverse_cube(tm - core) - inverse_cube(t0 - core));
    const double offset = curve.stiffness * inverse_cube(t0 - core) - least_pressure;
    curve.thickness = core + std::cbrt(curve.stiffness / std::max(offset, least_offset));
    return offset;
  };
  double low = 0.1 * tm, high = tm * (1 - 1e-6);
  for (int n = 0; n < 100; ++n) {
    const double middle = (low + high) / 2;
    if (set_core(middle) > least_offset && work(curve, tm) - work(curve, t0) > wanted)
      low = middle;
    else
      high = middle;
  }
  set_core(low);
  return curve;
}

Compression compression_of_thickness(double thickness) {
  static const Compression shape = fitted_compression(0.93, 0.67, 0.35);
  const double scale = thickness / shape.thickness;
  return {.thickness = thickness,
          .core = scale * shape.core,
          .stiffness = scale * scale * scale * shape.stiffness};
}

}  // namespace isocloth

#include "host/fit/stiffness_spline.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {

double StiffnessSpline::at(double strain) const {
  const std::size_t count = strains.size();
  if (count == 1 || strain <= strains.front()) return std::max(0.0, stiffness.front());
  if (strain >= strains.back()) return std::max(0.0, stiffness.back());
  const auto secant = [&](std::size_t i) {
    return (stiffness[i + 1] - stiffness[i]) / (strains[i + 1] - strains[i]);
  };
  const auto slope = [&](std::size_t i) {
    if (i == 0) return secant(0);
    if (i + 1 == count) return secant(i - 1);
    const double before = strains[i] - strains[i - 1], after = strains[i + 1] - strains[i];
    return (after * secant(i - 1) + before * secant(i)) / (before + after);
  };
  const auto next = std::ranges::upper_bound(strains, strain);
  const auto i = static_cast<std::size_t>(next - strains.begin()) - 1;
  const double width = strains[i + 1] - strains[i], t = (strain - strains[i]) / width, u = 1 - t;
  return std::max(0.0, u * u * (1 + 2 * t) * stiffness[i] + t * t * (1 + 2 * u) * stiffness[i + 1] +
                           width * t * u * (u * slope(i) - t * slope(i + 1)));
}

std::vector<double> control_strains(const std::array<double, 2>& range, int count) {
  if (count == 1) return {(range[0] + range[1]) / 2};
  std::vector<double> all;
  for (int i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / (count - 1);
    all.push_back((1 - t) * range[0] + t * range[1]);
  }
  return all;
}

StressCurve stress_curve(const StiffnessSpline& spline, bool is_shear, StrainMeasure measure) {
  const std::size_t controls = spline.strains.size();
  const std::size_t count = controls == 1 ? 1 : std::min<std::size_t>(64, 12 * (controls - 1) + 4);
  const double last = spline.strains.back(), width = last / static_cast<double>(count);
  std::vector<double> strains, rises;
  double before = 0, most = 0;
  for (std::size_t i = 1; i <= count; ++i) {
    const double strain = i == count ? last : width * static_cast<double>(i),
                 stress = spline.at(strain) * strain;
    strains.push_back(strain);
    rises.push_back(stress - before);
    most = std::max(most, rises.back());
    before = stress;
  }
  StressCurve curve;
  double stress = 0;
  for (std::size_t i = 0; i < count; ++i) {
    stress += std::max(rises[i], 1e-3 * std::max(most, 1e-6 * width));
    const bool is_green = !is_shear && measure == StrainMeasure::green;
    const double d = is_green ? std::sqrt(1 + 2 * strains[i]) - 1 : strains[i];
    curve.points.push_back({d, is_green ? (1 + d) * stress : stress});
  }
  return curve;
}

}  // namespace isocloth

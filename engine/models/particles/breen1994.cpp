#include "engine/models/particles/breen1994.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/models/grids/particle_grid.hpp"
#include "engine/models/particles/bare_model.hpp"

namespace isocloth {
namespace {

constexpr double degree = std::numbers::pi / 180, sharpest = 45 * degree, most_shear = 60 * degree;
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

std::array<double, 2> breen_curvature(double theta, double w) {
  if (theta >= sharpest) return {2 / w * std::cos(theta / 2), -std::sin(theta / 2) / w};
  const double a = sharpest * sharpest * std::sin(sharpest / 2) / w;
  const double b = 2 / w * std::cos(sharpest / 2) - a / sharpest;
  return {a / theta + b, -a / (theta * theta)};
}

MeasuredCurve::MeasuredCurve(std::vector<std::array<double, 2>> points, const std::string& x,
                             const std::string& y)
    : points_{{0, 0}} {
  for (const auto& [at, value] : points) {
    if (!(at > points_.back()[0] && value > points_.back()[1] && std::isfinite(value)))
      throw SceneError(text("found (", at, ", ", value, ") after (", points_.back()[0], ", ",
                            points_.back()[1], "), expected ", x, " and ", y, " to rise from (0, 0)"));
    points_.push_back({at, value});
  }
  if (points_.size() < 2) throw SceneError("found no point of the curve, expected one at least");
  integrals_ = {0};
  for (std::size_t i = 1; i < points_.size(); ++i) integrals_.push_back(integral(points_[i][0]));
}

std::size_t MeasuredCurve::piece(double x) const {
  std::size_t i = 1;
  while (i + 1 < points_.size() && x > points_[i][0]) ++i;
  return i;
}
double MeasuredCurve::slope(double x) const {
  const std::size_t i = piece(x);
  return (points_[i][1] - points_[i - 1][1]) / (points_[i][0] - points_[i - 1][0]);
}
double MeasuredCurve::value(double x) const {
  const auto& [from, begin] = points_[piece(x) - 1];
  return begin + slope(x) * (x - from);
}
double MeasuredCurve::integral(double x) const {
  const std::size_t i = piece(x) - 1;
  return integrals_[i] + (points_[i][1] + value(x)) / 2 * (x - points_[i][0]);
}

EnergyLaw breen_bending(const MeasuredCurve& moment, double w) {
  return [moment, w](double c) -> LawValue {
    // K^2 = (2 / w^2) (1 + cos(theta)) needs no angle, which has no derivative where the thread is straight.
    if (c <= std::cos(sharpest)) {
      const double k2 = 2 / (w * w) * std::max(1 + c, 0.0), k = std::sqrt(k2), first = moment.slope(0);
      if (k <= moment.points()[1][0]) return {first * (1 + c), first, 0};
      const double m = moment.value(k);
      return {w * w * moment.integral(k), m / k, (moment.slope(k) * k - m) / (w * w * k2 * k)};
    }
    const double theta = std::acos(c), s = std::sin(theta);
    if (!(s > 0)) return {infinite, infinite, 0};
    const auto [k, slope] = breen_curvature(theta, w);
    const double second = -2 * slope / theta, m = moment.value(k);  // K'' of a / theta + b
    const double by_angle = w * w * m * slope,
                 by_angle2 = w * w * (moment.slope(k) * slope * slope + m * second);
    return {w * w * moment.integral(k), -by_angle / s, (by_angle2 - by_angle * c / s) / (s * s)};
  };
}
EnergyLaw breen_bending(double kappa, double w) {
  return breen_bending(MeasuredCurve({{1, kappa}}, "curvature", "moment"), w);
}

BreenShear::BreenShear(std::vector<std::array<double, 2>> points)
    : curve_(std::move(points), "angle [rad]", "force [N/m]") {
  const double end = measured_to();
  if (!(end < most_shear))
    throw SceneError(
        text("found a shear of ", end / degree,
             " degrees, expected less than 60, where the tail is infinite; leave out those points"));
  a_ = curve_.slope(end) * (most_shear - end) * (most_shear - end);
  b_ = curve_.value(end) - a_ / (most_shear - end);
  works_ = {0};
  for (std::size_t i = 1; i < curve_.points().size(); ++i) works_.push_back(work(curve_.points()[i][0]));
}

double BreenShear::force(double angle) const {
  if (angle <= measured_to()) return curve_.value(angle);
  return angle < most_shear ? a_ / (most_shear - angle) + b_ : infinite;
}

double BreenShear::slope(double angle) const {
  return angle <= measured_to() ? curve_.slope(angle) : a_ / ((most_shear - angle) * (most_shear - angle));
}

double BreenShear::work(double angle) const {
  if (angle >= most_shear) return infinite;
  const double end = measured_to();
  if (angle > end) {
    // With u = ln((60 - end) / (60 - A)) dA / (60 - A) is du, and what is left to integrate has no pole.
    constexpr std::array<double, 4> nodes{0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                          0.9602898564975363},
        weights{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
    const double whole = std::log((most_shear - end) / (most_shear - angle));
    const int parts = std::max(1, static_cast<int>(std::ceil(whole)));
    const double h = whole / parts;
    double sum = 0;
    for (int p = 0; p < parts; ++p)
      for (std::size_t k = 0; k < nodes.size(); ++k)
        for (const double side : {-1.0, 1.0}) {
          const double u = h * (p + 0.5 + side * nodes[k] / 2);
          sum += h / 2 * weights[k] * std::cos(most_shear - (most_shear - end) * std::exp(-u));
        }
    return works_.back() + a_ * sum + b_ * (std::sin(angle) - std::sin(end));
  }
  const std::size_t i = curve_.piece(angle) - 1;
  const auto& [from, begin] = curve_.points()[i];
  const double s = slope(angle);
  return works_[i] + force(angle) * std::sin(angle) + s * std::cos(angle) - begin * std::sin(from) -
         s * std::cos(from);
}

EnergyLaw breen_trellis(const BreenShear& shear, double w) {
  const double area = w * w / 4;
  return [shear, area](double c) -> LawValue {
    const double angle = std::asin(std::fabs(c));
    if (angle >= most_shear) return {infinite, infinite, 0};
    // With c = sin(A), dT/dc = F cos(A) dA/dc = F.
    const double force = area * shear.force(angle);
    return {area * shear.work(angle), c < 0 ? -force : force, area * shear.slope(angle) / std::cos(angle)};
  };
}

EnergyLaw breen_stretch(double scale, double w) {
  return [scale, w](double r) -> LawValue {
    const double e = (r - w) / w;
    if (!(e > 0)) return {};
    return {scale * std::pow(e, 5), 5 * scale * std::pow(e, 4) / w, 20 * scale * e * e * e / (w * w)};
  };
}

EnergyLaw breen_repulsion(double scale, double w) {
  return [scale, w](double r) -> LawValue {
    if (!(r > 0)) return {infinite, 0, 0};
    const double e = (w - r) / w, q = w / r, e3 = e * e * e, e4 = e3 * e, e5 = e4 * e;
    if (!(e > 0)) return {};
    return {scale * e5 * q, -scale / w * (5 * e4 * q + e5 * q * q),
            scale / (w * w) * (20 * e3 * q + 10 * e4 * q * q + 2 * e5 * q * q * q)};
  };
}

ParticleModel breen_model(Index columns, Index rows, double w, const Fabric& fabric, Vec3d gravity,
                          const BreenSettings& settings, const std::string& key) {
  const StressCurves& curves = fabric.curves;
  if (!(fabric.bending_stiffness > 0) && !curves.bend.exists())
    throw SceneError(text(
        key,
        ".fabric.bending_stiffness: found 0, expected a bending stiffness > 0, or a curve of curves.bend"));
  std::vector<std::array<double, 2>> measured;
  for (const auto& [strain, force] : sampled(curves.shear)) measured.push_back({std::atan(strain), force});
  if (measured.empty()) measured.push_back({8 * degree, 8 * degree * fabric.shear_stiffness});
  EnergyLaw trellis;
  try {
    trellis = breen_trellis(BreenShear(measured), w);
  } catch (const SceneError& error) {
    throw SceneError(text(key, ".fabric.curves.shear: ", error.what()));
  }
  ParticleModel model = bare_model({columns, rows, w}, fabric.gravity_density, gravity);
  const auto node = [columns](Index i, Index j) { return j * columns + i; };
  LengthTerms threads{"stretch", {}, {}};
  const auto bending = [w](const StressCurve& curve, double stiffness) {
    return curve.exists() ? breen_bending(MeasuredCurve(sampled(curve), "curvature", "moment"), w)
                          : breen_bending(stiffness, w);
  };
  AngleTerms warp{"bend along warp", bending(curves.bend, fabric.bending_stiffness), {}};
  AngleTerms weft{"bend along weft",
                  bending(curves.weft_bend.exists() ? curves.weft_bend : curves.bend,
                          fabric.bending_stiffness * fabric.bending_ratio()),
                  {}};
  AngleTerms corners{"trellis", std::move(trellis), {}};
  for (Index j = 0; j < rows; ++j)
    for (Index i = 0; i < columns; ++i) {
      if (i + 1 < columns) threads.pairs.push_back({node(i, j), node(i + 1, j)});
      if (j + 1 < rows) threads.pairs.push_back({node(i, j), node(i, j + 1)});
      if (i > 0 && i + 1 < columns) warp.triples.push_back({node(i - 1, j), node(i, j), node(i + 1, j)});
      if (j > 0 && j + 1 < rows) weft.triples.push_back({node(i, j - 1), node(i, j), node(i, j + 1)});
      for (const Index di : {-1, 1})
        for (const Index dj : {-1, 1}) {
          if (i + di < 0 || i + di >= columns || j + dj < 0 || j + dj >= rows) continue;
          corners.triples.push_back({node(i + di, j), node(i, j), node(i, j + dj)});
        }
    }
  const double load =
      fabric.gravity_density * w * w * std::max(norm(gravity), 1e-3) * std::max(columns, rows);
  const double scale = load * w / (5 * std::pow(settings.strain, 4));
  threads.law = breen_stretch(scale, w);
  model.repulsion = breen_repulsion(scale, w);
  model.lengths = {std::move(threads)};
  model.angles = {std::move(warp), std::move(weft), std::move(corners)};
  return model;
}

}  // namespace isocloth

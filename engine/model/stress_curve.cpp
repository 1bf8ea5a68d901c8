#include "engine/model/stress_curve.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/text.hpp"
#include "engine/model/checks.hpp"

namespace isocloth {
namespace {

/// More would cost each element more than all the rest of its row.
constexpr std::size_t most_points = 64;
/// Of any piece over the steepest: strains are told by stresses, which nearly level ones hardly do.
constexpr double least_slope = 1e-4;

/// (x, p) of each point.
std::vector<std::array<double, 2>> thread_knots(const StressCurve& curve, double stiffness,
                                                StrainMeasure measure = StrainMeasure::green) {
  const bool is_green = measure == StrainMeasure::green;
  std::vector<std::array<double, 2>> knots{{0, 0}};
  for (const auto& [d, force] : curve.points)
    knots.push_back({is_green ? d * (2 + d) : 2 * d, 2 * force / (is_green ? 1 + d : 1) / stiffness});
  return knots;
}
std::vector<std::array<double, 2>> shear_knots(const StressCurve& curve, double stiffness) {
  std::vector<std::array<double, 2>> knots{{0, 0}};
  for (const auto& [d, force] : curve.points) knots.push_back({d, force / stiffness});
  return knots;
}

/// Cubic pieces through the knots, and a line beyond.
std::vector<CurvePiece> pieces_through(const std::vector<std::array<double, 2>>& knots) {
  if (knots.size() == 1) return {{}};
  const std::size_t count = knots.size() - 1;
  std::vector<double> width(count), secant(count), slope(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    width[i] = knots[i + 1][0] - knots[i][0];
    secant[i] = (knots[i + 1][1] - knots[i][1]) / width[i];
  }
  slope[0] = secant[0];  // the curve goes on antisymmetrically
  slope[count] = secant[count - 1];
  for (std::size_t i = 1; i < count; ++i) {
    const double left = width[i - 1] + 2 * width[i], right = 2 * width[i - 1] + width[i];
    slope[i] = (left + right) / (left / secant[i - 1] + right / secant[i]);
  }
  std::vector<CurvePiece> pieces;
  for (std::size_t i = 0; i < count; ++i)
    pieces.push_back({knots[i][0], knots[i][1], slope[i],
                      (3 * secant[i] - 2 * slope[i] - slope[i + 1]) / width[i],
                      (slope[i] + slope[i + 1] - 2 * secant[i]) / (width[i] * width[i])});
  pieces.push_back({knots[count][0], knots[count][1], slope[count], 0, 0});
  return pieces;
}

/// What a point of a curve is called.
struct PointNames {
  const char *strain = "strain", *force = "force", *where = "per width of the stretched cloth";
};

void validate_curve(const std::string& key, const StressCurve& curve,
                    const std::vector<std::array<double, 2>>& knots, const PointNames& names = {}) {
  if (curve.points.size() > most_points)
    refuse(key, text(curve.points.size(), " points"), text("at most ", most_points));
  double steepest = 0;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const auto& [strain, force] = curve.points[i];
    const std::string at = text(key, "[", i, "]");
    if (!std::isfinite(strain) || !std::isfinite(force))
      refuse(at, text(names.strain, ' ', strain, ", ", names.force, ' ', force), "finite numbers");
    const double before = i == 0 ? 0 : curve.points[i - 1][0];
    if (!(strain > before))
      refuse(text(at, '.', names.strain), strain,
             text("more than ", before, ", the ", names.strain, " before; (0, 0) is implied"));
    const double slope = (knots[i + 1][1] - knots[i][1]) / (knots[i + 1][0] - knots[i][0]);
    steepest = std::max(steepest, slope);
    if (!(slope > 0))
      refuse(text(at, '.', names.force), force,
             text("more: ", names.force, " must rise, ", names.where, " by more than 0 after ",
                  i == 0 ? 0 : curve.points[i - 1][1], " at ", names.strain, ' ', before));
  }
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const double slope = (knots[i + 1][1] - knots[i][1]) / (knots[i + 1][0] - knots[i][0]);
    if (slope < least_slope * steepest)
      refuse(
          text(key, "[", i, "].", names.force), curve.points[i][1],
          text("more: ", names.force, " must rise everywhere by ", least_slope, " of where it rises most"));
  }
}

}  // namespace

std::vector<double> flat(const std::vector<CurvePiece>& pieces) {
  std::vector<double> numbers;
  for (const auto& [begin, value, slope, square, cube] : pieces)
    numbers.insert(numbers.end(), {begin, value, slope, square, cube});
  return numbers;
}

std::vector<CurvePiece> thread_law(const StressCurve& curve, double stiffness, StrainMeasure measure) {
  return pieces_through(thread_knots(curve, stiffness, measure));
}
std::vector<CurvePiece> shear_law(const StressCurve& curve, double stiffness) {
  return pieces_through(shear_knots(curve, stiffness));
}

double response(ArrayView<const CurvePiece> law, double x) {
  double found = 0;
  for (const CurvePiece& p : law)
    if (const double t = std::abs(x) - p.begin; t >= 0)
      found = p.value + t * (p.slope + t * (p.square + t * p.cube));
  return std::copysign(found, x);
}

void validate_curves(const std::string& key, const StressCurves& curves) {
  validate_curve(key + ".warp", curves.warp, thread_knots(curves.warp, 1));
  validate_curve(key + ".weft", curves.weft, thread_knots(curves.weft, 1));
  validate_curve(key + ".shear", curves.shear, shear_knots(curves.shear, 1));
  constexpr PointNames of_bending{"curvature", "moment", "per width"};
  validate_curve(key + ".bend", curves.bend, shear_knots(curves.bend, 1), of_bending);
  validate_curve(key + ".weft_bend", curves.weft_bend, shear_knots(curves.weft_bend, 1), of_bending);
}

}  // namespace isocloth

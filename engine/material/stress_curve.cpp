#include "engine/material/stress_curve.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/checks.hpp"
#include "engine/core/enum_check.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

/// Greatest number of points of a curve: more would cost each element more than all the rest of its row.
constexpr std::size_t most_points = 64;
/// Least slope of any piece over the steepest: strains are told by stresses, which nearly level ones hardly
/// do.
constexpr double least_steepness = 1e-4;

/// Number of pieces of a polynomial, and of a curve that is straight between few points, where x is not
/// linear in d.
constexpr std::size_t usual_pieces = 24;
/// Greatest number of coefficients: the error of pieces is of fourth order, and so many leave less than 1e-4
/// of the last force.
constexpr std::size_t most_coefficients = 8;

/// A point of a law: x, p and dp/dx before and after it.
struct Knot {
  double x = 0, p = 0, before = 1, after = 1;
};

/// How displacement and force become x and p; see thread_law() and shear_law().
class Conversion {
 public:
  static Conversion of_thread(double stiffness, StrainMeasure measure = StrainMeasure::green) {
    return {measure == StrainMeasure::green, 2, stiffness};
  }
  static Conversion of_shear(double stiffness) { return {false, 1, stiffness}; }

  double x(double d) const { return is_green_ ? d * (2 + d) : factor_ * d; }
  double p(double d, double force) const { return factor_ * force / (is_green_ ? 1 + d : 1) / stiffness_; }
  /// dp/dx = (dp/dd) / (dx/dd).
  double slope(double d, double force, double rise) const {
    const double s = 1 + d;
    return (is_green_ ? (rise - force / s) / (s * s) : rise) / stiffness_;
  }
  double displacement(double x) const { return is_green_ ? std::sqrt(1 + x) - 1 : x / factor_; }
  /// Whether polynomials of d are such of x.
  bool is_linear() const { return !is_green_; }

 private:
  Conversion(bool is_green, double factor, double stiffness)
      : is_green_(is_green), factor_(factor), stiffness_(stiffness) {}
  bool is_green_;
  double factor_, stiffness_;
};

/// Cubic Hermite polynomials, and a line beyond the last knot.
std::vector<CurvePiece> pieces_through(const std::vector<Knot>& knots) {
  std::vector<CurvePiece> pieces;
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const double width = knots[i + 1].x - knots[i].x, secant = (knots[i + 1].p - knots[i].p) / width,
                 from = knots[i].after, to = knots[i + 1].before;
    pieces.push_back({knots[i].x, knots[i].p, from, (3 * secant - 2 * from - to) / width,
                      (from + to - 2 * secant) / (width * width)});
  }
  pieces.push_back({knots.back().x, knots.back().p, knots.back().before, 0, 0});
  return pieces;
}

/// (x, p) of the points, with slopes that keep what is between them rising.
std::vector<Knot> smooth_knots(const StressCurve& curve, const Conversion& of) {
  std::vector<Knot> knots{{}};
  for (const auto& [d, force] : curve.points) knots.push_back({of.x(d), of.p(d, force)});
  const std::size_t count = knots.size() - 1;
  const auto width = [&](std::size_t i) { return knots[i + 1].x - knots[i].x; };
  const auto secant = [&](std::size_t i) { return (knots[i + 1].p - knots[i].p) / width(i); };
  knots[0].after = secant(0);  // the curve goes on antisymmetrically
  knots[count].before = secant(count - 1);
  for (std::size_t i = 1; i < count; ++i) {
    const double left = width(i - 1) + 2 * width(i), right = 2 * width(i - 1) + width(i);
    knots[i].before = knots[i].after = (left + right) / (left / secant(i - 1) + right / secant(i));
  }
  return knots;
}

/// Straight from point to point, in so many parts each.
std::vector<Knot> straight_knots(const StressCurve& curve, const Conversion& of) {
  const std::size_t parts =
      of.is_linear() ? 1 : (usual_pieces + curve.points.size() - 1) / curve.points.size();
  std::vector<Knot> knots;
  double d = 0, force = 0;
  for (const auto& [end, last] : curve.points) {
    const double rise = (last - force) / (end - d);
    for (std::size_t i = 0; i <= parts; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(parts);
      const double at = i == parts ? end : d + t * (end - d),
                   f = i == parts ? last : force + t * (last - force), slope = of.slope(at, f, rise);
      if (i == 0 && !knots.empty())
        knots.back().after = slope;
      else
        knots.push_back({of.x(at), of.p(at, f), slope, slope});
    }
    d = end;
    force = last;
  }
  return knots;
}

std::vector<Knot> polynomial_knots(const StressCurve& curve, const Conversion& of) {
  const std::size_t count = of.is_linear() && curve.polynomial.size() <= 3 ? 1 : usual_pieces;
  std::vector<Knot> knots;
  for (std::size_t i = 0; i <= count; ++i) {
    // Closer where strains are small, so that small forces are as exact as large ones.
    const double share = static_cast<double>(i) / static_cast<double>(count),
                 d = i == count ? curve.up_to : curve.up_to * share * std::sqrt(share);
    double force = 0, rise = 0;
    for (std::size_t k = curve.polynomial.size(); k-- > 0;) {
      rise = rise * d + static_cast<double>(k + 1) * curve.polynomial[k];
      force = (force + curve.polynomial[k]) * d;
    }
    const double slope = of.slope(d, force, rise);
    knots.push_back({of.x(d), of.p(d, force), slope, slope});
  }
  return knots;
}

std::vector<CurvePiece> pieces_of(const StressCurve& curve, const Conversion& of) {
  if (!curve.polynomial.empty()) return pieces_through(polynomial_knots(curve, of));
  if (curve.points.empty()) return {{}};
  const bool is_smooth = curve.between == CurveBetween::cubic;
  return pieces_through(is_smooth ? smooth_knots(curve, of) : straight_knots(curve, of));
}

/// What a point of a curve is called.
struct PointNames {
  const char *strain = "strain", *force = "force", *where = "per width of the stretched cloth";
};

/// Checks a polynomial: its pieces, the slopes of which are parabolas, rise where they are flattest.
void validate_polynomial(const std::string& key, const StressCurve& curve, const Conversion& of,
                         const PointNames& names) {
  if (!curve.points.empty()) refuse(key, "points and a polynomial", "one of them");
  const std::vector<double>& a = curve.polynomial;
  if (a.size() > most_coefficients)
    refuse(key + ".polynomial", text(a.size(), " coefficients"), text("at most ", most_coefficients));
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!std::isfinite(a[i])) refuse(text(key, ".polynomial[", i, "]"), a[i], "a finite number");
  if (!(curve.up_to > 0) || !std::isfinite(curve.up_to))
    refuse(key + ".up_to", curve.up_to, text("a ", names.strain, " > 0"));
  const std::vector<CurvePiece> pieces = pieces_of(curve, of);
  double steepest = 0, flattest = pieces.front().slope, where = 0;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    const CurvePiece& p = pieces[i];
    const double width = pieces[i + 1].begin - p.begin, vertex = -p.square / (3 * p.cube);
    for (const double t : {0.0, vertex, width}) {
      if (!(t >= 0 && t <= width)) continue;
      const double slope = p.slope + t * (2 * p.square + 3 * p.cube * t);
      steepest = std::max(steepest, slope);
      if (slope >= flattest) continue;
      flattest = slope;
      where = of.displacement(p.begin + t);
    }
  }
  if (flattest > 0 && flattest >= least_steepness * steepest) return;
  refuse(key + ".polynomial",
         text("a ", names.force, ' ', names.where,
              flattest > 0 ? " that hardly rises" : " that does not rise", " at ", names.strain, ' ', where),
         text("one that rises up to ", names.strain, ' ', curve.up_to, ", everywhere by ", least_steepness,
              " of where it rises most; lower up_to, or change the coefficients"));
}

void validate_points(const std::string& key, const StressCurve& curve, const Conversion& of,
                     const PointNames& names) {
  if (curve.points.size() > most_points)
    refuse(key, text(curve.points.size(), " points"), text("at most ", most_points));
  const auto slope_to = [&](std::size_t i) {
    const auto& [strain, force] = curve.points[i];
    const auto [before, less] = i == 0 ? std::array<double, 2>{} : curve.points[i - 1];
    return (of.p(strain, force) - of.p(before, less)) / (of.x(strain) - of.x(before));
  };
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
    const double slope = slope_to(i);
    steepest = std::max(steepest, slope);
    if (!(slope > 0))
      refuse(text(at, '.', names.force), force,
             text("more: ", names.force, " must rise, ", names.where, " by more than 0 after ",
                  i == 0 ? 0 : curve.points[i - 1][1], " at ", names.strain, ' ', before));
  }
  for (std::size_t i = 0; i < curve.points.size(); ++i)
    if (slope_to(i) < least_steepness * steepest)
      refuse(text(key, "[", i, "].", names.force), curve.points[i][1],
             text("more: ", names.force, " must rise everywhere by ", least_steepness,
                  " of where it rises most"));
}

void validate_curve(const std::string& key, const StressCurve& curve, const Conversion& of,
                    const PointNames& names = {}) {
  require_enum(key + ".between", curve.between, CurveBetween::linear);
  if (curve.polynomial.empty())
    validate_points(key, curve, of, names);
  else
    validate_polynomial(key, curve, of, names);
}

}  // namespace

std::vector<double> flat(const std::vector<CurvePiece>& pieces) {
  std::vector<double> numbers;
  for (const auto& [begin, value, slope, square, cube] : pieces)
    numbers.insert(numbers.end(), {begin, value, slope, square, cube});
  return numbers;
}

std::vector<CurvePiece> thread_law(const StressCurve& curve, double stiffness, StrainMeasure measure) {
  return pieces_of(curve, Conversion::of_thread(stiffness, measure));
}
std::vector<CurvePiece> shear_law(const StressCurve& curve, double stiffness) {
  return pieces_of(curve, Conversion::of_shear(stiffness));
}

std::vector<std::array<double, 2>> sampled(const StressCurve& curve) {
  if (curve.polynomial.empty()) return curve.points;
  std::vector<std::array<double, 2>> points;
  const auto law = pieces_of(curve, Conversion::of_shear(1));
  for (std::size_t i = 1; i <= most_points; ++i) {
    const double d = curve.up_to * static_cast<double>(i) / most_points;
    points.push_back({d, response({law.data(), law.size()}, d)});
  }
  return points;
}

double response(ArrayView<const CurvePiece> law, double x) {
  double found = 0;
  for (const CurvePiece& p : law)
    if (const double t = std::abs(x) - p.begin; t >= 0)
      found = p.value + t * (p.slope + t * (p.square + t * p.cube));
  return std::copysign(found, x);
}

void validate_curves(const std::string& key, const StressCurves& curves) {
  validate_curve(key + ".warp", curves.warp, Conversion::of_thread(1));
  validate_curve(key + ".weft", curves.weft, Conversion::of_thread(1));
  validate_curve(key + ".shear", curves.shear, Conversion::of_shear(1), {.where = "per width"});
  constexpr PointNames of_bending{"curvature", "moment", "per width"};
  validate_curve(key + ".bend", curves.bend, Conversion::of_shear(1), of_bending);
  validate_curve(key + ".weft_bend", curves.weft_bend, Conversion::of_shear(1), of_bending);
}

void validate_curves(const std::string& key, const ViscosityCurves& curves) {
  constexpr PointNames of_viscosity{"rate", "force", "per width"};
  validate_curve(key + ".warp", curves.warp, Conversion::of_shear(1), of_viscosity);
  validate_curve(key + ".weft", curves.weft, Conversion::of_shear(1), of_viscosity);
  validate_curve(key + ".shear", curves.shear, Conversion::of_shear(1), of_viscosity);
}

}  // namespace isocloth

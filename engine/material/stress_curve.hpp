// Stress against strain of threads and of shear, by measurement.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

/// How a curve goes from point to point.
enum class CurveBetween {
  cubic,   ///< without kinks
  linear,  ///< straight
};

/// What a tensile tester finds: points (strain, force per width of the rest shape [N/m]), both rising from
/// (0, 0), which is left out. Strain is displacement over length: elongation of threads, the tangent of the
/// angle of shear with the length along the thread held. Compression, and shear the other way, answer alike
/// (Volino, Magnenat-Thalmann, Faure 2009, appendix: antisymmetric).
struct StressCurve {
  std::vector<std::array<double, 2>> points;
  CurveBetween between = CurveBetween::cubic;
  /// In the place of points: force a_1 d + a_2 d^2 + ... [N/m] up to the strain d = up_to, by its tangent
  /// beyond.
  std::vector<double> polynomial{};
  double up_to = 0;
  bool exists() const { return !points.empty() || !polynomial.empty(); }
  bool operator==(const StressCurve&) const = default;
};
/// The points of a curve, 64 of a polynomial.
std::vector<std::array<double, 2>> sampled(const StressCurve& curve);

/// Curves of the threads and of the shear of a membrane. One that does not exist is linear, with the
/// stiffness of the fabric; weft: as warp.
struct StressCurves {
  StressCurve warp, weft, shear;
  /// Curves of hinges (engine/rows/hinges.hpp) and of Breen's energies
  /// (engine/models/particles/breen1994.hpp): points (curvature [1/m], moment per width of the cloth [N]) of
  /// a bending tester, which Breen's energies go through straight. weft_bend: of Breen's alone, default: as
  /// warp.
  StressCurve bend{}, weft_bend{};
  /// Whether there is any that rows of elements answer by.
  bool exist() const { return warp.exists() || weft.exists() || shear.exists(); }
  bool operator==(const StressCurves&) const = default;
};

/// Curves of viscous stress against rates of strain (Volino et al. 2009, section 3): points (rate of Green's
/// strain, or of the angle of shear [1/s], second Piola and Kirchhoff stress [N/m]); at small strains the
/// force per width. One that does not exist is linear, with the viscosity of the fabric; weft: as warp.
struct ViscosityCurves {
  StressCurve warp{}, weft{}, shear{};
  bool exist() const { return warp.exists() || weft.exists() || shear.exists(); }
  bool operator==(const ViscosityCurves&) const = default;
};

/// Numbers of laws: of the three rows of a point of an element, in their order, of springs and of hinges. Of
/// bands, of differences of triangles and of large angles there are no curves.
struct RowLaw {
  enum : Index { warp, shear, weft, flexion, bend, count, band = count, difference, large_angle, fold };
};

/// Which strain of a length a stress belongs to: the laws of engine/material/membrane_laws.hpp.
enum class StrainMeasure {
  green,         ///< ((l / l0)^2 - 1) / 2
  engineering,   ///< l / l0 - 1
  corotational,  ///< S - I of F = R S, elements alone
};

/// p(x) = value + t (slope + t (square + t cube)), t = |x| - begin, for |x| from `begin` to that of the next;
/// antisymmetric.
struct CurvePiece {
  double begin = 0, value = 0, slope = 1, square = 0, cube = 0;
};

/// Begin, value, slope, square and cube of each piece, as kernels read them, shape [piece_count, 5].
std::vector<double> flat(const std::vector<CurvePiece>& pieces);

/// The law of a row that measures a length, C = (l / l0)^2 - 1, or shear, C = gamma. Its energy is K times
/// the integral of p(x) by x, the doubled strain x = 2 e, and K C^2 / 2 of a linear fabric by Green's
/// measure. Without points p(x) = x.
///
/// Force and displacement are converted to Green's strain and the second Piola and Kirchhoff stress (ibid.,
/// (15) and (17): e = d + d^2/2, sigma = f / (1 + d), and in shear gamma = d, sigma = f), so that x = 2 e, p
/// = 2 sigma / stiffness, and in shear x = gamma, p = sigma / stiffness. By the engineering measure, of
/// springs and of Baraff and Witkin's constraints, e = d and sigma = f. Pieces are cubic Hermite polynomials,
/// and a straight line beyond the last. Between points their slopes keep the curve rising (Fritsch, Carlson
/// 1980, by harmonic means). Those of a polynomial, and of a curve that is straight between its points, are
/// exact: where x is linear in d so is the law, up to the third degree; else 24 pieces at least are within
/// 1e-4 of the last force, and within 1e-5 up to the fifth degree and a strain of 1.
std::vector<CurvePiece> thread_law(const StressCurve& curve, double stiffness,
                                   StrainMeasure measure = StrainMeasure::green);
std::vector<CurvePiece> shear_law(const StressCurve& curve, double stiffness);
/// p(x) of a law, antisymmetric.
double response(ArrayView<const CurvePiece> law, double x);

/// Throws SceneError where strain or stress does not rise from point to point, or along a polynomial, stress
/// by 1e-4 of where it rises most, or is not finite.
void validate_curves(const std::string& key, const StressCurves& curves);
void validate_curves(const std::string& key, const ViscosityCurves& curves);

}  // namespace isocloth

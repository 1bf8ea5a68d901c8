// Stress of a row by its strain.
#pragma once

#include <array>
#include <vector>

#include "engine/material/stress_curve.hpp"

namespace isocloth::reference {

/// Value and slope of a law at x > 0.
std::array<double, 2> at_strain(const std::vector<CurvePiece>& pieces, double x);

/// The strain x >= 0 of a stress, by halving.
double strain_of_stress(const std::vector<CurvePiece>& pieces, double stress);

/// Phi of a row with the energy K Phi(C), and its first two derivatives.
struct ElasticResponse {
  double energy = 0, stress = 0, slope = 0;
};

/// The x of C = s^2 - 1 that the curve of a thread is read at, and dC/dx.
struct ThreadStrain {
  double x = 0, by_x = 1;
};
ThreadStrain thread_strain(StrainMeasure measure, double c);
/// Phi and its derivatives by C, of the integral, the value and the slope of p at x: by the law of membranes
/// with that measure.
ElasticResponse thread_response(StrainMeasure measure, double c, const ElasticResponse& by_x);

/// A law by its pieces, whose energy is K times the integral of p(x) by x.
class StressLaw {
 public:
  explicit StressLaw(std::vector<CurvePiece> pieces);
  ElasticResponse at(double c, StrainMeasure measure) const;

 private:
  std::vector<CurvePiece> pieces_;
  std::vector<double> energies_;  ///< energies at the begin of each piece
};

/// Response of a piece of elastic band (BandRows) to C = s^2 - 1.
ElasticResponse band_response(double c);

/// Response to the difference of the strains of two triangles along a thread (MembraneRows): C + C^3 / c_0^2,
/// c_0 = 0.025, straight beyond 0.5.
ElasticResponse difference_response(double c);

/// Of any row by the number of its law (RowLaw), -1: none. laws: by these numbers, empty: all are linear in
/// C; curvature: of a hinge over its angle [1/m].
ElasticResponse elastic_response(const std::vector<StressLaw>& laws, Index law, StrainMeasure measure,
                                 double c, double curvature = 1);

}  // namespace isocloth::reference

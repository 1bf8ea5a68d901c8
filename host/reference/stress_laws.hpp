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

/// A law by its pieces, whose energy is K times the integral of p(x) by x.
class StressLaw {
 public:
  explicit StressLaw(std::vector<CurvePiece> pieces);
  /// is_length: C = s^2 - 1 answers by x = 2 (s - 1); else x = C.
  ElasticResponse at(double c, bool is_length) const;

 private:
  std::vector<CurvePiece> pieces_;
  std::vector<double> energies_;  ///< energies at the begin of each piece
};

/// Response of a piece of elastic band (BandRows) to C = s^2 - 1.
ElasticResponse band_response(double c);

/// Response to the difference of the strains of two triangles along a thread (MembraneRows): C + C^3 / c_0^2,
/// c_0 = 0.025, straight beyond 0.5.
ElasticResponse difference_response(double c);

}  // namespace isocloth::reference

// Stress of a row by its strain.
#pragma once

#include <array>
#include <vector>

#include "engine/model/stress_curve.hpp"

namespace isocloth::reference {

/// Value and slope of a law at x > 0.
std::array<double, 2> at_strain(const std::vector<CurvePiece>& pieces, double x);

/// The strain x >= 0 of a stress, by halving.
double strain_of_stress(const std::vector<CurvePiece>& pieces, double stress);

/// Value and slope by C of a piece of elastic band (BandRows), of the energy over K.
std::array<double, 2> at_band(double c);

}  // namespace isocloth::reference

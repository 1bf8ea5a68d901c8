// What rows with a law answer: stress by strain, with viscosity.
#pragma once

#include <vector>

#include "engine/model/recipe.hpp"
#include "host/reference/rows.hpp"

namespace isocloth::reference {

/// Stress of a row over its stiffness K, and the derivative of that by C; C and 1 of a row without a law.
struct Response {
  double stress = 0, slope = 1;
};

/// The laws of a garment's rows.
class RowResponse {
 public:
  RowResponse() = default;
  RowResponse(const Recipe& recipe, const Fabric& fabric, const GarmentRows& rows);

  /// Response of a row at a strain c, `before` when the step began, while the multiplier is lambda.
  Response at(Eigen::Index row, double c, double before, double step, double lambda) const;
  /// Largest |f''| / f' by C of the laws in a step, 0 where all are linear.
  double bend_of_curves(double step) const;

 private:
  std::vector<Index> laws_;  ///< law of each row, see GarmentRows
  std::vector<std::vector<CurvePiece>> curves_;
  std::vector<StrainMeasure> measures_;             ///< measure of strain of each row
  std::vector<double> stiffness_;                   ///< K of each row
  std::vector<double> curvature_;                   ///< curvature over angle of hinges [1/m], else 0
  std::vector<std::vector<CurvePiece>> viscosity_;  ///< p_v of each law by dC/dt [1/s]
};

}  // namespace isocloth::reference

// What rows with a law answer: stress by strain, with viscosity.
#pragma once

#include <vector>

#include "engine/model/recipe.hpp"
#include "host/reference/row_memory.hpp"
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
  /// Plastic strains when the step began, GarmentState::plastic_strains; at first none.
  const std::vector<double>& plastic() const { return plastic_; }
  void set_plastic(std::vector<double> strains);
  /// Lets plastic strains follow the strains c at the end of a step.
  void keep(const VectorXd& c, double step);
  /// Largest |f''| / f' by C of the laws in a step, 0 where all are linear.
  double bend_of_curves(double step) const;

 private:
  /// With what sliders add to the response of a law alone, both by x; carried: the stress that multipliers
  /// stand for.
  Response with_memory(std::size_t row, double x, double step, const Response& alone, double carried) const;
  double held(std::size_t row, double x, double step) const;  ///< stress of sliders over K

  std::vector<Index> laws_;  ///< law of each row, see GarmentRows
  std::vector<std::vector<CurvePiece>> curves_;
  std::vector<StrainMeasure> measures_;             ///< measure of strain of each row
  std::vector<double> stiffness_;                   ///< K of each row
  std::vector<double> curvature_;                   ///< curvature over angle of hinges [1/m], else 0
  std::vector<std::vector<CurvePiece>> viscosity_;  ///< p_v of each law by dC/dt [1/s]
  RowMemory memory_;
  std::vector<double> plastic_;  ///< shape [row_count, 2], or empty: rows forget
};

}  // namespace isocloth::reference

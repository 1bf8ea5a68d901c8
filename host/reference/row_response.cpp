#include "host/reference/row_response.hpp"

#include <algorithm>
#include <cmath>

#include "host/reference/stress_laws.hpp"

namespace isocloth::reference {

RowResponse::RowResponse(const Recipe& recipe, const Fabric& fabric, const GarmentRows& rows)
    : laws_(rows.laws),
      curves_(rows.curves),
      stiffness_(rows.stiffness.begin(), rows.stiffness.end()),
      is_engineering_(recipe.strain == StrainMeasure::engineering) {
  const bool has_edges = !rows.rows.edges.empty();
  for (Eigen::Index row = 0; row < rows.rows.row_count(); ++row)
    is_spring_.push_back(has_edges && rows.is_of_edge(row));
  const Viscosity& viscosity = fabric.viscosity;
  const SpringDamper& flexion = fabric.bend_spring;
  relaxation_[RowLaw::warp] = relaxation_[RowLaw::weft] = viscosity.stretch / fabric.stretch_stiffness;
  relaxation_[RowLaw::shear] = viscosity.shear / fabric.shear_stiffness;
  if (flexion.damping > 0) relaxation_[RowLaw::flexion] = flexion.damping / flexion.stiffness;
}

Response RowResponse::at(Eigen::Index row, double c, double before, double step, double lambda) const {
  const auto r = static_cast<std::size_t>(row);
  const Index law = laws_.empty() ? -1 : laws_[r];
  if (law < 0) return {c, 1};
  if (law == RowLaw::band) {
    const ElasticResponse found = band_response(c);
    return {found.stress, found.slope};
  }
  double viscosity = 0, viscous = 0;
  if (relaxation_[law] > 0) {
    viscosity = relaxation_[law] / step;
    viscous = viscosity * (c - before);
  }
  if (curves_.empty()) return {c + viscous, 1 + viscosity};
  const std::vector<CurvePiece>& pieces = curves_[static_cast<std::size_t>(law)];
  // Rows are C = s^2 - 1; of springs, and of threads by the engineering measure, stresses belong to s - 1.
  const bool is_length = is_engineering_ && (is_spring_[r] != 0 || law != RowLaw::shear);
  const double s = is_length ? std::sqrt(c > -0.9999 ? 1 + c : 1e-4) : 1, x = is_length ? 2 * (s - 1) : c;
  const double sign = x < 0 ? -1 : 1;
  const double carried = sign * (lambda / (step * step * stiffness_[r]) - viscous) * s;
  const double of_stress = strain_of_stress(pieces, std::max(carried, 0.0));
  const auto here = at_strain(pieces, sign * x), there = at_strain(pieces, of_stress);
  const double p_here = here[0], p_there = there[0] + there[1] * (sign * x - of_stress);
  const bool is_flatter = there[1] < 0.9 * here[1];
  const double p = sign * (is_flatter ? p_there : p_here), rise = is_flatter ? there[1] : here[1];
  if (!is_length) return {p + viscous, rise + viscosity};
  const double slope = std::max(rise / (s * s) - p / (2 * s * s * s), 0.01 * rise / (s * s));
  return {p / s + viscous, slope + viscosity};
}

double RowResponse::bend_of_curves() const {
  double most = 0;
  for (const auto& pieces : curves_)
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const CurvePiece& p = pieces[i];
      const double width = pieces[i + 1].begin - p.begin;
      const double slopes = std::min(p.slope, pieces[i + 1].slope);
      most = std::max(
          {most, std::fabs(2 * p.square) / slopes, std::fabs(2 * p.square + 6 * p.cube * width) / slopes});
    }
  return most;
}

}  // namespace isocloth::reference

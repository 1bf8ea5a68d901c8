#include "host/reference/row_response.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/reference/stress_laws.hpp"

namespace isocloth::reference {

namespace {

/// Law of p and x that are `factor` times stress over stiffness and rate.
std::vector<CurvePiece> viscosity_law(const StressCurve& curve, double stiffness, double factor,
                                      double linear) {
  if (!curve.exists()) return {{0, 0, linear, 0, 0}};
  std::vector<CurvePiece> pieces = shear_law(curve, stiffness);
  for (CurvePiece& p : pieces) {
    p.begin *= factor;
    p.value *= factor;
    p.square /= factor;
    p.cube /= factor * factor;
  }
  return pieces;
}

/// Response of a law by the tangent at x, or where the stress is `carried` if that is flatter by a tenth.
Response tangent(const std::vector<CurvePiece>& pieces, double x, double carried) {
  const double sign = x < 0 ? -1 : 1;
  const auto here = at_strain(pieces, sign * x);
  if (pieces.size() > 1) {
    const double of_stress = strain_of_stress(pieces, std::max(sign * carried, 0.0));
    const auto there = at_strain(pieces, of_stress);
    if (there[1] < 0.9 * here[1]) return {sign * (there[0] + there[1] * (sign * x - of_stress)), there[1]};
  }
  return {sign * here[0], here[1]};
}

/// Response of a difference of triangles, by the tangent at C or nearer the strain of which the stress is
/// `carried`: the third iterate of Newton's method from C, of a law that is convex.
Response difference_tangent(double c, double carried) {
  const double sign = c < 0 ? -1 : 1, wanted = std::max(sign * carried, 0.0);
  double at = std::min(sign * c, 0.5);  // beyond it is straight
  for (int i = 0; i < 3; ++i) {
    const ElasticResponse found = difference_response(at);
    if (found.stress > wanted) at -= (found.stress - wanted) / found.slope;
  }
  const ElasticResponse there = difference_response(at);
  return {sign * (there.stress + there.slope * (sign * c - at)), there.slope};
}

}  // namespace

RowResponse::RowResponse(const Recipe& recipe, const Fabric& fabric, const GarmentRows& rows)
    : laws_(rows.laws),
      curves_(rows.curves),
      stiffness_(rows.stiffness.begin(), rows.stiffness.end()),
      memory_(fabric) {
  if (memory_.exists()) plastic_.resize(2 * stiffness_.size());
  for (Eigen::Index row = 0; row < rows.rows.row_count(); ++row) measures_.push_back(rows.measure_of(row));
  for (Eigen::Index row = 0; row < rows.rows.row_count(); ++row) curvature_.push_back(rows.curvature(row));
  const Viscosity& viscosity = fabric.viscosity;
  const SpringDamper& flexion = fabric.bend_spring;
  const bool has_damped_hinges = has_hinges(recipe, fabric) && fabric.stiffness_damping > 0;
  const double stretch_time = viscosity.stretch / fabric.stretch_stiffness;
  const ViscosityCurves& curves = viscosity.curves;
  viscosity_ = {
      viscosity_law(curves.warp, fabric.stretch_stiffness, 2, stretch_time),
      viscosity_law(curves.shear, fabric.shear_stiffness, 1, viscosity.shear / fabric.shear_stiffness),
      viscosity_law(curves.weft.exists() ? curves.weft : curves.warp, fabric.weft_stiffness(), 2,
                    stretch_time),
      viscosity_law({}, 1, 1, flexion.damping > 0 ? flexion.damping / flexion.stiffness : 0),
      viscosity_law({}, 1, 1, has_damped_hinges ? fabric.stiffness_damping / fabric.hinge_stiffness() : 0)};
}

void RowResponse::set_plastic(std::vector<double> strains) {
  if (strains.size() != plastic_.size())
    throw ShapeError(text("plastic strains: found ", strains.size(), ", expected ", plastic_.size()));
  plastic_ = std::move(strains);
}

void RowResponse::keep(const VectorXd& c, double step) {
  if (!memory_.exists()) return;
  for (std::size_t row = 0; row < laws_.size(); ++row) {
    if (!memory_.is_of(laws_[row])) continue;
    const double x =
        law_strain(laws_[row], measures_[row], c[static_cast<Eigen::Index>(row)], curvature_[row]).x;
    for (std::size_t i = 0; i < 2; ++i) {
      const Slider& slider = memory_.sliders(laws_[row])[i];
      double& plastic = plastic_[2 * row + i];
      if (slider.stiffness > 0) plastic = x - slider.strain(x, plastic, step)[0];
    }
  }
}

double RowResponse::held(std::size_t row, double x, double step) const {
  double sum = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const Slider& slider = memory_.sliders(laws_[row])[i];
    sum += slider.stiffness * slider.strain(x, plastic_[2 * row + i], step)[0];
  }
  return sum;
}

Response RowResponse::with_memory(std::size_t row, double x, double step, const Response& alone,
                                  double carried) const {
  const double share = memory_.elastic_share(laws_[row]);
  Response sum{share * alone.stress + held(row, x, step), share * alone.slope};
  for (std::size_t i = 0; i < 2; ++i) {
    const Slider& slider = memory_.sliders(laws_[row])[i];
    const double trial = x - plastic_[2 * row + i], sign = trial < 0 ? -1 : 1;
    const auto [q, slope] = slider.strain(x, plastic_[2 * row + i], step);
    sum.slope += slider.stiffness * slope;
    if (std::fabs(trial) > slider.limit + slider.growth * std::fabs(x))
      sum.slope += std::clamp(sign * (sum.stress - carried), 0.0, 2 * slider.stiffness * std::fabs(q)) /
                   std::fabs(trial);
  }
  sum.slope = std::max(sum.slope, 0.01 * alone.slope);
  return sum;
}

Response RowResponse::at(Eigen::Index row, double c, double before, double step, double lambda) const {
  const auto r = static_cast<std::size_t>(row);
  const Index law = laws_.empty() ? -1 : laws_[r];
  if (law == RowLaw::difference) return difference_tangent(c, lambda / (step * step * stiffness_[r]));
  if (law < 0 || law >= RowLaw::count) {
    const ElasticResponse found = elastic_response({}, law, StrainMeasure::green, c);
    return {found.stress, found.slope};
  }
  const std::vector<CurvePiece>& of_rate = viscosity_[static_cast<std::size_t>(law)];
  const double rate = (c - before) / step, carried = lambda / (step * step * stiffness_[r]);
  Response elastic{c, 1};
  if (!curves_.empty() || memory_.exists()) {
    const double viscous = (rate < 0 ? -1 : 1) * at_strain(of_rate, std::fabs(rate))[0];
    const auto [x, s] = thread_strain(measures_[r], c);
    // A hinge of the angle C has the curvature c C, and by it the moment over c.
    const double unit = law == RowLaw::bend ? curvature_[r] : 1, at = x * unit,
                 of_positions = (carried - viscous) * s * unit;
    elastic = {at, 1};
    if (!curves_.empty()) {
      const double of_curve =
          memory_.exists() ? (of_positions - held(r, at, step)) / memory_.elastic_share(law) : of_positions;
      elastic = tangent(curves_[static_cast<std::size_t>(law)], at, of_curve);
    }
    if (memory_.exists()) elastic = with_memory(r, at, step, elastic, of_positions);
    elastic.stress /= unit;
    const double least = 0.01 * elastic.slope / (s * s);
    const ElasticResponse found = thread_response(measures_[r], c, {0, elastic.stress, elastic.slope});
    elastic = {found.stress, std::max(found.slope, least)};
  }
  const Response viscous = tangent(of_rate, rate, carried - elastic.stress);
  return {elastic.stress + viscous.stress, elastic.slope + viscous.slope / step};
}

double RowResponse::bend_of_curves(double step) const {
  double most = 0;
  const auto add = [&most](const std::vector<CurvePiece>& pieces, double unit) {
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const CurvePiece& p = pieces[i];
      const double width = pieces[i + 1].begin - p.begin;
      const double slopes = std::min(p.slope, pieces[i + 1].slope) / unit;
      most = std::max(
          {most, std::fabs(2 * p.square) / slopes, std::fabs(2 * p.square + 6 * p.cube * width) / slopes});
    }
  };
  const double steepest = curvature_.empty() ? 0 : *std::ranges::max_element(curvature_);
  for (std::size_t law = 0; law < curves_.size(); ++law)
    add(curves_[law], law == RowLaw::bend ? steepest : 1);
  for (const auto& pieces : viscosity_) add(pieces, 1 / step);
  // The tangent of a slider rises by its stiffness within its limit.
  for (Index law = 0; memory_.exists() && law < RowLaw::count; ++law)
    for (const Slider& slider : memory_.sliders(law))
      if (slider.stiffness > 0)
        most = std::max(most, slider.stiffness / slider.limit / memory_.elastic_share(law) *
                                  (law == RowLaw::bend ? steepest : 1));
  // Of C + C^3 / c^2: 6 C / (c^2 + 3 C^2), most at C = c / sqrt(3).
  if (std::ranges::find(laws_, Index{RowLaw::difference}) != laws_.end())
    most = std::max(most, std::sqrt(3) / 0.025);
  return most;
}

}  // namespace isocloth::reference

// Stiffness that depends on strain, by a few control points (Miguel et al. 2012, section 4.2).
#pragma once

#include <array>
#include <vector>

#include "engine/material/stress_curve.hpp"

namespace isocloth {

/// k(e) at strains of the model's own measure: a cubic Hermite spline with the slopes of the parabolas
/// through neighbours, constant beyond its ends and nowhere below 0. The stress is k(e) e [N/m].
struct StiffnessSpline {
  std::vector<double> strains;    ///< strains of the control points, ascending, shape [control points >= 1]
  std::vector<double> stiffness;  ///< stiffness at the control points [N/m], shape [control points]
  double at(double strain) const;
};

/// `count` control points at equal distances over a range of strains; one: in its middle.
std::vector<double> control_strains(const std::array<double, 2>& range, int count);

/// The measured curve with that stress: as many points as it bends in, up to the last control point; a
/// straight line goes on from there. Where k(e) e falls, which no fabric's curve may, it rises by a
/// thousandth of where it rises most. Shear, and threads by the engineering measure, have strain and force
/// as they are; threads by Green's e = d + d^2 / 2, force (1 + d) k(e) e (Volino et al. 2009, (15), (17)).
StressCurve stress_curve(const StiffnessSpline& spline, bool is_shear, StrainMeasure measure);

}  // namespace isocloth

#include "host/reference/row_memory.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth::reference {

std::array<double, 2> Slider::strain(double x, double plastic, double h) const {
  const double trial = x - plastic, sign = trial < 0 ? -1 : 1,
               beyond = std::fabs(trial) - limit - growth * std::fabs(x);
  if (!(beyond > 0)) return {trial, 1};
  // x_i moves by h / t of what is left beyond the limit: b = beyond - (h / t) b.
  const double left = flow_time > 0 ? beyond / (1 + h / flow_time) : 0, share = left / beyond;
  return {sign * (std::fabs(trial) - beyond + left), share + (1 - share) * growth * sign * (x < 0 ? -1 : 1)};
}

RowMemory::RowMemory(const Fabric& fabric) : exists_(fabric.memory.exists()) {
  shares_.fill(1);
  if (!exists_) return;
  const FabricMemory& memory = fabric.memory;
  // force: of the fabric at a strain of 1, over which forces are those of rows; strain: x of a strain of 1.
  const auto set = [&](Index law, double force, double strain, double friction, double slip, double growth,
                       double yield) {
    const auto number = static_cast<std::size_t>(law);
    std::array<Slider, 2>& sliders = sliders_[number];
    if (friction > 0) sliders[0] = {friction / (force * slip), strain * slip, growth * slip / friction, 0};
    if (!(yield > 0)) return;
    shares_[number] = memory.hardening;
    sliders[1] = {1 - memory.hardening, strain * yield, 0, memory.flow_time};
  };
  const double across = 1 - std::pow(fabric.poisson_ratio, 2);
  set(RowLaw::warp, fabric.stretch_stiffness / across, 2, memory.stretch_friction, memory.stretch_slip, 0,
      memory.stretch_yield);
  set(RowLaw::weft, fabric.weft_stiffness(), 2, memory.stretch_friction, memory.stretch_slip, 0,
      memory.stretch_yield);
  set(RowLaw::shear, fabric.shear_stiffness, 1, memory.shear_friction, memory.shear_slip,
      memory.shear_friction_growth, memory.shear_yield);
  if (memory.bends())
    set(RowLaw::bend, fabric.hinge_stiffness(), 1, memory.bending_friction, memory.bending_slip, 0,
        memory.bending_yield);
}

LawStrain law_strain(Index law, StrainMeasure measure, double c, double curvature) {
  if (law == RowLaw::bend) return {curvature * c, 1 / (curvature * curvature)};
  return {thread_strain(measure, c).x, 1};
}

ElasticResponse by_row(Index law, StrainMeasure measure, double c, double curvature,
                       const ElasticResponse& by_x) {
  if (law != RowLaw::bend) return thread_response(measure, c, by_x);
  return {by_x.energy / (curvature * curvature), by_x.stress / curvature, by_x.slope};
}

}  // namespace isocloth::reference

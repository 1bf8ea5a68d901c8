#include "engine/material/kes_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/material/instrument_units.hpp"

namespace isocloth {
namespace {

constexpr double full_load = 500 * gf_per_cm, least_slope = 0.1;

StressCurve loading(const KesSheet::Thread& thread) {
  const double power = 2 * (1 - least_slope) / (thread.linearity - least_slope) - 1;
  StressCurve curve;
  for (int i = 1; i <= 10; ++i) {
    const double x = i / 10.0;
    curve.points.push_back(
        {x * thread.extension / 100, full_load * (least_slope * x + (1 - least_slope) * std::pow(x, power))});
  }
  return curve;
}

void remember(const KesSheet& sheet, Fabric& fabric) {
  constexpr double gf = 0.01 * gf_per_cm, degree = std::numbers::pi / 180;
  FabricMemory& memory = fabric.memory;
  fabric.bending = BendingModel::discrete_shells;
  fabric.bending_stiffness = (fabric.bending_stiffness + fabric.weft_bending_stiffness) / 2;
  fabric.weft_bending_stiffness = 0;
  memory.bending_friction = gf * (sheet.warp.bending_hysteresis + sheet.weft.bending_hysteresis) / 4;
  const double at_half = gf_per_cm * sheet.shear_hysteresis / 2,
               at_5 = gf_per_cm * sheet.shear_hysteresis_at_5 / 2, half = std::tan(degree / 2);
  memory.shear_friction_growth = std::max(at_5 - at_half, 0.0) / (std::tan(5 * degree) - half);
  memory.shear_friction = at_half - half * memory.shear_friction_growth;
}

}  // namespace

double kes_work(const KesSheet::Thread& thread) {
  return thread.linearity * 500 * (thread.extension / 100) / 2;
}

Fabric kes_fabric(const KesSheet& sheet) {
  constexpr double gf_cm = 98.0665e-6;  // gf cm^2/cm [N m]
  Fabric fabric;
  fabric.density = fabric.gravity_density = 0.01 * sheet.weight;
  fabric.bending_stiffness = gf_cm * sheet.warp.bending;
  fabric.weft_bending_stiffness = gf_cm * sheet.weft.bending;
  fabric.stretch_stiffness = full_load / (sheet.warp.extension / 100);
  fabric.weft_stretch_stiffness = full_load / (sheet.weft.extension / 100);
  fabric.shear_stiffness = gf_per_cm * sheet.shear * 180 / std::numbers::pi;
  fabric.curves = {.warp = loading(sheet.warp), .weft = loading(sheet.weft), .shear = {}};
  if (sheet.remembers) remember(sheet, fabric);
  return fabric;
}

}  // namespace isocloth

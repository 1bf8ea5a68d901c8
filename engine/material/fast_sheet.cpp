#include "engine/material/fast_sheet.hpp"

#include "engine/material/instrument_units.hpp"

namespace isocloth {
namespace {

StressCurve loading(const FastSheet::Thread& thread) {
  StressCurve curve;
  if (thread.at_5 > 0) curve.points.push_back({thread.at_5 / 100, 5 * gf_per_cm});
  curve.points.push_back({thread.at_20 / 100, 20 * gf_per_cm});
  curve.points.push_back({thread.at_100 / 100, 100 * gf_per_cm});
  return curve;
}

}  // namespace

double fast_bending(double bending_length, double weight) {
  return 9.80665e-6 * weight * bending_length * bending_length * bending_length;
}

Fabric fast_fabric(const FastSheet& sheet) {
  Fabric fabric;
  fabric.density = fabric.gravity_density = 1e-3 * sheet.weight;
  fabric.bending_stiffness = 1e-6 * sheet.warp.bending;
  fabric.weft_bending_stiffness = 1e-6 * sheet.weft.bending;
  fabric.stretch_stiffness = 100 * gf_per_cm / (sheet.warp.at_100 / 100);
  fabric.weft_stretch_stiffness = 100 * gf_per_cm / (sheet.weft.at_100 / 100);
  fabric.shear_stiffness = 123 / sheet.bias;
  fabric.curves = {.warp = loading(sheet.warp), .weft = loading(sheet.weft), .shear = {}};
  fabric.thickness = 1e-3 * sheet.thickness;
  return fabric;
}

}  // namespace isocloth

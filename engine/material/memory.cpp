#include "engine/material/memory.hpp"

#include <array>

#include "engine/material/fabric.hpp"

namespace isocloth {
namespace {

/// Friction as a force of the law, with its slip and what it grows by; yield as a strain of the law; unit: x
/// of a strain of 1, stiffness: force of a small strain of 1.
struct Law {
  double friction = 0, slip = 1, growth = 0, yield = 0, stiffness = 1, unit = 1;
};

}  // namespace

std::vector<double> memory_laws(const Fabric& fabric, bool always) {
  const FabricMemory& m = fabric.memory;
  if (!m.exists() && !always) return {};
  // The first row of a pair has its stiffness over 1 - nu^2.
  const double narrowing = 1 - fabric.poisson_ratio * fabric.poisson_ratio;
  std::array<Law, RowLaw::count> laws;
  laws[RowLaw::warp] = laws[RowLaw::weft] = {.friction = m.stretch_friction,
                                             .slip = m.stretch_slip,
                                             .yield = m.stretch_yield,
                                             .unit = 2};  // the doubled strain
  laws[RowLaw::warp].stiffness = fabric.stretch_stiffness / narrowing;
  laws[RowLaw::weft].stiffness = fabric.weft_stiffness();
  laws[RowLaw::shear] = {.friction = m.shear_friction,
                         .slip = m.shear_slip,
                         .growth = m.shear_friction_growth,
                         .yield = m.shear_yield,
                         .stiffness = fabric.shear_stiffness};
  if (m.bends())
    laws[RowLaw::bend] = {.friction = m.bending_friction,
                          .slip = m.bending_slip,
                          .yield = m.bending_yield,
                          .stiffness = fabric.hinge_stiffness()};
  std::vector<double> numbers;
  for (const Law& law : laws) {
    const bool yields = law.yield > 0;
    const double plastic = yields ? 1 - m.hardening : 0;
    const double growth = law.friction > 0 ? law.slip * law.growth / law.friction : 0;
    numbers.insert(numbers.end(),
                   {1 - plastic, law.friction / (law.stiffness * law.slip), law.unit * law.slip, growth, 0,
                    plastic, law.unit * law.yield, 0, yields ? m.flow_time : 0});
  }
  return numbers;
}

}  // namespace isocloth

#include "engine/rows/membrane_stress.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {

double MembraneStress::von_mises() const {
  return std::sqrt(warp * warp - warp * weft + weft * weft + 3 * shear * shear);
}

bool MembraneLaw::exists(const Recipe& recipe) {
  return std::ranges::find(recipe.rows, RowFamily::membrane) != recipe.rows.end();
}

MembraneLaw::MembraneLaw(const Recipe& recipe, const Fabric& fabric)
    : stiffness_(MembraneRows::stiffness_of(1, fabric)),
      coupling_(fabric.poisson_coupling()),
      measure_(recipe.strain),
      pieces_(stress_laws(recipe, fabric, 1)) {}

MembraneStress MembraneLaw::stress(Vec3d along_warp, Vec3d along_weft) const {
  const double warp = dot(along_warp, along_warp) - 1, weft = dot(along_weft, along_weft) - 1;
  MembraneStress found;
  found.warp = 2 * row_stress(RowLaw::warp, warp + coupling_ * weft);
  found.weft = 2 * row_stress(RowLaw::weft, weft) + coupling_ * found.warp;
  found.shear = row_stress(RowLaw::shear, dot(along_warp, along_weft));
  return found;
}

double MembraneLaw::row_stress(Index law, double c) const {
  const std::size_t count = pieces_.size() / RowLaw::count;
  const ArrayView<const CurvePiece> pieces(pieces_.data() + count * static_cast<std::size_t>(law), count);
  const double k = stiffness_[static_cast<std::size_t>(law)];
  if (measure_ == StrainMeasure::green || law == RowLaw::shear) return k * response(pieces, c);
  // x = 2 (s - 1) and dx/dC = 1 / s; no thread is shorter than a hundredth, as in the steps.
  const double stretch = std::sqrt(std::max(1 + c, 1e-4));
  return k * response(pieces, 2 * (stretch - 1)) / stretch;
}

}  // namespace isocloth

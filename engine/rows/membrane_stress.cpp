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
  if (measure_ == StrainMeasure::corotational) return stress_by_stretch(along_warp, along_weft);
  const double warp = dot(along_warp, along_warp) - 1, weft = dot(along_weft, along_weft) - 1;
  MembraneStress found;
  found.warp = 2 * row_stress(RowLaw::warp, warp + coupling_ * weft);
  found.weft = 2 * row_stress(RowLaw::weft, weft) + coupling_ * found.warp;
  found.shear = row_stress(RowLaw::shear, dot(along_warp, along_weft));
  return found;
}

MembraneStress MembraneLaw::stress_by_stretch(Vec3d along_warp, Vec3d along_weft) const {
  // S = (F^T F + d I) / t. Of a collapsed element no more than the steps have of it.
  const double d = norm(cross(along_warp, along_weft)), uu = dot(along_warp, along_warp),
               uv = dot(along_warp, along_weft), vv = dot(along_weft, along_weft),
               t = std::max(std::sqrt(uu + vv + 2 * d), 0.01);
  const double s_uu = (uu + d) / t, s_uv = uv / t, s_vv = (vv + d) / t;
  MembraneStress of_stretch;
  of_stretch.warp = 2 * row_stress(RowLaw::warp, 2 * (s_uu - 1) + coupling_ * 2 * (s_vv - 1));
  of_stretch.weft = 2 * row_stress(RowLaw::weft, 2 * (s_vv - 1)) + coupling_ * of_stretch.warp;
  of_stretch.shear = row_stress(RowLaw::shear, 2 * s_uv);
  // 2 M = (d T + adj(S) T adj(S)) / (t d), adj(S) = t I - S.
  const double a = s_vv, b = -s_uv, c = s_uu, unit = 1 / (t * std::max(d, 0.01));
  const auto& [t_uu, t_vv, t_uv] = of_stretch;
  return {.warp = unit * (d * t_uu + a * a * t_uu + 2 * a * b * t_uv + b * b * t_vv),
          .weft = unit * (d * t_vv + b * b * t_uu + 2 * b * c * t_uv + c * c * t_vv),
          .shear = unit * (d * t_uv + a * b * t_uu + (b * b + a * c) * t_uv + b * c * t_vv)};
}

double MembraneLaw::row_stress(Index law, double c) const {
  const std::size_t count = pieces_.size() / RowLaw::count;
  const ArrayView<const CurvePiece> pieces(pieces_.data() + count * static_cast<std::size_t>(law), count);
  const double k = stiffness_[static_cast<std::size_t>(law)];
  if (measure_ != StrainMeasure::engineering || law == RowLaw::shear) return k * response(pieces, c);
  // x = 2 (s - 1) and dx/dC = 1 / s; no thread is shorter than a hundredth, as in the steps.
  const double stretch = std::sqrt(std::max(1 + c, 1e-4));
  return k * response(pieces, 2 * (stretch - 1)) / stretch;
}

}  // namespace isocloth

#include "engine/model/membrane_stress.hpp"

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

MembraneStress MembraneLaw::stress_of(const std::array<double, 3>& strains) const {
  const auto [warp, shear, weft] = strains;
  MembraneStress found;
  found.warp = 2 * row_stress(RowLaw::warp, warp + coupling_ * weft);
  found.weft = 2 * row_stress(RowLaw::weft, weft) + coupling_ * found.warp;
  found.shear = row_stress(RowLaw::shear, shear);
  return found;
}

namespace {

/// S of F = R S: (F^T F + d I) / t. Of a collapsed element no more than the steps have of it.
struct Stretch {
  double uu, uv, vv, determinant, trace;
  explicit Stretch(const MembraneLaw::Gradient& f) {
    const double d = norm(cross(f.along_warp, f.along_weft)), a = dot(f.along_warp, f.along_warp),
                 b = dot(f.along_warp, f.along_weft), c = dot(f.along_weft, f.along_weft);
    trace = std::max(std::sqrt(a + c + 2 * d), 0.01);
    determinant = std::max(d, 0.01);
    uu = (a + d) / trace;
    uv = b / trace;
    vv = (c + d) / trace;
  }
  std::array<double, 3> strains() const { return {2 * (uu - 1), 2 * uv, 2 * (vv - 1)}; }
};

/// 2 M = (d T + adj(S) T adj(S)) / (t d), adj(S) = t I - S, of T.
MembraneStress by_metric(const MembraneStress& t, const Stretch& s) {
  const double a = s.vv, b = -s.uv, c = s.uu, d = s.determinant, unit = 1 / (s.trace * d);
  return {.warp = unit * (d * t.warp + a * a * t.warp + 2 * a * b * t.shear + b * b * t.weft),
          .weft = unit * (d * t.weft + b * b * t.warp + 2 * b * c * t.shear + c * c * t.weft),
          .shear = unit * (d * t.shear + a * b * t.warp + (b * b + a * c) * t.shear + b * c * t.weft)};
}

MembraneStress mean_of(const MembraneStress& a, const MembraneStress& b, double share) {
  const auto mean = [share](double x, double y) { return y + share * (x - y); };
  return {.warp = mean(a.warp, b.warp), .weft = mean(a.weft, b.weft), .shear = mean(a.shear, b.shear)};
}

}  // namespace

MembraneStress MembraneLaw::stress(const Gradient& first, const Gradient& second, double share) const {
  std::array<double, 3> strains;
  const auto set_mean = [&](const std::array<double, 3>& a, const std::array<double, 3>& b) {
    for (std::size_t w = 0; w < 3; ++w) strains[w] = b[w] + share * (a[w] - b[w]);
  };
  if (measure_ == StrainMeasure::corotational) {
    const Stretch a(first), b(second);
    set_mean(a.strains(), b.strains());
    const MembraneStress of_stretch = stress_of(strains);
    return mean_of(by_metric(of_stretch, a), by_metric(of_stretch, b), share);
  }
  const auto green = [](const Gradient& f) {
    return std::array{dot(f.along_warp, f.along_warp) - 1, dot(f.along_warp, f.along_weft),
                      dot(f.along_weft, f.along_weft) - 1};
  };
  set_mean(green(first), green(second));
  return stress_of(strains);
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

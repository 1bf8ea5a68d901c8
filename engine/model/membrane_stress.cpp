#include "engine/model/membrane_stress.hpp"

#include <algorithm>
#include <cmath>

#include "engine/material/membrane_laws.hpp"
#include "engine/rows/membrane.hpp"

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
      poisson_ratio_(fabric.poisson_ratio),
      measure_(recipe.strain),
      pieces_(stress_laws(recipe, fabric, 1)) {}

MembraneLaw MembraneLaw::with(const FabricFactors& factors) const {
  MembraneLaw law = *this;
  const double square = poisson_ratio_ * poisson_ratio_,
               own = square * factors.stretch / factors.weft_stretch;
  law.stiffness_[RowLaw::warp] *= factors.stretch * (1 - square) / (1 - own);
  law.stiffness_[RowLaw::shear] *= factors.shear;
  law.stiffness_[RowLaw::weft] *= factors.weft_stretch;
  return law;
}

MembraneStress MembraneLaw::stress_of(const std::array<double, 3>& strains) const {
  const auto [warp, shear, weft] = strains;
  MembraneStress found;
  found.warp = 2 * row_stress(RowLaw::warp, warp + coupling_ * weft);
  found.weft = 2 * row_stress(RowLaw::weft, weft) + coupling_ * found.warp;
  found.shear = row_stress(RowLaw::shear, shear);
  return found;
}

namespace {

MembraneStress mean_of(const MembraneStress& a, const MembraneStress& b, double share) {
  const auto mean = [share](double x, double y) { return y + share * (x - y); };
  return {.warp = mean(a.warp, b.warp), .weft = mean(a.weft, b.weft), .shear = mean(a.shear, b.shear)};
}

}  // namespace

MembraneStress MembraneLaw::stress(const Gradient& first, const Gradient& second, double share) const {
  return cpu::visit_membrane_law(measure_, [&](auto law) {
    const cpu::DeformationGradient<double> f[2] = {{first.along_warp, first.along_weft},
                                                   {second.along_warp, second.along_weft}};
    double c[2][3];
    for (int t = 0; t < 2; ++t) {
      law.strains(f[t], c[t]);
      for (const int w : {0, 2}) c[t][w] -= law.is_quadratic ? 1 : 0;
    }
    std::array<double, 3> strains;
    for (std::size_t w = 0; w < 3; ++w) strains[w] = c[1][w] + share * (c[0][w] - c[1][w]);
    const MembraneStress t = stress_of(strains);
    if constexpr (law.is_quadratic) {
      return t;
    } else {
      const auto by_metric = [&](const cpu::DeformationGradient<double>& of) -> MembraneStress {
        const auto m = law.metric_stress(of, {t.warp, t.shear, t.weft});
        return {.warp = 2 * m.uu, .weft = 2 * m.vv, .shear = 2 * m.uv};
      };
      return mean_of(by_metric(f[0]), by_metric(f[1]), share);
    }
  });
}

double MembraneLaw::row_stress(Index law, double c) const {
  const std::size_t count = pieces_.size() / RowLaw::count;
  const ArrayView<const CurvePiece> pieces(pieces_.data() + count * static_cast<std::size_t>(law), count);
  const double k = stiffness_[static_cast<std::size_t>(law)];
  return cpu::visit_membrane_law(law == RowLaw::shear ? StrainMeasure::green : measure_, [&](auto of_law) {
    const cpu::ThreadStrain<double> at = of_law.thread(c);
    return of_law.response(at, cpu::Response<double>{k * response(pieces, at.x), 1}).stress;
  });
}

}  // namespace isocloth

#include "host/gradients/fabric_numbers.hpp"

#include "engine/core/text.hpp"

namespace isocloth {

std::vector<FabricNumber> fabric_numbers(const Recipe& recipe, const Fabric& fabric) {
  std::vector<FabricNumber> found;
  Fabric values = fabric;
  const auto add = [&](const std::string& name, const std::function<double&(Fabric&)>& of,
                       bool is_linear = true, bool is_matrix = false) {
    if (of(values) != 0) found.push_back({name, of, nullptr, is_linear, is_matrix});
  };
  found.push_back({"rho", [](Fabric& f) -> double& { return f.rho; }, &StepGradient::rho});
  found.push_back({"delta", [](Fabric& f) -> double& { return f.delta; }, &StepGradient::weight});
  found.push_back({"alpha", [](Fabric& f) -> double& { return f.alpha; }, &StepGradient::alpha});
  if (fabric.beta > 0)
    found.push_back({"beta", [](Fabric& f) -> double& { return f.beta; }, &StepGradient::beta});
  const bool is_isotropic = fabric.weft_kappa == 0, has_poisson = fabric.poisson_ratio > 0;
  if (fabric.kappa > 0 && is_isotropic)
    found.push_back({"kappa", [](Fabric& f) -> double& { return f.kappa; }, &StepGradient::kappa});
  if (!is_isotropic)
    add(
        "kappa", [](Fabric& f) -> double& { return f.kappa; }, false, true);
  add(
      "weft_kappa", [](Fabric& f) -> double& { return f.weft_kappa; }, false, true);
  if (!recipe.is_elastic()) return found;
  // A curve stands in the place of a stiffness; that of weft is as that of warp.
  const StressCurves& curves = fabric.curves;
  // The share that differences of triangles have depends on the stiffness (MembraneRows).
  const bool has_shares = recipe.rows.front() == RowFamily::membrane;
  if (!curves.warp.exists()) {
    // The time in which weft relaxes is that of warp: viscosity over this stiffness.
    const bool relaxes_weft = fabric.viscosity.stretch > 0 && fabric.weft_stretch_stiffness > 0;
    add(
        "stretch_stiffness", [](Fabric& f) -> double& { return f.stretch_stiffness; },
        !has_poisson && !relaxes_weft && !has_shares);
    if (!curves.weft.exists())
      add(
          "weft_stretch_stiffness", [](Fabric& f) -> double& { return f.weft_stretch_stiffness; },
          !has_poisson && !has_shares);
  }
  if (!curves.shear.exists()) add("shear_stiffness", [](Fabric& f) -> double& { return f.shear_stiffness; });
  add(
      "poisson_ratio", [](Fabric& f) -> double& { return f.poisson_ratio; }, false);
  add("stretch_viscosity", [](Fabric& f) -> double& { return f.viscosity.stretch; });
  add("shear_viscosity", [](Fabric& f) -> double& { return f.viscosity.shear; });
  // Of strains, then of their rates: how a fabric comes to its curves.
  using OfFabric = std::function<StressCurve&(Fabric&)>;
  const auto add_curve = [&](const std::string& name, const OfFabric& of) {
    const StressCurve& curve = of(values);
    for (std::size_t i = 0; i < curve.points.size(); ++i)
      add(
          text(name, ".force[", i, "]"), [of, i](Fabric& f) -> double& { return of(f).points[i][1]; }, false);
    for (std::size_t i = 0; i < curve.polynomial.size(); ++i)
      add(
          text(name, ".polynomial[", i, "]"), [of, i](Fabric& f) -> double& { return of(f).polynomial[i]; },
          false);
  };
  for (const auto& [name, curve] : {std::pair{"warp", &StressCurves::warp},
                                    {"weft", &StressCurves::weft},
                                    {"shear", &StressCurves::shear}})
    add_curve(text("curves.", name), [curve = curve](Fabric& f) -> StressCurve& { return f.curves.*curve; });
  for (const auto& [name, curve] : {std::pair{"warp", &ViscosityCurves::warp},
                                    {"weft", &ViscosityCurves::weft},
                                    {"shear", &ViscosityCurves::shear}})
    add_curve(text("viscosity_curves.", name),
              [curve = curve](Fabric& f) -> StressCurve& { return f.viscosity.curves.*curve; });
  return found;
}

}  // namespace isocloth

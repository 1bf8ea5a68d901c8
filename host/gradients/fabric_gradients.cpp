#include "host/gradients/fabric_gradients.hpp"

#include <string_view>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/fabric_numbers.hpp"

namespace isocloth {
namespace {

constexpr std::pair<std::string_view, double StepGradient::*> closed_forms[] = {
    {"density", &StepGradient::rho},
    {"gravity_density", &StepGradient::weight},
    {"mass_damping", &StepGradient::alpha},
    {"stiffness_damping", &StepGradient::beta},
    {"bending_stiffness", &StepGradient::kappa},
};
double StepGradient::*closed_form_of(std::string_view name) {
  for (const auto& [own, member] : closed_forms)
    if (own == name) return member;
  throw Error(text("fabric.", name, ": found no derivative of a step, expected a line in closed_forms"));
}

/// Whether a curve answers in the place of a stiffness; without one of its own weft is as warp.
bool is_replaced(std::string_view name, const StressCurves& curves) {
  return ((name == "stretch_stiffness" || name == "weft_stretch_stiffness") && curves.warp.exists()) ||
         (name == "weft_stretch_stiffness" && curves.weft.exists()) ||
         (name == "shear_stiffness" && curves.shear.exists());
}

/// Whether other numbers make the balance more than linear in a stiffness along threads: Poisson's ratio; the
/// share that differences of triangles have (MembraneRows); the time in which weft relaxes, which is
/// viscosity over that of warp.
bool is_bent(std::string_view name, const Recipe& recipe, const Fabric& fabric) {
  const bool relaxes_weft = fabric.viscosity.stretch > 0 && fabric.weft_stretch_stiffness > 0;
  return (name == "stretch_stiffness" && relaxes_weft) ||
         ((name == "stretch_stiffness" || name == "weft_stretch_stiffness") &&
          (fabric.poisson_ratio > 0 || recipe.rows.front() == RowFamily::membrane));
}

}  // namespace

std::vector<FabricDerivative> fabric_derivatives(const Recipe& recipe, const Fabric& fabric) {
  std::vector<FabricDerivative> found;
  Fabric values = fabric;
  for (const FabricNumber& number : fabric_numbers()) {
    const std::string_view name = number.name;
    const bool is_mass = number.gradient == GradientRule::closed_form && number.term == FabricTerm::always;
    if (number.gradient == GradientRule::none || (number.of(values) == 0 && !is_mass)) continue;
    if (number.acts_in && (!recipe.is_elastic() || !number.acts_in(recipe))) continue;
    if (number.term == FabricTerm::viscosity && !recipe.is_elastic()) continue;
    if (is_replaced(name, fabric.curves)) continue;
    FabricDerivative derivative{.name = number.name, .of = number.of, .is_in_matrix = number.is_in_matrix};
    // A matrix of warp and weft is no multiple of kappa.
    if (number.gradient == GradientRule::closed_form &&
        !(number.is_in_matrix && fabric.weft_bending_stiffness > 0))
      derivative.closed_form = closed_form_of(name);
    derivative.is_linear = number.gradient == GradientRule::linear && !is_bent(name, recipe, fabric);
    found.push_back(std::move(derivative));
  }
  if (!recipe.is_elastic()) return found;
  // Curves of strains, then of their rates: the force of each point, or the coefficients.
  using CurveOf = std::function<StressCurve&(Fabric&)>;
  const auto add_curve = [&](const std::string& name, const CurveOf& of) {
    const StressCurve& curve = of(values);
    for (std::size_t i = 0; i < curve.points.size(); ++i)
      if (curve.points[i][1] != 0)
        found.push_back({.name = text(name, ".force[", i, "]"),
                         .of = [of, i](Fabric& f) -> double& { return of(f).points[i][1]; }});
    for (std::size_t i = 0; i < curve.polynomial.size(); ++i)
      if (curve.polynomial[i] != 0)
        found.push_back({.name = text(name, ".polynomial[", i, "]"),
                         .of = [of, i](Fabric& f) -> double& { return of(f).polynomial[i]; }});
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

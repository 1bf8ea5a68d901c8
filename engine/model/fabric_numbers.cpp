#include "engine/model/fabric_numbers.hpp"

#include <algorithm>
#include <string>

#include "engine/core/checks.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

/// The number at the end of a path of members.
template <auto... path>
double& at(Fabric& fabric) {
  return (fabric.*....*path);
}

bool has_stretch(const Recipe& recipe) {
  return recipe.is_elastic() || recipe.solver == SolverFamily::semi_implicit;
}
bool has_membrane(const Recipe& recipe) {
  return (recipe.is_elastic() && !recipe.holds_edges()) || recipe.solver == SolverFamily::semi_implicit;
}

using enum FabricTerm;
using enum GradientRule;

constexpr FabricNumber numbers[] = {
    {.name = "density",
     .of = at<&Fabric::density>,
     .range = positive,
     .doc = "mass per area [kg/m^2]",
     .old_name = "rho",
     .gradient = closed_form},
    {.name = "gravity_density",
     .of = at<&Fabric::gravity_density>,
     .range = not_negative,
     .doc = "virtual gravitational mass per area [kg/m^2], less than density for cloth that air "
            "carries; where density alone is given it is density",
     .old_name = "delta",
     .gradient = closed_form,
     .follows = "density"},
    {.name = "bending_stiffness",
     .of = at<&Fabric::bending_stiffness>,
     .range = not_negative,
     .doc = "bending stiffness, of a plate along warp [N m]",
     .old_name = "kappa",
     .term = bending,
     .gradient = closed_form,
     .is_in_matrix = true},
    {.name = "weft_bending_stiffness",
     .of = at<&Fabric::weft_bending_stiffness>,
     .range = not_negative,
     .doc = "bending stiffness of a plate along weft [N m]; 0: as along warp",
     .old_name = "weft_kappa",
     .gradient = differences,
     .is_in_matrix = true},
    {.name = "mass_damping",
     .of = at<&Fabric::mass_damping>,
     .range = not_negative,
     .doc = "damping of slow oscillations [kg/(m^2 s)]",
     .old_name = "alpha",
     .gradient = closed_form},
    {.name = "stiffness_damping",
     .of = at<&Fabric::stiffness_damping>,
     .range = not_negative,
     .doc = "damping of fast oscillations [N m s]",
     .old_name = "beta",
     .term = bending,
     .gradient = closed_form},
    {.name = "stretch_stiffness",
     .of = at<&Fabric::stretch_stiffness>,
     .range = positive,
     .doc = "of elastic rows, along the threads: force per width and strain [N/m]",
     .gradient = linear,
     .acts_in = has_stretch},
    {.name = "weft_stretch_stiffness",
     .of = at<&Fabric::weft_stretch_stiffness>,
     .range = not_negative,
     .doc = "of a membrane along weft [N/m]; 0: as along warp",
     .gradient = linear,
     .acts_in = has_membrane},
    {.name = "shear_stiffness",
     .of = at<&Fabric::shear_stiffness>,
     .range = positive,
     .doc = "of a membrane, force per width and angle between warp and weft [N/m]",
     .gradient = linear,
     .acts_in = has_membrane},
    {.name = "poisson_ratio",
     .of = at<&Fabric::poisson_ratio>,
     .range = {.least = 0, .most = 0.99},
     .doc = "of a membrane: how it narrows across a pull along a thread, geometric mean of both threads; "
            "that of a preset is left out with recipes that have none",
     .gradient = differences,
     .acts_in = has_membrane},
    {.name = "stretch_viscosity",
     .of = at<&Fabric::viscosity, &Viscosity::stretch>,
     .range = not_negative,
     .doc = "with the recipes membrane, soft_constraints, corotational and springs: force per width and "
            "rate of strain along warp; along weft as much more as that is stiffer [N s/m]",
     .term = viscosity,
     .gradient = linear},
    {.name = "shear_viscosity",
     .of = at<&Fabric::viscosity, &Viscosity::shear>,
     .range = not_negative,
     .doc = "with the recipes membrane, soft_constraints, corotational and springs: shear force per width "
            "and rate of the angle [N s/m]",
     .term = viscosity,
     .gradient = linear},
    {.name = "strain_limit",
     .of = at<&Fabric::strain_limit>,
     .range = not_negative,
     .doc = "of elastic rows, and of provot1995: greatest strain of any edge of the mesh in tension; 0: none",
     .term = strain_limit},
    {.name = "principal_strain_limit",
     .of = at<&Fabric::principal_strain_limit>,
     .range = not_negative,
     .doc =
         "of elastic rows: greatest principal strain of any element in tension; 0: none. It is held in six "
         "directions, 30 degrees apart: between two a limit of 0.05 may become 0.053, and 0.06 where the "
         "cloth narrows by a tenth",
     .term = principal_strain_limit},
    {.name = "thickness",
     .of = at<&Fabric::thickness>,
     .range = not_negative,
     .doc =
         "of the cloth without load [m]: half of it from its middle begins its contact with obstacles, and "
         "cloth stays so far from cloth; with compression, or of a preset, of the latter alone, by default "
         "that at 1 kPa",
     .may_change = false},
    {.name = "drag.normal",
     .of = at<&Fabric::drag, &Drag::normal>,
     .range = not_negative,
     .doc = "force across the cloth per area and speed of the air [kg/(m^2 s)]",
     .term = drag},
    {.name = "drag.tangential",
     .of = at<&Fabric::drag, &Drag::tangential>,
     .range = not_negative,
     .doc = "force along the cloth per area and speed of the air [kg/(m^2 s)]",
     .term = drag},
    {.name = "drag.normal_coefficient",
     .of = at<&Fabric::drag, &Drag::normal_coefficient>,
     .range = not_negative,
     .doc = "C_n of drag quadratic in speed, 1/2 wind.density C_n |w_n| w_n per area, w_n the speed of the "
            "air across the cloth; 1.17 of a square plate",
     .term = drag,
     .keeps_zero = true},
    {.name = "drag.tangential_coefficient",
     .of = at<&Fabric::drag, &Drag::tangential_coefficient>,
     .range = not_negative,
     .doc = "C_t of drag quadratic in speed along the cloth, friction on both sides: some hundredths",
     .term = drag,
     .keeps_zero = true},
    {.name = "structural_spring.stiffness",
     .of = at<&Fabric::structural_spring, &SpringDamper::stiffness>,
     .range = not_negative,
     .doc = "of each spring [N/m]",
     .term = structural_spring},
    {.name = "structural_spring.damping",
     .of = at<&Fabric::structural_spring, &SpringDamper::damping>,
     .range = not_negative,
     .doc = "of each spring [N s/m]",
     .term = structural_spring},
    {.name = "shear_spring.stiffness",
     .of = at<&Fabric::shear_spring, &SpringDamper::stiffness>,
     .range = not_negative,
     .doc = "of each spring [N/m]",
     .term = shear_spring},
    {.name = "shear_spring.damping",
     .of = at<&Fabric::shear_spring, &SpringDamper::damping>,
     .range = not_negative,
     .doc = "of each spring [N s/m]",
     .term = shear_spring},
    {.name = "bend_spring.stiffness",
     .of = at<&Fabric::bend_spring, &SpringDamper::stiffness>,
     .range = not_negative,
     .doc = "of each spring [N/m]",
     .term = bend_spring,
     .keeps_zero = true},
    {.name = "bend_spring.damping",
     .of = at<&Fabric::bend_spring, &SpringDamper::damping>,
     .range = not_negative,
     .doc = "of each spring [N s/m]",
     .term = bend_spring},
    {.name = "yield_strain",
     .of = at<&Fabric::plasticity, &Plasticity::yield_strain>,
     .range = not_negative,
     .doc = "of sakaguchi1991: elastic strain, in tension and compression, beyond which springs of all kinds "
            "yield; 0: none does"},
    {.name = "flow_time",
     .of = at<&Fabric::plasticity, &Plasticity::flow_time>,
     .range = not_negative,
     .doc = "of sakaguchi1991: time in which 63 % of the strain beyond yield_strain becomes plastic [s]; 0: "
            "at once"},
    {.name = "memory.bending_friction",
     .of = at<&Fabric::memory, &FabricMemory::bending_friction>,
     .range = not_negative,
     .doc = "moment per width that friction of bending holds [N], half of 2HB; with bending discrete_shells",
     .term = memory},
    {.name = "memory.bending_slip",
     .of = at<&Fabric::memory, &FabricMemory::bending_slip>,
     .range = positive,
     .doc = "curvature within which friction of bending builds up [1/m]"},
    {.name = "memory.bending_yield",
     .of = at<&Fabric::memory, &FabricMemory::bending_yield>,
     .range = not_negative,
     .doc = "curvature from which on bending is plastic [1/m]; 0: it never is; with bending discrete_shells",
     .term = memory},
    {.name = "memory.stretch_friction",
     .of = at<&Fabric::memory, &FabricMemory::stretch_friction>,
     .range = not_negative,
     .doc = "force per width that friction along the threads holds [N/m]",
     .term = memory},
    {.name = "memory.stretch_slip",
     .of = at<&Fabric::memory, &FabricMemory::stretch_slip>,
     .range = positive,
     .doc = "strain of threads within which friction builds up"},
    {.name = "memory.stretch_yield",
     .of = at<&Fabric::memory, &FabricMemory::stretch_yield>,
     .range = not_negative,
     .doc = "strain of threads from which on it is plastic; 0: it never is",
     .term = memory},
    {.name = "memory.shear_friction",
     .of = at<&Fabric::memory, &FabricMemory::shear_friction>,
     .range = not_negative,
     .doc = "force per width that friction of shear holds where threads cross at right angles [N/m], about "
            "half of 2HG",
     .term = memory},
    {.name = "memory.shear_friction_growth",
     .of = at<&Fabric::memory, &FabricMemory::shear_friction_growth>,
     .range = not_negative,
     .doc = "by how much shear_friction grows with the angle of shear [N/m]"},
    {.name = "memory.shear_slip",
     .of = at<&Fabric::memory, &FabricMemory::shear_slip>,
     .range = positive,
     .doc = "angle of shear within which friction builds up"},
    {.name = "memory.shear_yield",
     .of = at<&Fabric::memory, &FabricMemory::shear_yield>,
     .range = not_negative,
     .doc = "angle of shear from which on it is plastic; 0: it never is",
     .term = memory},
    {.name = "memory.hardening",
     .of = at<&Fabric::memory, &FabricMemory::hardening>,
     .range = {.least = 0.01, .most = 1},
     .doc = "share of a stiffness that is left beyond yield"},
    {.name = "memory.flow_time",
     .of = at<&Fabric::memory, &FabricMemory::flow_time>,
     .range = not_negative,
     .doc = "time in which 63 % of what is beyond yield becomes plastic [s]; 0: at once"},
};

}  // namespace

std::span<const FabricNumber> fabric_numbers() { return numbers; }

const FabricNumber& find_fabric_number(std::string_view name, const std::string& key) {
  std::string known;
  for (const FabricNumber& number : numbers) {
    std::string flat = number.name;
    std::replace(flat.begin(), flat.end(), '.', '_');
    if (name == number.name || name == flat || (number.old_name && name == number.old_name)) return number;
    known += text(known.empty() ? "" : ", ", number.name);
  }
  throw SceneError(text(key, ": found ", name, ", expected one of ", known));
}

bool has_term(FabricTerm term, const Fabric& fabric) {
  if (term == FabricTerm::always) return true;
  return std::any_of(std::begin(numbers), std::end(numbers), [&](const FabricNumber& number) {
    return number.term == term && number.value(fabric) > 0;
  });
}

void check_fabric_numbers(const std::string& key, const Fabric& fabric) {
  for (const FabricNumber& number : numbers)
    if (const double value = number.value(fabric); !number.range.contains(value))
      refuse(text(key, ".", number.name), value, to_string(number.range));
}

void check_fabric_change(const std::string& key, const Fabric& found, const Fabric& now) {
  constexpr const char* same_zero =
      "0 if it was 0 at the start, and more than 0 if it was more, so that terms are the same; make a new "
      "simulation";
  for (const FabricNumber& number : numbers) {
    const std::string own = text(key, ".", number.name);
    const double value = number.value(found), before = number.value(now);
    if (!number.may_change && value != before)
      refuse(own, value, text("as at the start ", before, "; make a new simulation"));
    const bool comes_or_goes = has_term(number.term, found) != has_term(number.term, now);
    if ((comes_or_goes || number.keeps_zero) && (value > 0) != (before > 0)) refuse(own, value, same_zero);
  }
}

}  // namespace isocloth

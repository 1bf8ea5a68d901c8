#include "engine/model/recipe_checks.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/checks.hpp"
#include "engine/core/text.hpp"
#include "engine/model/fabric_numbers.hpp"
#include "engine/model/methods.hpp"
#include "engine/model/models.hpp"
#include "engine/rows/row_families.hpp"

namespace isocloth {
namespace {

/// Hinges are between triangles, and bend alike in all directions.
void check_hinges(const std::string& key, const Garment& garment) {
  const Fabric& fabric = garment.fabric;
  if (fabric.bending != BendingModel::discrete_shells) return;
  const std::string found = "\"discrete_shells\"";
  Index quads = 0;
  for (Index f = 0; f < garment.mesh.face_count(); ++f) quads += garment.mesh.face_size(f) == 4;
  if (quads > 0)
    refuse(key + ".bending", text(found, " on a mesh with ", quads, " quads"),
           "triangles alone, between which angles are measured: use \"plate\", or a triangle_grid");
  if (fabric.curves.weft_bend.exists())
    refuse(key + ".curves.weft_bend", "some",
           text("none with ", found, ", which bends alike along warp and weft"));
  if (fabric.stiffness_damping > 0 && !(fabric.hinge_stiffness() > 0))
    refuse(key + ".stiffness_damping", fabric.stiffness_damping,
           text("0 with ", found, " where bending_stiffness is 0 and no curve of curves.bend is"));
}

void check_bending(const std::string& key, const Fabric& fabric, const Recipe& recipe) {
  const BendingModel model = bending_of(recipe, fabric).model;
  const bool is_accurate = model == BendingModel::plate || model == BendingModel::mid_edge;
  if (fabric.large_angles && !is_accurate)
    refuse(key + ".large_angles", "true",
           "false with isometric bending and with discrete_shells: set fabric.bending to \"plate\" or "
           "\"mid_edge\"");
  if (fabric.weft_bending_stiffness > 0 && !is_accurate && recipe.solver != SolverFamily::semi_implicit)
    refuse(key + ".weft_bending_stiffness", fabric.weft_bending_stiffness,
           text("0 with ", fabric.bending == BendingModel::discrete_shells ? "discrete_shells" : "isometric",
                " bending, which knows no directions: set fabric.bending to \"plate\""));
}

void check_springs(const std::string& key, const Fabric& fabric, const Recipe& recipe) {
  if (recipe.has_edge_springs() && !(fabric.structural_spring.stiffness > 0))
    refuse(key + ".structural_spring.stiffness", fabric.structural_spring.stiffness,
           text("more than 0 with the recipe ", recipe.name));
  if (fabric.plasticity.flow_time > 0 && fabric.plasticity.yield_strain == 0)
    refuse(key + ".flow_time", fabric.plasticity.flow_time, "0 where yield_strain is 0, and nothing flows");
  if (recipe.has_springs() && fabric.bend_spring.damping > 0 && fabric.bend_spring.stiffness == 0)
    refuse(key + ".bend_spring.stiffness", 0, "more than 0 where bend_spring.damping is");
}

/// Memory in bending is that of hinges; a law by points has no yield.
void check_memory(const std::string& key, const Fabric& fabric, const Recipe& recipe) {
  const FabricMemory& memory = fabric.memory;
  const StressCurves& curves = fabric.curves;
  if (memory.bends() && !has_hinges(recipe, fabric))
    refuse(key + (memory.bending_friction > 0 ? ".bending_friction" : ".bending_yield"),
           memory.bending_friction > 0 ? memory.bending_friction : memory.bending_yield,
           "0 where no angles are measured: set fabric.bending to \"discrete_shells\" and "
           "fabric.bending_stiffness");
  const auto refuse_beside = [&](const char* name, double yield, bool has_curve, const char* curve) {
    if (yield > 0 && has_curve)
      refuse(text(key, name), yield, text("0 beside the curve ", curve, ", which is elastic"));
  };
  refuse_beside(".bending_yield", memory.bending_yield, curves.bend.exists(), "bend");
  refuse_beside(".stretch_yield", memory.stretch_yield, curves.warp.exists() || curves.weft.exists(),
                "warp or weft");
  refuse_beside(".shear_yield", memory.shear_yield, curves.shear.exists(), "shear");
  const double most = std::min(fabric.shear_stiffness, memory.shear_friction / memory.shear_slip);
  if (memory.shear_friction_growth > 0 && !(memory.shear_friction_growth < most))
    refuse(
        key + ".shear_friction_growth", memory.shear_friction_growth,
        text("less than ", most, ", the lesser of fabric.shear_stiffness and shear_friction / shear_slip"));
  if (memory.flow_time > 0 && !memory.yields())
    refuse(key + ".flow_time", memory.flow_time, "0 where nothing yields");
}

}  // namespace

void check_recipe_of(const std::string& key, const Garment& garment, const Recipe& recipe) {
  const std::string of_fabric = key + ".fabric";
  const Fabric& fabric = garment.fabric;
  if (fabric.poisson_ratio > 0 && fabric.curves.exist())
    refuse(of_fabric + ".poisson_ratio", fabric.poisson_ratio,
           "0 with fabric.curves, each of a direction alone");
  check_bending(of_fabric, fabric, recipe);
  require_known(method_of(recipe), garment, recipe, key);
  check_hinges(of_fabric, garment);
  check_springs(of_fabric, fabric, recipe);
  check_memory(of_fabric + ".memory", fabric, recipe);
  if (models().check_recipe != nullptr) models().check_recipe(key, garment, recipe);
}

void check_same_terms(const std::string& key, const Fabric& found, const Fabric& now) {
  check_fabric_change(key, found, now);
  const auto require = [&key](const char* name, bool same, const char* expected = "as at the start") {
    if (!same)
      refuse(text(key, name), "another than at the start", text(expected, "; make a new simulation"));
  };
  require(".bending", found.bending == now.bending);
  require(".large_angles", found.large_angles == now.large_angles);
  const double ratio = now.bending_ratio();
  if (std::fabs(found.bending_ratio() - ratio) > 1e-9 * ratio)
    refuse(key + ".weft_bending_stiffness", found.weft_bending_stiffness,
           text("as at the start ", ratio, " times bending_stiffness, which is ", found.bending_stiffness,
                ": the matrix of bending is made for that ratio; make a new simulation"));
  const Recipe& membrane = find_recipe("membrane");  // as many pieces in every recipe
  constexpr const char* as_many = "as many pieces as at the start";
  require(".curves", stress_laws(membrane, found).size() == stress_laws(membrane, now).size(), as_many);
  require(".viscosity", viscosity_laws(found).size() == viscosity_laws(now).size(), as_many);
  require(".memory", found.memory.exists() == now.memory.exists());
  require(".compression", found.compression == now.compression);
  require(".shear_diagonals", found.shear_diagonals == now.shear_diagonals);
}

}  // namespace isocloth

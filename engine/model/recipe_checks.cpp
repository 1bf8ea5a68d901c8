#include "engine/model/recipe_checks.hpp"

#include <string_view>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/text.hpp"
#include "engine/particles/tensor_grid.hpp"

namespace isocloth {
namespace {

void check_laws(const std::string& key, const Fabric& fabric, const Recipe& recipe) {
  const bool has_laws = recipe.rows.front() == RowFamily::membrane || recipe.has_springs();
  const std::string others =
      text("with the recipe ", recipe.name, ": use membrane, soft_constraints or springs");
  if (fabric.viscosity.exists() && !has_laws)
    refuse(
        key + (fabric.viscosity.curves.exist() ? ".viscosity_curves" : ".stretch_viscosity, shear_viscosity"),
        "some", "none " + others);
  if (fabric.curves.exist() && !has_laws) refuse(key + ".curves", "some", "none " + others);
  if (fabric.curves.exist() && recipe.strain == StrainMeasure::corotational)
    refuse(key + ".curves", "some",
           text("none with the recipe ", recipe.name,
                ", whose stress is linear in stretch: use membrane, soft_constraints or springs"));
  if (fabric.poisson_ratio > 0 && fabric.curves.exist())
    refuse(key + ".poisson_ratio", fabric.poisson_ratio, "0 with fabric.curves, each of a direction alone");
  if (fabric.poisson_ratio > 0 && recipe.strain == StrainMeasure::engineering)
    refuse(
        key + ".poisson_ratio", fabric.poisson_ratio,
        text("0 with the recipe ", recipe.name, ", whose threads are apart: set it to 0, or use membrane"));
}

/// Hinges are rows of elastic cloth, between triangles, and bend alike in all directions.
void check_hinges(const std::string& key, const Garment& garment, const Recipe& recipe) {
  const Fabric& fabric = garment.fabric;
  if (fabric.bending != BendingModel::discrete_shells) return;
  const std::string found = "\"discrete_shells\"";
  if (!recipe.is_elastic() || recipe.solver != SolverFamily::projection)
    refuse(key + ".bending", found,
           text("another with the recipe ", recipe.name,
                ", whose rows are not elastic: use membrane, soft_constraints, corotational or springs"));
  Index quads = 0;
  for (Index f = 0; f < garment.mesh.face_count(); ++f) quads += garment.mesh.face_size(f) == 4;
  if (quads > 0)
    refuse(key + ".bending", text(found, " on a mesh with ", quads, " quads"),
           "triangles alone, between which angles are measured: use \"plate\", or a triangle_grid");
  if (fabric.curves.weft_bend.exists())
    refuse(key + ".curves.weft_bend", "some",
           text("none with ", found, ", which bends alike along warp and weft"));
  if (fabric.beta > 0 && !(fabric.hinge_stiffness() > 0))
    refuse(key + ".beta", fabric.beta,
           text("0 with ", found, " where kappa is 0 and no curve of curves.bend is"));
}

void check_bending(const std::string& key, const Fabric& fabric, const Recipe& recipe) {
  const BendingModel model = bending_of(recipe, fabric).model;
  const bool knows_directions = recipe.solver == SolverFamily::semi_implicit ||
                                model == BendingModel::plate || model == BendingModel::mid_edge;
  const bool is_accurate = model == BendingModel::plate || model == BendingModel::mid_edge;
  if (fabric.large_angles &&
      (recipe.solver != SolverFamily::projection || !recipe.is_elastic() || !is_accurate))
    refuse(key + ".large_angles", "true",
           is_accurate
               ? text("false with the recipe ", recipe.name,
                      ", whose rows are not elastic: use membrane, soft_constraints, corotational or springs")
               : std::string("false with isometric bending and with discrete_shells: set fabric.bending to "
                             "\"plate\" or \"mid_edge\""));
  if (fabric.weft_kappa > 0 && !knows_directions)
    refuse(key + ".weft_kappa", fabric.weft_kappa,
           text("0 with ", fabric.bending == BendingModel::discrete_shells ? "discrete_shells" : "isometric",
                " bending, which knows no directions: set fabric.bending to \"plate\""));
}

/// Threads are stiff: they are part of the matrix of a step, with the metric that has units.
void check_threads(const std::string& key, const Garment& garment, const Scene& scene, const Recipe& recipe) {
  const Mesh& mesh = garment.mesh;
  if (!mesh.bands.empty() && !recipe.is_elastic())
    refuse(key + ".mesh", text(mesh.bands.size(), " pieces of elastic band"),
           text("none with the recipe ", recipe.name, ", whose rows are not elastic: use membrane"));
  if (mesh.stitches.empty() && mesh.buttons.empty()) return;
  if (recipe.solver != SolverFamily::projection)
    refuse(key + ".mesh",
           mesh.stitches.empty() ? text(mesh.buttons.size(), " buttons")
                                 : text(mesh.stitches.size(), " stitches"),
           text("none with the recipe ", recipe.name, ": use membrane, or another recipe of the projection"));
  if (scene.projection.method != ProjectionMethod::proximal_newton)
    refuse("projection.method", "fast_projection", text("proximal_newton with the stitches of ", key));
  if (scene.projection.metric != Metric::implicit_b)
    refuse("projection.metric", "M", text("B with the stitches of ", key));
}

void check_springs(const std::string& key, const Fabric& fabric, const Recipe& recipe) {
  const SpringDamper& structural = fabric.structural_spring;
  if (structural.exists() && !recipe.has_edge_springs())
    refuse(key + ".structural_spring",
           text("stiffness ", structural.stiffness, " and damping ", structural.damping),
           text("none with the recipe ", recipe.name, ": use provot1995 or sakaguchi1991"));
  if (recipe.has_edge_springs() && !(structural.stiffness > 0))
    refuse(key + ".structural_spring.stiffness", structural.stiffness,
           text("more than 0 with the recipe ", recipe.name));
  const auto& [yield_strain, flow_time] = fabric.plasticity;
  if (yield_strain > 0 && !recipe.yields)
    refuse(key + ".yield_strain", yield_strain,
           text("0 with the recipe ", recipe.name, ", which is elastic: use sakaguchi1991"));
  if (flow_time > 0 && yield_strain == 0)
    refuse(key + ".flow_time", flow_time, "0 where yield_strain is 0, and nothing flows");
  if (fabric.strain_limit > 0 && recipe.yields)
    refuse(key + ".strain_limit", fabric.strain_limit,
           text("0 with the recipe ", recipe.name, ", whose springs yield: use provot1995"));
  if (recipe.solver != SolverFamily::projection) return;
  for (const auto& [name, spring] :
       {std::pair{".shear_spring", fabric.shear_spring}, {".bend_spring", fabric.bend_spring}}) {
    const bool is_flexion = std::string_view(name) == ".bend_spring" && recipe.has_springs();
    if (is_flexion && spring.damping > 0 && spring.stiffness == 0)
      refuse(key + ".bend_spring.stiffness", 0, "more than 0 where bend_spring.damping is");
    if (spring.exists() && !is_flexion) {
      refuse(key + name, text("stiffness ", spring.stiffness, " and damping ", spring.damping),
             text("none with the recipe ", recipe.name,
                  ", which has no springs: use kappa, or an impulse recipe"));
    }
  }
}

/// Steps by metric and curvature tensors are those of a grid alone.
void check_tensors(const std::string& key, const Garment& garment, const Recipe& recipe) {
  if (recipe.solver != SolverFamily::semi_implicit) return;
  TensorGrid(garment.mesh, key);
  const Fabric& fabric = garment.fabric;
  const auto refuse_some = [&](const std::string& name, bool exists, const char* instead) {
    if (exists) refuse(key + name, "some", text("none with the recipe ", recipe.name, instead));
  };
  refuse_some(".grippers", !garment.grippers.empty(), ": use membrane");
  refuse_some(".fabric.shear_spring", fabric.shear_spring.exists(), ": use shear_stiffness");
  refuse_some(".fabric.bend_spring", fabric.bend_spring.exists(), ": use kappa");
  refuse_some(".fabric.beta", fabric.beta > 0, ", which damps by alpha alone");
  refuse_some(".fabric.strain_limit", fabric.strain_limit > 0, ": use membrane");
  refuse_some(".fabric.poisson_ratio", fabric.poisson_ratio > 0, ": use membrane");
}

}  // namespace

void check_recipe_of(const std::string& key, const Garment& garment, const Scene& scene,
                     const Recipe& recipe) {
  const Fabric& fabric = garment.fabric;
  check_bending(key + ".fabric", fabric, recipe);
  check_hinges(key + ".fabric", garment, recipe);
  check_laws(key + ".fabric", fabric, recipe);
  check_tensors(key, garment, recipe);
  check_springs(key + ".fabric", fabric, recipe);
  check_threads(key, garment, scene, recipe);
}

void check_elasticity(const Scene& scene, const Recipe& recipe) {
  if (!recipe.is_elastic()) {
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      const Fabric& fabric = scene.garments[g].fabric;
      const auto refuse_limit = [&](const char* key, double limit) {
        if (limit > 0)
          refuse(text("garments[", g, "].fabric.", key), limit,
                 text("none with the recipe ", recipe.name, ", which has no elastic rows: use membrane"));
      };
      if (!recipe.limits_edges) refuse_limit("strain_limit", fabric.strain_limit);
      refuse_limit("principal_strain_limit", fabric.principal_strain_limit);
    }
    return;
  }
  if (scene.projection.method != ProjectionMethod::proximal_newton)
    refuse("projection.method", "fast_projection", text("proximal_newton with the recipe ", recipe.name));
  if (scene.projection.metric != Metric::implicit_b)
    refuse("projection.metric", "M", text("B with the recipe ", recipe.name));
}

}  // namespace isocloth

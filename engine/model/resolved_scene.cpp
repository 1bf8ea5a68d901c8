#include "engine/model/resolved_scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/checks.hpp"
#include "engine/core/standard_gravity.hpp"
#include "engine/rows/surface_element.hpp"

namespace isocloth {
namespace {

/// Area of a mesh as it lies [m^2].
double mesh_area(const Mesh& mesh) {
  double area = 0;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    Vec3d corners[4];
    for (std::size_t i = 0; i < face.size(); ++i)
      corners[i] = mesh.positions[static_cast<std::size_t>(face[i])];
    area += element_area(corners, static_cast<int>(face.size()));
  }
  return area;
}

/// Whether rows are strains of elastic triangles.
bool holds_strains(const Recipe& recipe) {
  return recipe.is_elastic() && !recipe.holds_edges() && !recipe.has_springs();
}

}  // namespace

Integrator integrator_of(const Recipe& recipe, const ProjectionSettings& settings, bool has_bodies) {
  if (settings.integrator != Integrator::automatic) return settings.integrator;
  const bool is_second_order =
      !has_bodies && recipe.solver == SolverFamily::projection && holds_strains(recipe) &&
      settings.method == ProjectionMethod::proximal_newton && settings.metric == Metric::implicit_b;
  return is_second_order ? Integrator::bdf2 : Integrator::backward_euler;
}

ResolvedScene::ResolvedScene(const Scene& s)
    : scene(s),
      recipe(find_recipe(s.recipe)),
      projects(recipe.solver == SolverFamily::projection),
      is_newton(projects && s.projection.method == ProjectionMethod::proximal_newton),
      holds_edges(recipe.holds_edges()),
      metric(projects ? s.projection.metric : Metric::mass),
      integrator(integrator_of(recipe, s.projection, !s.bodies.empty())),
      tolerance(projects ? s.projection.tolerance : s.impulse.tolerance),
      on_violation(projects ? s.projection.on_violation : s.impulse.on_violation) {}

double ResolvedScene::start_eps(bool is_single) const {
  if (scene.projection.eps > 0) return scene.projection.eps;
  if (is_single) return 1e-4;
  return is_newton ? 1e-6 : 1e-7;
}

double ResolvedScene::row_strain(double residual) const {
  if (!projects && holds_edges) return residual;
  return residual < 1 ? residual / (1 + std::sqrt(1 - residual)) : std::max(1.0, std::sqrt(1 + residual) - 1);
}

ImpulseSettings ResolvedScene::impulse(double force_rate) const {
  // [s]; a system is linear, and what it leaves grows with the square of the way of a node
  constexpr double longest_sweep = 5e-4, longest_system = 1e-3;
  ImpulseSettings settings = scene.impulse;
  const bool is_system = recipe.solver == SolverFamily::impulse_system;
  const bool sweeps_once = !is_system && settings.mode == ImpulseMode::substeps;
  if (settings.substeps == 0) {
    double parts = std::max(scene.step * force_rate, 1.0);
    if (sweeps_once && recipe.solver == SolverFamily::impulse)
      parts = std::max(parts, scene.step / longest_sweep);
    if (is_system) parts = std::max(parts, scene.step / longest_system);
    // Rounding of the quotient must not add a part.
    settings.substeps = static_cast<int>(std::clamp(std::ceil(parts - whole_tolerance), 1.0, 1e6));
  }
  if (settings.max_sweeps == 0) settings.max_sweeps = sweeps_once ? 1 : 10'000;
  if (settings.relaxation == 0 && sweeps_once) settings.relaxation = 1;
  if (settings.velocity_pass == VelocityPass::automatic)
    settings.velocity_pass =
        recipe.limits_edges() || (sweeps_once && holds_edges) ? VelocityPass::off : VelocityPass::on;
  return settings;
}

int ResolvedScene::max_iterations() const {
  if (scene.projection.budget.solves > 0) return scene.projection.budget.solves;
  if (scene.projection.max_iterations > 0) return scene.projection.max_iterations;
  return scene.contact.cloth ? 12 : 50;
}
int ResolvedScene::max_substeps() const {
  if (scene.projection.budget.exists()) return 1;
  if (scene.projection.max_substeps > 0) return scene.projection.max_substeps;
  if (scene.contact.cloth) return 16;
  return scene.bodies.empty() ? 1 : 8;  // hard impacts
}

FactorPattern ResolvedScene::factor(const Garment& garment) const {
  const FactorPattern wish = scene.projection.factorization;
  if (wish != FactorPattern::automatic) return wish;
  if (!recipe.is_elastic() || !scene.bodies.empty()) return FactorPattern::whole;
  const Mesh& mesh = garment.mesh;
  // Where conjugate gradients take as long as the larger factor, which takes twice the memory: the stiffer
  // bending is, the more iterations; the finer the mesh, the more a factor costs beside a solve.
  const double most = std::max(300.0, 0.3 * mesh.node_count());
  const double of_node = mesh_area(mesh) / mesh.node_count(), h = scene.step;
  const Fabric& fabric = garment.fabric;
  const double bending = h * h * fabric.bending_stiffness + h * fabric.stiffness_damping,
               inertia = fabric.density + h * fabric.mass_damping;
  return bending <= most * inertia * of_node * of_node ? FactorPattern::rows : FactorPattern::whole;
}

double ResolvedScene::weight(const Garment& garment) const {
  const double found = std::abs(garment.fabric.gravity_density * garment.gravity.value_or(scene.gravity));
  return found > 0 ? found : garment.fabric.density * standard_gravity;
}

MismatchEnergy ResolvedScene::mismatch_energy(const Garment& garment, bool is_single) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!is_newton || !holds_strains(recipe) || scene.projection.force_tolerance > 0) return {infinity, 0};
  constexpr double share = 1e-4;
  const double area = mesh_area(garment.mesh), w = weight(garment), least = is_single ? 1e-5 : 1e-10;
  const Fabric& fabric = garment.fabric;
  const double stiffest =
      std::max({fabric.stretch_stiffness, fabric.weft_stiffness(), fabric.shear_stiffness});
  return {share * area * w * w / (2 * fabric.density), area * stiffest * least * least / 2};
}

double ResolvedScene::contact_unit(const Fabric& fabric, double h) const {
  return projects && metric == Metric::mass ? fabric.density + h * fabric.mass_damping : 1;
}

}  // namespace isocloth

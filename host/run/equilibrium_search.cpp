#include "host/run/equilibrium_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/checks.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/model/methods.hpp"
#include "engine/model/resolved_scene.hpp"

namespace isocloth {
namespace {

constexpr double shortest_step = 1e-5;  ///< shortest step of the search [s]
constexpr double nearly_balanced = 0.05;

}  // namespace

double largest_imbalance(const Scene& scene, const std::vector<Vec3d>& velocities) {
  const ResolvedScene resolved(scene);
  double most = 0;
  std::size_t node = 0;
  for (const Garment& garment : scene.garments) {
    const Fabric& fabric = garment.fabric;
    const double scale = (fabric.density / scene.step + fabric.mass_damping) / resolved.weight(garment);
    for (Index i = 0; i < garment.mesh.node_count(); ++i)
      most = std::max(most, scale * norm(velocities[node++]));
  }
  return most;
}

void require_equilibrium(const Scene& scene) {
  require_known(methods::rest, scene);
  const bool some_is_held = std::any_of(scene.garments.begin(), scene.garments.end(),
                                        [](const Garment& garment) { return !garment.pins.empty(); });
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    const bool is_held =
        !garment.pins.empty() || !scene.obstacles.empty() || (scene.contact.cloth && some_is_held);
    if (!is_held && garment.gravity.value_or(scene.gravity) != 0)
      throw SceneError(text("garments[", g,
                            "]: found no pins, and obstacles: found none; expected something ",
                            "that holds the cloth: it has no rest; use isocloth run"));
  }
}

EquilibriumSearch::EquilibriumSearch(Simulation& simulation, const EquilibriumSettings& settings)
    : simulation_(simulation), settings_(settings), residual_(std::numeric_limits<double>::infinity()) {
  require_positive("rest.tolerance", settings.tolerance);
  require_positive("rest.longest_step", settings.longest_step);
  require_equilibrium(simulation.scene());
}

double EquilibriumSearch::step_tolerance(const Scene& scene, const EquilibriumSettings& settings) {
  double least = scene.projection.tolerance;
  if (!find_recipe(scene.recipe).is_elastic()) return least;
  for (const Garment& garment : scene.garments) {
    const double dx = mean_element_size(garment.mesh);
    const double stiffest = std::max(garment.fabric.stretch_stiffness, garment.fabric.weft_stiffness());
    least = std::min(least, settings.tolerance * ResolvedScene(scene).weight(garment) * dx / stiffest);
  }
  return std::max(least, 1e-11);
}

std::vector<StepReport> EquilibriumSearch::step() {
  std::size_t nodes = 0;
  for (std::size_t g = 0; g < simulation_.garment_count(); ++g)
    nodes += static_cast<std::size_t>(simulation_.info(g).node_count);
  const auto is_whole = [](const StepReport& r) {
    return r.status == StepStatus::converged && r.substeps <= 1;
  };
  for (;;) {
    const Snapshot before = simulation_.snapshot();
    std::vector<Vec3d> velocities(nodes);
    simulation_.write(GarmentField::velocities, {velocities.data(), nodes});
    const std::vector<StepReport> reports = simulation_.step();
    const double h = simulation_.scene().step;
    if (!std::ranges::all_of(reports, is_whole) && h > shortest_step) {
      simulation_.restore(before);
      change_step(h / 4, simulation_.scene().projection.tolerance);
      continue;
    }
    simulation_.read(GarmentField::velocities, {velocities.data(), nodes});
    residual_ = largest_imbalance(simulation_.scene(), velocities);
    int iterations = 0;
    for (const StepReport& r : reports) iterations = std::max(iterations, r.iterations);
    quick_steps_ = iterations <= 15 ? quick_steps_ + 1 : 0;
    const double tolerance = simulation_.scene().projection.tolerance;
    if (!has_final_tolerance_ && residual_ <= nearly_balanced) {
      const double least = step_tolerance(simulation_.scene(), settings_),
                   next = std::max(tolerance / 5, least);
      has_final_tolerance_ = next == least;
      residual_ = std::numeric_limits<double>::infinity();  // of strains that balance loosely
      change_step(h, next);
    } else if (quick_steps_ >= 2 && 2 * h <= settings_.longest_step && !has_converged()) {
      change_step(2 * h, tolerance);
    }
    return reports;
  }
}

void EquilibriumSearch::change_step(double h, double tolerance) {
  quick_steps_ = 0;
  Scene scene = simulation_.scene();
  const double ratio = h / scene.step, squared = ratio * ratio;  // forces are kept times h^2
  scene.step = scene.duration = h;
  scene.frame_interval = 0;
  scene.projection.tolerance = tolerance;
  Snapshot now = simulation_.snapshot();
  Simulation next(std::move(scene), simulation_.options());
  for (GarmentState& state : now.garments) {
    for (double& lambda : state.multipliers) lambda *= squared;
    for (ContactState& contact : state.contacts) contact.force = squared * contact.force;
    for (ClothContactState& contact : state.cloth_contacts) contact.force = squared * contact.force;
  }
  next.restore(now);
  simulation_ = std::move(next);
}

}  // namespace isocloth

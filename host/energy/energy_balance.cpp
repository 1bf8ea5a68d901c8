#include "host/energy/energy_balance.hpp"

#include <string>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/model/methods.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/energy/garment_balance.hpp"
#include "host/solver/step_sums.hpp"

namespace isocloth {
namespace {

void require_balance(const Simulation& simulation) {
  const Scene& scene = simulation.scene();
  require_known(methods::energy_balance, scene);
  const ResolvedScene resolved(scene);
  if (resolved.max_substeps() == 1) return;
  for (std::size_t g = 0; g < scene.garments.size(); ++g)
    if (simulation.info(g).solver.starts_with("batched"))
      refuse("projection.max_substeps",
             text(resolved.max_substeps(), " and garments[", g, "] \"", scene.garments[g].name,
                  "\" in a batch, which does not tell parts of a step"),
             "1, or --solver direct, with a balance of energy");
}

}  // namespace

EnergyBalance::EnergyBalance(Simulation& simulation) : simulation_(simulation) {
  require_balance(simulation);
  const Scene& scene = simulation.scene();
  const Recipe& recipe = find_recipe(scene.recipe);
  std::shared_ptr<const energy::GarmentModel> model;  // of the garment before: those of a batch have one
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    garments_.emplace_back();
    if (is_kinematic(garment)) continue;
    if (!model || !model->is_of(garment))
      model = std::make_shared<const energy::GarmentModel>(recipe, scene, garment);
    garments_.back() = std::make_unique<energy::GarmentBalance>(scene, garment, model, simulation.state(g));
  }
  simulation_.keep_step_records(true);
}

EnergyBalance::~EnergyBalance() { simulation_.keep_step_records(false); }

std::vector<StepReport> EnergyBalance::step() {
  simulation_.follow_keyframes();
  const Scene& scene = simulation_.scene();
  std::vector<GarmentState> before;
  std::vector<Moment> moments;
  for (std::size_t g = 0; g < garments_.size(); ++g) {
    if (garments_[g]) garments_[g]->refresh(find_recipe(scene.recipe));
    before.push_back(garments_[g] ? simulation_.state(g) : GarmentState{});
    moments.push_back({simulation_.time(g), simulation_.time()});
  }
  const std::vector<BodyState> bodies = simulation_.bodies();
  std::vector<StepReport> reports = simulation_.step();
  const std::vector<BodyState> bodies_after = simulation_.bodies();
  kept_ = simulation_.take_step_records();
  const Integrator integrator = ResolvedScene(scene).integrator;
  for (std::size_t g = 0; g < garments_.size(); ++g)
    if (garments_[g] && !kept_[g].parts.empty())
      garments_[g]->add(kept_[g], before[g], moments[g], integrator, bodies, bodies_after);
  return reports;
}

std::vector<StepReport> EnergyBalance::advance(int steps) {
  return add_up_steps(steps, garments_.size(), [this] { return step(); });
}

static void require_garment(std::size_t garment, std::size_t count) {
  if (garment >= count)
    throw ShapeError(text("energy balance: found garment ", garment, ", expected less than ", count));
}

EnergySums EnergyBalance::sums(std::size_t garment) const {
  require_garment(garment, garments_.size());
  return garments_[garment] ? garments_[garment]->sums() : EnergySums{};
}
void EnergyBalance::set_sums(std::size_t garment, const EnergySums& sums) {
  require_garment(garment, garments_.size());
  if (garments_[garment]) garments_[garment]->go_on(sums, simulation_.state(garment));
}

}  // namespace isocloth

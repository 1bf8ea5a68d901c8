#include <algorithm>
#include <cmath>

#include "engine/core/random.hpp"
#include "host/models/particles/minimise.hpp"

namespace isocloth {
namespace {

/// Breen's sweeps; steps of particles are kept from sweep to sweep.
class Sweeps {
 public:
  Sweeps(ParticleEnergy& energy, const RelaxationSettings& settings)
      : energy_(energy),
        perturbation_(settings.perturbation),
        random_(settings.seed),
        longest_(energy.model().spacing / 10),
        steps_(energy.size(), longest_ / 10) {}

  void sweep(std::vector<Vec3d>& x) {
    energy_.follow(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (energy_.model().is_held[i]) continue;
      const auto node = static_cast<Index>(i);
      const Vec3d gradient = energy_.local_gradient(x, node);
      const double steepness = norm(gradient);
      if (!(steepness > 0)) continue;
      const Vec3d from = x[i];
      const double before = energy_.local_value(x, node), s = steps_[i];
      const Vec3d noise{random_.uniform(-1, 1), random_.uniform(-1, 1), random_.uniform(-1, 1)};
      x[i] = from + (-s / steepness) * gradient + s * perturbation_ * noise;
      if (energy_.local_value(x, node) < before) {
        steps_[i] = std::min(1.5 * s, longest_);
      } else {
        x[i] = from;
        steps_[i] = std::max(s / 2, 1e-12 * longest_);
      }
    }
  }

 private:
  ParticleEnergy& energy_;
  const double perturbation_;
  Random random_;
  const double longest_;
  std::vector<double> steps_;
};

Vec3d centre(const std::vector<Vec3d>& x) {
  Vec3d sum;
  for (const Vec3d& p : x) sum += p;
  return (1 / static_cast<double>(x.size())) * sum;
}

void fall(ParticleEnergy& energy, std::vector<Vec3d>& x, Sweeps& sweeps, const RelaxationSettings& settings) {
  const ParticleModel& model = energy.model();
  const double g = norm(model.gravity), way = model.spacing / 20;
  if (!(g > 0)) return;
  const double h = std::sqrt(way / g);
  std::vector<Vec3d> velocities(x.size());
  const MonitorView monitor(settings.search.monitor);
  for (int step = 0; step < 400 && !monitor.stops(); ++step) {
    const std::vector<Vec3d> before = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (model.is_held[i]) continue;
      Vec3d move = h * (velocities[i] + h * model.gravity);
      if (const double length = norm(move); length > way) move = (way / length) * move;
      x[i] += move;
      if (!model.gap) continue;
      // A little at a time: neighbours that start deep inside leave towards different sides.
      if (const Gap gap = model.gap(x[i]); gap.value < 0) x[i] -= std::max(gap.value, -way) * gap.normal;
    }
    for (int k = 0; k < settings.sweeps_per_step; ++k) sweeps.sweep(x);
    for (std::size_t i = 0; i < x.size(); ++i) velocities[i] = (1 / h) * (x[i] - before[i]);
    if (settings.search.observer) settings.search.observer({0, energy.value(x), residual(energy, x)});
    if (norm(centre(x) - centre(before)) < 1e-3 * way) return;
  }
}

}  // namespace

MinimiserResult minimise_by_relaxation(ParticleEnergy& energy, std::vector<Vec3d>& x,
                                       const RelaxationSettings& settings) {
  require_finite_start(energy.value(x));
  Sweeps sweeps(energy, settings);
  if (settings.falls) fall(energy, x, sweeps, settings);
  MinimiserResult result{{{0, energy.value(x), residual(energy, x)}}, "iterations"};
  const MonitorView monitor(settings.search.monitor);
  for (std::int64_t k = 1; k <= settings.search.most_iterations; ++k) {
    if (result.history.back().residual <= settings.search.tolerance) break;
    if (monitor.stops()) return result.status = "interrupted", result;
    sweeps.sweep(x);
    note_iteration({k, energy.value(x), residual(energy, x)}, settings.search, result);
  }
  if (result.history.back().residual <= settings.search.tolerance) result.status = "at rest";
  return result;
}

}  // namespace isocloth

// Where the energy of cloth comes from and where it goes: an observer of a simulation.
#pragma once

#include <memory>
#include <vector>

#include "host/energy/energy_sums.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/step_record.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

namespace energy {
class GarmentBalance;
}

/// Takes the steps of a simulation and measures, from positions, velocities, and forces of contacts, holds
/// and rows at the end of every part of every step, the energies of each garment and what works and losses
/// changed them. Everything is computed in double, on the host, by formulas that share nothing with the
/// kernels (host/reference), and no bit of the simulation depends on it. The balance closes to the work of
/// forces that the iterations left unbalanced: host/docs/ENERGY_BALANCE.md.
class EnergyBalance {
 public:
  /// The simulation must outlive it. Throws SceneError where a balance is not known: impulses, fast
  /// projection, the metric of the mass, and batches that may take a step in parts.
  explicit EnergyBalance(Simulation& simulation);
  ~EnergyBalance();
  EnergyBalance(const EnergyBalance&) = delete;
  EnergyBalance& operator=(const EnergyBalance&) = delete;

  /// One step of the simulation, as Simulation::step().
  std::vector<StepReport> step();
  /// Several steps of the simulation, as Simulation::advance().
  std::vector<StepReport> advance(int steps);
  /// What the last call of step() or advance() left; see Simulation::take_step_records().
  const std::vector<StepRecord>& kept() const { return kept_; }
  /// Energies, works and losses of a garment since this object was made or the sums were set; zero of a body
  /// that is driven.
  EnergySums sums(std::size_t garment) const;
  /// Goes on from the garment's state, whatever led to it, and from what was counted until then.
  void set_sums(std::size_t garment, const EnergySums& sums);

 private:
  Simulation& simulation_;
  std::vector<StepRecord> kept_;
  std::vector<std::unique_ptr<energy::GarmentBalance>> garments_;  ///< balances of the garments; null: driven
};

}  // namespace isocloth

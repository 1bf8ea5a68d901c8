// Minimisers of the energies of particles.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/core/monitor.hpp"
#include "engine/models/particles/particle_energy.hpp"

namespace isocloth {

/// An iteration: how many there were, energy [J] and residual, the largest unbalanced force over the mean
/// weight of a particle.
struct MinimiserPoint {
  std::int64_t iteration = 0;
  double energy = 0, residual = 0;
};

struct MinimiserSettings {
  double tolerance = 1e-3;  ///< residual at which the search ends
  std::int64_t most_iterations = 2000;
  Monitor* monitor = nullptr;  ///< monitor whose stop ends the search between two iterations
  std::function<void(const MinimiserPoint&)> observer{};
};

struct MinimiserResult {
  /// Points of the start and of every iteration; energies fall from one to the next.
  std::vector<MinimiserPoint> history;
  std::string status;  ///< "at rest"; "stalled": no step goes downhill; "iterations": no more; "interrupted"
};

/// Largest |dU/dx| over the mean weight of a particle (of 9.81 m/s^2 without gravity).
double residual(ParticleEnergy& energy, const std::vector<Vec3d>& x);

/// Throws NumericalError unless the energy of a start is finite.
void require_finite_start(double energy);

/// Adds an iteration to the history, and tells monitor and observer; returns its residual.
double note_iteration(const MinimiserPoint& point, const MinimiserSettings& settings,
                      MinimiserResult& result);

/// Newton's method: (H + mu I) d = -dU/dx, H the Hessian whose terms are each projected onto positive
/// semi-definite matrices (Teran et al. 2005), by Eigen's sparse LDL^T. Steps of at most w / 4 that Armijo's
/// rule accepts; mu falls while whole steps are accepted and rises where none is (Levenberg, Marquardt).
/// `x` is where it starts and ends. Throws NumericalError for a start with an energy that is not finite.
MinimiserResult minimise_by_newton(ParticleEnergy& energy, std::vector<Vec3d>& x,
                                   const MinimiserSettings& settings);

/// Steepest descent, by which Feynman minimised: x - t dU/dx of all particles at once, t by Barzilai and
/// Borwein (1988), halved until Armijo's rule accepts it; no particle moves by more than w / 10. Throws as
/// minimise_by_newton().
MinimiserResult minimise_by_descent(ParticleEnergy& energy, std::vector<Vec3d>& x,
                                    const MinimiserSettings& settings);

struct RelaxationSettings {
  MinimiserSettings search{};
  double perturbation = 0.1;  ///< largest random part of a trial step, over its length; 0: none
  std::uint64_t seed = 1;
  bool falls = true;         ///< first phase: fall and collide
  int sweeps_per_step = 16;  ///< number of sweeps over the particles between two steps of the fall
};

/// Breen, House, Wozny 1994, with what the sources at hand leave open chosen. First phase: each time step
/// particles fall, as if nothing held them together, by w / 20 at most, and what is inside of an obstacle is
/// put on its surface; sweeps draw the cloth together, and velocities are those of what has happened. It ends
/// when a step moves the centre of mass by less than 1e-3 of such a fall, or after 400 steps. Second phase:
/// sweeps alone, each of which moves particle after particle along its own gradient, plus the perturbation,
/// and keeps what lowers the energy; a particle's step grows by 1.5 where it does and halves where not. The
/// paper's Metropolis rule at no temperature: no sweep raises the energy. The history is that of the second
/// phase.
MinimiserResult minimise_by_relaxation(ParticleEnergy& energy, std::vector<Vec3d>& x,
                                       const RelaxationSettings& settings);

}  // namespace isocloth

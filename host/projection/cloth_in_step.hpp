// A cloth in a step: what it was before, what it is after the parts that are done, and the iterate.
#pragma once

#include <utility>
#include <vector>

#include "engine/model/integrator.hpp"
#include "host/memory/transfers.hpp"
#include "host/state/garment_state.hpp"
#include "kernels/samples/contact_state.hpp"

namespace isocloth {

/// What a garment keeps from step to step.
template <class Real>
struct ClothState {
  /// Positions [m] and velocities [m/s] of the nodes, shape [node_count].
  Buffer<Vec3<Real>> positions, velocities;
  Buffer<Real> multipliers;  ///< lambda [kg m^2], shape [row_count]
  Buffer<Real> contacts;     ///< state of contacts, see ContactStateLayout
  Buffer<Real> plastic;      ///< plastic strains, see RowMemory; empty: rows forget
  // Of the step before, where the integrator remembers it, shape [node_count] or empty.
  Buffer<Vec3<Real>> previous_positions, previous_velocities;
  double previous_step = 0;  ///< duration of the step before [s], 0: there was none

  std::size_t bytes() const {
    return positions.bytes() + velocities.bytes() + multipliers.bytes() + contacts.bytes() + plastic.bytes() +
           previous_positions.bytes() + previous_velocities.bytes();
  }
};

/// The states of one cloth around a step, in a device's memory, and the integrator's view of them: a part of
/// h [s] goes from x^ = x_n + memory (x_n - x_{n-1}), v^ alike, and ends at v_{n+1} = rate (x_{n+1} - x^) / h
/// (kernels/projection/integrator.hpp).
template <class Real>
class ClothInStep {
 public:
  /// A node, and where it is or how fast.
  struct NodeValue {
    Index node;
    Vec3d value;
  };

  /// At `start` [m], at rest, without forces; plastic: number of plastic strains. The device must outlive it.
  ClothInStep(const Device& device, Integrator integrator, const std::vector<Vec3<Real>>& start,
              std::size_t rows, const ContactStateLayout& layout, std::size_t plastic);

  bool has_history() const { return remembers_step(integrator_); }
  std::size_t node_count() const { return state.positions.size(); }
  std::size_t bytes() const;
  /// A state as plain data; the clock and what froze the garment are kept elsewhere.
  GarmentState download(const ClothState<Real>& from) const;
  /// Takes the state for the one before the next step.
  void upload(const GarmentState& from);
  /// Notes the state for undo(), which returns to it once.
  void note();
  void undo() { std::swap(state, before_); }

  void begin_step();
  /// Computes the integrator's coefficients, x^ and v^ of a part of h [s].
  void begin_part(double h);
  double step() const { return step_; }  ///< duration h of the part [s]
  double rate() const { return rate_; }
  /// Share of the step before in x^ and v^ where that was `previous_step` [s] long, see
  /// IntegratorCoefficients.
  double memory(double previous_step) const;
  const Buffer<Vec3<Real>>& base() const { return has_history() ? base_ : work.positions; }  ///< x^ [m]
  const Buffer<Vec3<Real>>& base_velocity() const {                                          ///< v^ [m/s]
    return has_history() ? base_velocity_ : work.velocities;
  }
  /// Lets the part that has begun, and the next, take no notice of the step before; returns whether this one
  /// did.
  bool forget();
  /// Velocities of all nodes when the part of h [s] began, or when it would end at the iterate [m/s], shape
  /// [node_count].
  std::vector<Vec3d> velocities(bool at_iterate, double h) const;
  /// Asks for the velocities of the part before [m/s].
  void fetch_velocities(Downloads& downloads, std::vector<Vec3<Real>>& staging, const Vec3<Real>*& at) const {
    downloads.add(work.velocities.view(), staging, at);
  }
  /// Puts nodes elsewhere than the iterate has them, and has others go on at other velocities when the part
  /// ends; forgets: the multipliers, too, are of no use.
  void stop_nodes(const std::vector<NodeValue>& positions, std::vector<NodeValue> velocities, bool forgets);
  /// Begins the step anew, with so much of its multipliers and forces.
  void begin_again(double share);
  /// What is to be said of a part that was accepted.
  struct Accepted {
    std::vector<Index> stopped;  ///< nodes that went on at velocities of stop_nodes()
    bool forgot = false;         ///< whether forget() was called
  };
  /// Ends the part at the iterate.
  Accepted accept_part();
  /// Multiplies the multipliers and forces of `from`, which carry h^2, into those of the step under way.
  void scale_forces(const ClothState<Real>& from, double factor);
  void clear_contact_forces();
  void end_step(bool keeps_multipliers);

  ClothState<Real> state;      ///< after the last step that was kept
  ClothState<Real> work;       ///< after the last part that was accepted of the step under way
  Buffer<Vec3<Real>> iterate;  ///< phi_j [m], shape [node_count]

 private:
  /// Computes to = factor from.
  void scale(ArrayView<const Real> from, double factor, ArrayView<Real> to) const;
  void copy(const ClothState<Real>& from, ClothState<Real>& to) const;
  void write_nodes(const std::vector<NodeValue>& values, Buffer<Vec3<Real>>& to) const;
  ClothState<Real> empty_state(std::size_t nodes, std::size_t rows, std::size_t plastic) const;

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const Integrator integrator_;
  const ContactStateLayout layout_;
  ClothState<Real> before_;  ///< see note()
  double step_ = 0, rate_ = 1;
  Buffer<Vec3<Real>> base_, base_velocity_;  ///< x^, v^ of integrators that remember
  std::vector<NodeValue> stopped_velocities_;
  bool forgets_ = false;
};

}  // namespace isocloth

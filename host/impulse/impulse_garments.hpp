// Garments of one pattern that impulses hold: their constants, states and measures.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "engine/core/text.hpp"
#include "engine/model/scene.hpp"
#include "host/garment/rest_shape.hpp"
#include "host/impulse/force_bounds.hpp"
#include "host/impulse/impulse_contacts.hpp"
#include "host/impulse/impulse_holds.hpp"
#include "host/impulse/impulse_springs.hpp"
#include "host/impulse/stencil_packets.hpp"
#include "host/measures/garment_measures.hpp"
#include "host/measures/strain_meter.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "host/state/step_report.hpp"
#include "host/state/strain.hpp"
#include "host/surroundings/node_force_table.hpp"

namespace isocloth {

/// Of a model with forces of its own in the place of bending, drag and springs: the rate [1/s], as that of
/// ForceBounds, of those that are explicit, from the fabric and 1 / m_i of the nodes [1/m^2].
using OwnForceRate = std::function<double(const Fabric& fabric, const std::vector<double>& inverse_masses)>;

template <class Real>
class ImpulseGarments : public GarmentSolver {
 public:
  std::size_t size() const override { return garments_.size(); }
  std::vector<Measures> measure(std::size_t first, std::size_t count) override;
  std::vector<Strain> strains() override;
  /// Throws ShapeError: there is no projection to inspect.
  Inspection inspect(std::size_t member, double t, double h) override;
  void refresh() override { build_parameters(); }
  /// Rate of explicit forces [1/s], see ForceBounds: by it steps are taken in parts that bear them.
  double force_rate() const { return fastest_; }
  /// Sets the rate of explicit forces [1/s] of what steps together with these garments: their parts bear it,
  /// too.
  void set_least_rate(double rate) {
    least_rate_ = rate;
    build_parameters();
  }
  GarmentInfo info(std::size_t member) const override;
  std::vector<FieldView> views(GarmentField field) override;
  GarmentState state(std::size_t member) const override;
  void check(std::size_t member, const GarmentState& state) const override;
  void set_state(std::size_t member, const GarmentState& state) override;
  void undo() override {
    if (std::exchange(is_kept_, false)) put_back(before_);
  }

  /// Rows in the order of the sweeps, by their stencils: numbers of edges (rows `edges`), or of metric
  /// stencils and, after them, scalar ones (`isometry`).
  const std::vector<Index>& sweep_order() const { return sweep_order_; }
  /// The edges in the order of the sweeps (rows `edges`).
  NodePairs swept_edges() const {
    const NodePairs all = arrays_.rows.edge_nodes();
    NodePairs edges;
    for (const Index edge : sweep_order_) edges.push_back(all[static_cast<std::size_t>(edge)]);
    return edges;
  }

 protected:
  /// The garments must outlive the object; `obstacles` of the scene, null: none. Throws SceneError where a
  /// given number of parts is too small for the forces of a garment.
  ImpulseGarments(const Device& device, std::vector<const Garment*> garments, const ResolvedScene& resolved,
                  const std::shared_ptr<const ObstacleShapes<Real>>& obstacles, OwnForceRate own_rate = {});

  ImpulseCloths<Real> cloths();
  ImpulsePattern<Real> pattern() const;
  const Scene& scene() const { return scene_; }
  /// Settings of the impulses, the same for all members but for `substeps`.
  const ImpulseSettings& settings() const { return settings_; }
  /// All that steps change, of all garments.
  struct State {
    std::vector<Vec3d> positions;
    std::vector<Vec3<Real>> velocities;
    std::vector<Real> contacts;
    typename ImpulseHoldBuffers<Real>::Copy holds;
    typename ImpulseSpringBuffers<Real>::Copy springs;
    std::vector<StepStatus> lost;
  };
  void copy_to(State& copy) const;
  void put_back(const State& copy);
  /// Makes undo() possible from here on, or not.
  void keep_before(bool undoable) {
    is_kept_ = undoable;
    if (undoable) copy_to(before_);
  }
  /// What the steps of a member did; they may have lost it.
  AdvanceReport take_report(std::size_t member, const ImpulseReport& found) {
    AdvanceReport report;
    report.steps = static_cast<int>(found.steps);
    const auto status = status_of(static_cast<int>(found.status));
    report.total.status = has_failed(lost_[member]) ? lost_[member] : status;
    report.total.iterations = static_cast<int>(found.sweeps);
    report.total.substeps = report.steps * parameters_[member].parts;
    report.total.residual = found.residual;
    report.total.penetration = found.penetration;
    report.total.eased_depth = found.depenetration_depth;
    if (has_failed(status)) lose(member, status);
    return report;
  }
  /// Sets where pinned nodes go, the motions of obstacles and grippers, the wind and given forces.
  void set_targets(const std::vector<Clock>& clocks, double h, int steps);
  const ImpulseContactBuffers<Real>& contacts() const { return contacts_; }
  const PacketBuffers<Real>& edges() const { return edges_; }
  /// Inverse masses of the nodes of every shape [1/m^2].
  const Buffer<Real>& inverse_masses() const { return inverse_masses_; }
  const Buffer<Vec3d>& positions() const { return positions_; }
  ImpulseHoldBuffers<Real>& holds() { return holds_; }
  const ImpulseHoldBuffers<Real>& holds() const { return holds_; }
  const StencilBuffers<Real, 3>& metric_stencils() const { return metric_stencils_; }
  const StencilBuffers<Real, 1>& scalar_stencils() const { return scalar_stencils_; }
  const ImpulseSpringBuffers<Real>& springs() const { return springs_; }
  /// Instruction set of the host, or name of the backend.
  std::string instructions() const;
  virtual std::size_t work_bytes() const = 0;
  virtual std::string solver_name() const = 0;

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const std::vector<const Garment*> garments_;
  std::vector<ImpulseParameters<Real>> parameters_;  ///< host copy, shape [size()]
  std::vector<StepStatus> lost_;                     ///< what froze a member, else converged; shape [size()]

 private:
  /// Freezes a member and says why; it touches nothing, and its grippers pull at nothing any more.
  void lose(std::size_t member, StepStatus status);
  void build_rows();
  /// Throws DeviceError unless what grows with the number of garments fits.
  void require_memory(std::size_t obstacle_count, std::size_t moving_count) const;
  void build_parameters();
  double rounding_of_strains(const Mesh& mesh) const;
  ForceBounds force_bounds(std::size_t shape) const;
  /// What GarmentInfo::solver says of explicit forces.
  std::string stable_parts() const {
    return fastest_ > 0 ? text(", explicit forces stable in parts of up to ", 1 / fastest_, " s") : "";
  }
  double gravity(std::size_t member) const { return garments_[member]->gravity.value_or(scene_.gravity); }

  const OwnForceRate own_rate_;
  const ResolvedScene resolved_;
  const Scene& scene_;
  ImpulseSettings settings_;
  GarmentArrays<Real> arrays_;
  RestShapes<Real> shapes_;
  std::vector<Index> sweep_order_;
  std::vector<Index> pinned_nodes_;  ///< numbers of the pinned nodes, ascending
  Index most_slots_ = 0;             ///< largest number of slots of a stencil
  double least_rate_ = 0;  ///< rate of what steps together with these garments [1/s], see set_least_rate()
  double fastest_ = 0;     ///< rate of explicit forces of any member [1/s]; see ForceBounds
  PacketBuffers<Real> edges_;
  ImpulseSpringBuffers<Real> springs_;
  StencilBuffers<Real, 3> metric_stencils_;
  StencilBuffers<Real, 1> scalar_stencils_;
  Buffer<Index> pinned_, shape_of_;
  Buffer<Real> bending_, inverse_masses_;
  Buffer<ImpulseParameters<Real>> device_parameters_;
  Buffer<double> targets_;
  Buffer<Vec3d> positions_;
  Buffer<Vec3<Real>> velocities_;
  std::vector<double> staging_;
  ImpulseContactBuffers<Real> contacts_;
  ImpulseHoldBuffers<Real> holds_;
  NodeForceTable<Real> forces_;
  State before_;                                       ///< what an undoable request began with
  bool is_kept_ = false;                               ///< undo() may follow
  std::unique_ptr<StrainMeter<double>> strain_meter_;  ///< made on first use, as measures_
  std::unique_ptr<GarmentMeasures<Real>> measures_;
};

}  // namespace isocloth

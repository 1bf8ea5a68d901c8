// Small garments of one pattern that step together, tile by tile.
#pragma once

#include <memory>

#include "engine/model/scene.hpp"
#include "host/garment/rest_shape.hpp"
#include "host/garment/sample_arrays.hpp"
#include "host/linear/device_cholesky_plan.hpp"
#include "host/measures/garment_measures.hpp"
#include "host/measures/strain_meter.hpp"
#include "host/memory/locked_array.hpp"
#include "host/projection/pin_targets.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "host/state/step_report.hpp"
#include "host/state/strain.hpp"
#include "host/surroundings/surroundings.hpp"

namespace isocloth {

/// Whole steps by one kernel (kernels/batch/step_cloths.hpp). All members share rows, pins and the pattern of
/// the matrix; rest shapes, fabrics, gravity and motions are their own.
template <class Real>
class ClothGroup final : public GarmentSolver {
 public:
  /// The garments must outlive the group; `obstacles` of the scene, null: none.
  ClothGroup(const Device& device, std::vector<const Garment*> garments, const ResolvedScene& resolved,
             const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);

  std::size_t size() const override { return garments_.size(); }
  /// One launch, and on a device the copy of its reports, for which finish() waits.
  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  /// On a device two launches for each step, and one copy of all reports. On the host steps return to who may
  /// stop them.
  int most_measured_steps() const override { return device_.backend().memory.host_accessible ? 0 : 32; }
  void start_measured(const std::vector<Clock>& clocks, double h, int steps,
                      const std::vector<Tearing>& tearing) override;
  /// Number of threads that fill the steps: one per tile.
  std::size_t threads() const override { return tiles_; }
  std::vector<AdvanceReport> finish() override;
  void undo() override;
  /// Which members the next start() steps, others stay as they are; shape [size()].
  void set_alive(const std::vector<char>& alive);
  /// Positions of a member [m], shape [node_count, 3]; positions_before() and state_before(): before an
  /// undoable start() that has not been undone.
  std::vector<double> positions(std::size_t member) const;
  std::vector<double> positions_before(std::size_t member) const;
  GarmentState state_before(std::size_t member) const;
  /// Whether a request can be stopped: a launch on a device runs to its end.
  bool can_stop() const override { return device_.backend().memory.host_accessible; }
  std::vector<Measures> measure(std::size_t first, std::size_t count) override;
  std::vector<Strain> strains() override;
  Inspection inspect(std::size_t member, double t, double h) override;
  void refresh() override;
  void refresh_members(const std::vector<std::size_t>& members) override;
  void refresh_motions() override { pins_.refresh(); }
  void forget_step_before(const std::vector<std::size_t>& members) override;
  GarmentInfo info(std::size_t member) const override;
  std::vector<FieldView> views(GarmentField field) override;
  GarmentState state(std::size_t member) const override;
  std::vector<GarmentState> states() const override;
  void check(std::size_t member, const GarmentState& state) const override;
  void set_state(std::size_t member, const GarmentState& state) override;
  void set_states(const std::vector<MemberState>& states) override;

 private:
  /// Builds obstacles, grippers and forces; `obstacles`: null: none.
  void build_surroundings(const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);
  void build_plan();
  void build_rest_shapes();
  void build_parameters();
  ClothParameters<double> parameters_of(std::size_t member) const;
  std::vector<double> row_stiffness_of(const Garment& garment) const;
  /// Whether a member's rest shape, fabric and gravity are those of the one before.
  bool is_like_before(std::size_t member) const;
  /// Writes a member's numbers into its lane of a tiled array, of the last also into the spare lanes behind
  /// it.
  void put(std::size_t member, const std::vector<double>& values, Buffer<Real>& tiled) const;
  ClothPatternView pattern() const;
  RestShapesView<Real> rest_shapes() const;
  StepCloths<Real> arguments(double h, int steps);
  /// Sets what pins and surroundings do in the next steps.
  void set_motions(const std::vector<Clock>& clocks, double h, int steps);
  /// Begins to copy reports to where finish() reads them.
  void begin_to_read(std::size_t count);
  /// What the device or the host has written of them.
  const Real* reports() const;
  /// Numbers of the reports of a step, ClothReport of all lanes and, where strain is measured, StrainReport.
  std::size_t report_numbers(bool has_strain) const;
  /// What a step or several of a member did, and whether they lost it.
  StepReport take_report(std::size_t member, const ClothReport<Real>& found);
  std::vector<AdvanceReport> take_measured_reports(double seconds);
  /// Throws DeviceError unless the device has room for all members.
  void require_memory() const;
  /// Of a tile.
  BlockMemory work_memory() const;
  std::size_t memory_bytes() const;

  /// Element `i` of `count` of a member in a tiled array.
  std::size_t slot(std::size_t member, std::size_t i, std::size_t count) const {
    return (member / width_ * count + i) * width_ + member % width_;
  }
  std::vector<double> gather(const Buffer<Real>& tiled, std::size_t member, std::size_t count) const;
  /// Plastic strains of a member.
  std::size_t memory_count() const { return row_memory_.size() > 0 ? memory_elements * row_count_ : 0; }
  ContactStateLayout contact_layout() const { return pattern().contact_state(); }

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const std::vector<const Garment*> garments_;
  const ProjectionSettings settings_;
  const ResolvedScene resolved_;
  const Scene& scene_;
  const std::size_t width_, tiles_;
  GarmentArrays<Real> arrays_;
  RestShapes<Real> shapes_;
  std::size_t row_count_;
  PinTargets<Real> pins_;
  DeviceCholeskyPlan plan_;
  Buffer<Index> pinned_indices_, driven_indices_;  ///< of nodes, see ClothPatternView
  SampleArrays samples_;
  Surroundings<Real> surroundings_;
  Buffer<Real> tensors_, rest_values_, masses_, inverse_masses_, bending_, factored_, beyond_, rest_areas_;

  Buffer<Real> parameters_, row_stiffness_, row_bounds_, row_curves_, row_viscosity_, row_memory_, reports_;
  LockedArray<Real> locked_reports_;  ///< the host's copy of reports_, of a device
  int measured_steps_ = 0;            ///< of the request, 0: strain is not measured
  std::vector<Tearing> tearing_;      ///< what tears the members, where strain is measured
  std::vector<Real> staging_;
  /// All that is kept from step to step, see ClothStates.
  struct States {
    Buffer<Real> positions, velocities, multipliers, contacts, history, plastic, alive;
    std::vector<StepStatus> lost;  ///< what froze a member, else converged; shape [size()]

    std::size_t bytes() const {
      return positions.bytes() + velocities.bytes() + multipliers.bytes() + contacts.bytes() +
             history.bytes() + plastic.bytes() + alive.bytes();
    }
  };
  States states_, before_;  ///< the states now, and when an undoable request began
  bool is_undoable_ = false;
  /// Makes the states of now those that the next launch begins with, and room for those after it.
  void keep_before();
  GarmentState state_of(const States& states, std::size_t member) const;
  /// values(array, count): `count` numbers of the member in an array of the states.
  template <class Values>
  GarmentState state_of(std::size_t member, StepStatus lost, const Values& values) const;
  StrainMeter<Real>& strain_meter();
  double start_seconds_ = 0;  ///< time taken by start() [s]

  std::unique_ptr<GarmentMeasures<Real>> measures_;  ///< made on first use, as strain_meter_
  std::unique_ptr<StrainMeter<Real>> strain_meter_;

  WorkQueue queue_;  ///< waits before the buffers above go
};

}  // namespace isocloth

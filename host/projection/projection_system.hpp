// The linear system of an iteration: B, rows and contacts of one garment, assembled, solved, and what comes
// of it.
#pragma once

#include <memory>

#include "host/linear/coupled_system.hpp"
#include "host/projection/garment_contacts.hpp"
#include "host/projection/rows_in_step.hpp"

namespace isocloth {

/// (B + G+ + J^T s^2 J) d = right side (kernels/projection/nodal_system.hpp) on the free nodes of one
/// garment, at the iterate of its ClothInStep. P of it has a factor; couplings that the factor leaves out are
/// solved for by conjugate gradients.
template <class Real>
class ProjectionSystem {
 public:
  /// All that it is given must outlive it.
  ProjectionSystem(const Device& device, const Garment& garment, const ResolvedScene& resolved,
                   const GarmentArrays<Real>& arrays, ClothInStep<Real>& cloth, RowsInStep<Real>& rows,
                   GarmentContacts<Real>& contacts, StepSolver choice);

  /// A part of a step begins: finds what threads of seams and buttons are in it.
  void begin_part();
  /// B, the metric of the step, in the part that is under way.
  MetricView<Real> implicit_metric() const;
  /// The metric in which it is projected: B, or M where the settings say so.
  MetricView<Real> projection_metric() const;
  /// Finds the first iterate and what drives the part, B (phi~ - x^), and phi~ where the method or the caller
  /// needs it. targets: where pinned nodes are at the end of the step [m]; share: of the step that is over
  /// when the part ends. False: B cannot be factorised.
  bool predict(const Buffer<Vec3<Real>>& targets, double share, bool with_predicted = false);

  /// Assembles matrix and right side at the iterate.
  void assemble();
  void assemble_right_side(bool with_samples = true) {
    assemble_right_side(projection_metric(), true, with_samples ? contacts_.forces() : SampleForces<Real>{});
  }
  /// Solves for the correction by the factor alone; false: the matrix cannot be factorised.
  bool factor();
  // The same in two steps, see NodalSolver::begin_solve().
  void begin_factor(Downloads& downloads);
  bool end_factor();
  /// assemble(), factor(), and what the factor leaves out to this relative tolerance.
  bool solve(double rtol);
  /// Whether a solve() is begin_solve() and end_factor(), and what follows it may be launched before anybody
  /// knows whether there is a factor.
  bool can_begin_solve() const { return nodal_solver_->is_recordable() && !coupled_.exists(); }
  void begin_solve(Downloads& downloads);
  /// Corrects multipliers, forces of contacts and the iterate.
  void correct(const BodyMoves<Real>& bodies) { correct(bodies, rows_.values().jacobian); }
  bool can_project_again() const { return rows_.values().jacobian_before.size() > 0; }
  /// Corrects what the rows miss at the iterate, by the matrix of the last solve(), where that works.
  void project_again();
  /// Largest imbalance of a node at the iterate, see FindImbalances; from_cloth: times h^2, empty: none.
  double imbalance(ArrayView<const Vec3<Real>> from_cloth);

  /// The system that has been assembled and factorised.
  CoupledMember<Real> member();
  /// Block row where the last factorisation stopped, -1: it did not.
  Index bad_block() const { return bad_block_; }
  /// 1 / m_i, 0: pinned or held rigidly [1/m^2], shape [node_count].
  ArrayView<const Real> inverse_masses() const;
  std::size_t memory_bytes() const;

  const Device& device() const { return device_; }
  const Garment& garment() const { return garment_; }
  const ResolvedScene& resolved() const { return resolved_; }
  const GarmentArrays<Real>& arrays() const { return arrays_; }
  ClothInStep<Real>& cloth() { return cloth_; }
  RowsInStep<Real>& rows() { return rows_; }
  const GarmentContacts<Real>& contacts() const { return contacts_; }
  NodalSolver<Real>& nodal_solver() { return *nodal_solver_; }
  const NodalSolver<Real>& nodal_solver() const { return *nodal_solver_; }
  /// phi~ [m], shape [node_count], where predict() found it.
  const Buffer<Vec3<Real>>& predicted() const { return predicted_; }
  const Buffer<Real>& stiffness() const { return stiffness_; }  ///< G+ of each pair [kg]
  Buffer<Real>& blocks() { return blocks_; }                    ///< P as assembled, see AssembleSystem
  Buffer<Vec3<Real>>& right_side() { return right_side_; }      ///< [kg m], shape [free_count]
  Buffer<Vec3<Real>>& correction() { return correction_; }      ///< d [m], shape [free_count]

 private:
  bool is_newton() const { return resolved_.is_newton; }
  /// Assembles H and the right side, both of B alone without rows, with what `samples` add.
  void assemble_system(const MetricView<Real>& metric, bool with_rows, const SampleForces<Real>& samples);
  /// Arguments that assemble the right side, and that alone.
  AssembleGradient<Real> right_side(const MetricView<Real>& metric, bool with_rows,
                                    const SampleForces<Real>& samples);
  void assemble_right_side(const MetricView<Real>& metric, bool with_rows, const SampleForces<Real>& samples);
  /// Adds to the correction of the factor what that leaves out; false: not finite. more: what else is to be
  /// fetched with the first wait, or null.
  bool couple(const MetricView<Real>& metric, double rtol, Downloads* more = nullptr);
  void correct(const BodyMoves<Real>& bodies, const Buffer<Vec3<Real>>& jacobian);
  Stitches<Real> stitches() const {
    return {arrays_.stitch_pattern(), stitch_stiffness_.view(), stitch_rests_.view()};
  }

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const Garment& garment_;
  const ResolvedScene& resolved_;
  const ProjectionSettings& settings_;
  const GarmentArrays<Real>& arrays_;
  ClothInStep<Real>& cloth_;
  RowsInStep<Real>& rows_;
  GarmentContacts<Real>& contacts_;

  std::unique_ptr<NodalSolver<Real>> nodal_solver_;
  Index bad_block_ = -1;
  CoupledSystem<Real> coupled_;  ///< system of the couplings that the factor leaves out
  /// Columns along x, y, z where a factor of less precision must not push the cloth, shape [3, free_count];
  /// else empty.
  Buffer<Vec3<Real>> translations_;
  MatrixRows matrix_rows_;  ///< whole rows of the matrix of blocks_

  Buffer<Vec3<Real>> predicted_, momentum_, right_side_, correction_;
  Buffer<Real> stiffness_, blocks_;
  Buffer<Real> row_forces_;        ///< see AssembleGradient
  Buffer<Real> imbalances_;        ///< imbalances of the nodes; empty: nobody asks
  Buffer<Real> stitch_stiffness_;  ///< stiffness of stitches in the part under way, see Stitches
  Buffer<Vec3<Real>> stitch_rests_;
};

}  // namespace isocloth

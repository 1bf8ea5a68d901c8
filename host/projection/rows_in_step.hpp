// Rows of a cloth in a step: their laws, what they are at the iterate, and what they miss.
#pragma once

#include <cmath>

#include "engine/model/resolved_scene.hpp"
#include "engine/model/scene.hpp"
#include "host/garment/row_evaluator.hpp"
#include "host/projection/cloth_in_step.hpp"

namespace isocloth {

/// Rows C of one garment, their Jacobian J and laws (kernels/tensors/row_laws.hpp) in a part of a step. They
/// are evaluated as the system of an iteration has them, s J with s^2 = 1 / (eps D) of rigid rows, D = diag(J
/// M^-1 J^T), or h^2 K of compliant ones.
template <class Real>
class RowsInStep {
 public:
  /// All that it is given must outlive it.
  RowsInStep(const Device& device, const Garment& garment, const ResolvedScene& resolved,
             const GarmentArrays<Real>& arrays, ClothInStep<Real>& cloth);

  /// Takes note that the fabric has changed.
  void refresh();
  /// inertia: of the metric [kg/m^2]; inverse_masses: 1 / m_i [1/m^2], 0: pinned or held, shape [node_count].
  void begin_part(Real inertia, ArrayView<const Real> inverse_masses);
  /// Evaluates the rows at the iterate; returns their largest mismatch (RowLaws), infinite where any is not
  /// finite.
  double evaluate(int iteration);
  /// Launches what evaluate() computes; residual() has it once fetch() has run.
  void launch(int iteration);
  void fetch(Downloads& downloads) { evaluator_.reducer().fetch(downloads); }
  double residual() const;
  /// Evaluates what the laws call strain, and its s J, at `positions`.
  void evaluate_strains(const Buffer<Vec3<Real>>& positions);
  /// Takes note of what rows remember of a part that ends at the iterate.
  void keep_memory();
  /// Lets eps follow the residuals of two iterates, see adapted_eps().
  void follow(double before, double after);
  RowLaws<Real> laws();
  /// The multipliers of quadratic rows: those of the step, or see QuadraticMultipliers.
  ArrayView<const Real> quadratic_multipliers();
  /// Makes the multipliers of compliant rows the stress of the iterate; where a curve is read at the strain
  /// of the multipliers it is approached.
  void settle_multipliers();

  /// Launches what mismatch_excess() is computed from, to be fetched.
  void launch_mismatch_excess();
  /// Energy of the mismatches at the iterate over what it may be, see MismatchEnergy.
  double mismatch_excess() const;
  /// Whether a residual is near its tolerance, see cpu::is_near().
  bool is_near(double residual) const;
  RowEnergies<Real> energies() const;

  double eps() const { return eps_; }  ///< softness of rigid rows in this iteration
  /// Stiffness K [J], 0: rigid, shape [row_count]; empty: all are.
  ArrayView<const Real> stiffness() const { return stiffness_.view(); }
  bool are_elastic() const { return stiffness_.size() > 0; }
  bool are_quadratic() const { return quadratic_multipliers_.size() == 0; }
  bool are_viscous() const { return strains_.size() > 0; }
  const RowEvaluator<Real>& values() const { return evaluator_; }
  /// Numbers of what is reduced for one iterate.
  enum : std::size_t { of_residuals, of_mismatches, of_excess, of_contact_depths, of_contact_errors };
  /// Reduces whatever is not of rows, too.
  RowEvaluator<Real>& evaluator() { return evaluator_; }
  std::size_t memory_bytes() const;

 private:
  bool has_mismatch_bound() const {
    return scaled_mismatches_.size() > 0 && std::isfinite(most_mismatch_.rate);
  }

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const Garment& garment_;
  const ResolvedScene& resolved_;
  const GarmentArrays<Real>& arrays_;
  ClothInStep<Real>& cloth_;
  RowEvaluator<Real> evaluator_;
  const double start_eps_;
  double eps_;
  MismatchEnergy most_mismatch_;
  int iteration_ = 0;
  Real inertia_{};
  ArrayView<const Real> inverse_masses_;

  Buffer<Real> stiffness_, mismatches_, scaled_mismatches_;  ///< of compliant rows; empty: all are rigid
  /// Bounds of rows and growth of their penalties; empty: no row has a bound.
  Buffer<Real> bounds_, bound_growth_;
  Buffer<Real> curves_, viscosity_;     ///< see RowLaws
  Buffer<Real> memory_;                 ///< see RowMemory; empty: rows forget
  Buffer<Real> strains_;                ///< C when the part of a step began; empty: no row is viscous
  Buffer<Real> quadratic_multipliers_;  ///< multipliers of quadratic rows; empty: all rows are quadratic
};

}  // namespace isocloth

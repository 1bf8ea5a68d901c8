// Derivatives of a step that has been taken.
#pragma once

#include "host/projection/contact_adjoint.hpp"
#include "host/projection/projection_system.hpp"
#include "host/projection/step_gradient.hpp"

namespace isocloth {

/// Derivatives of a step, in double on the CPU, of a garment among obstacles and grippers, by the implicit
/// function theorem: a step from x_n, v_n that has converged ends where
///   R(x) = B (phi~ - x^) - B (x - x^) - J^T lambda + W^T P = 0
/// on free nodes, lambda the stress of compliant rows times h^2, and C = 0 of rigid ones; P the forces of
/// contacts, functions of their points W x (ContactAdjoint), and of soft holds.
class StepAdjoint {
 public:
  /// `system` is where `step` ended (ProjectionSolver::go_to_end); it and the states of the step must outlive
  /// this.
  StepAdjoint(ProjectionSystem<double>& system, const FinishedStep& step);

  /// Wrenches of obstacles on the garment, shape [obstacle]; empty: there are none.
  std::vector<Wrench> wrenches() const { return contacts_.wrenches(step_.step); }
  /// R, without what contacts and holds exert where FinishedStep asks for none, with multipliers that are the
  /// stress of places, [kg m], shape [node_count], 0: pinned.
  std::vector<Vec3d> balance();
  /// Derivatives of a loss by what the step began with, from dL/dx and dL/dv after the step. w solves the
  /// transposed system of dR/dx, with second derivatives of all rows as they are: A^T w = dL/dx + (r / h)
  /// dL/dv on free nodes, J w = 0 of rigid rows (r the integrator's rate). Where A is not positive definite
  /// along the way, because cloth is about to buckle, it is taken without what pushes, as steps take it
  /// (StepGradient::buckles). Throws NumericalError where the system cannot be solved.
  StepGradient gradient(const StateGradient& loss);
  static constexpr int most_rounds = 12;  ///< solves by which rigid rows are held

  // The same in parts, of garments that meet in the step (ClothAdjoint).
  using Nodes = std::vector<Vec3d>;
  /// Takes the loss and assembles A.
  void begin(const StateGradient& loss);
  const NodalPattern& pattern() const { return arrays_.pattern; }
  ProjectionSystem<double>& system() { return system_; }
  /// Inverse inertia of each node, 0: told where to be [1/kg], shape [node_count].
  std::vector<double> inverse_inertia() const;
  /// dL/dx + (r / h) dL/dv less what multipliers of rigid rows pull, on free nodes.
  Nodes right_side() const;
  /// A^T x on free nodes; is_convex: set to false where A is not positive definite along x.
  Nodes multiply(const Nodes& x, bool& is_convex);
  /// Leaves out what pushes, see StepGradient::buckles.
  void buckle();
  /// Takes a solution on free nodes and corrects multipliers of rigid rows by it; returns whether J w = 0.
  bool take(const Nodes& solution);
  const Nodes& adjoint() const { return solution_.w; }  ///< w, shape [node_count]
  /// What comes of w. more_pulled: of A^T w by what the caller added, on all nodes; by_start: derivatives by
  /// x_n of that. Empty: nothing.
  StepGradient end(const Nodes& more_pulled = {}, const Nodes& by_start = {});
  [[noreturn]] void refuse_factor() const;
  [[noreturn]] void refuse_solution(double rtol, int iterations) const;

 private:
  /// w of gradient(), and what holds it.
  struct Solution {
    Nodes w;                    ///< shape [node_count], 0: pinned
    std::vector<double> nu;     ///< multipliers of rigid rows over s, shape [row_count]
    std::vector<double> along;  ///< s J w, shape [row_count]
    /// G_ab where positive [kg], 0 else, shape [pair_count]: what steps leave out of the geometric stiffness.
    std::vector<double> pushing;
    bool buckles = false;
  };
  /// What is symmetric of multiply().
  Nodes multiply_symmetric(const Nodes& x);
  /// Returns x of A^T x = b by conjugate gradients or, among contacts, GMRES; the factor is that of A without
  /// Solution::pushing. `is_convex`: set to false where A was not positive definite along the way, and x is
  /// worth nothing.
  Nodes solve_whole(const Nodes& right_side, bool& is_convex);
  std::vector<double> pushing_pairs();
  /// Adds to `sum` what second derivatives of rows by the polar decomposition are along w beyond the
  /// geometric stiffness, 2 F dM of QuadraticMultipliers; shapes [node_count].
  void add_stretch_curvature(const Nodes& w, Nodes& sum);
  /// J^T of rigid rows' nu and others' s J w, and what else A w is beyond B w; shape [node_count].
  Nodes pull(const Solution& found);
  /// Adds to dL/dx_n what viscous rows have of it: they pull by how their strain has changed since x_n.
  void add_viscosity(const std::vector<double>& along, Nodes& by_start);
  /// Adds what the places of held nodes say, by_told of those that are held rigidly, and those in the frames
  /// of grippers after the step, `loss`.
  void add_holds(const Nodes& by_told, const Nodes& loss, StepGradient& found) const;
  Nodes on_all_nodes(const Nodes& free) const;
  Index holder(std::size_t node) const;  ///< gripper that holds a node in the step, -1: none
  bool is_told(std::size_t node) const;  ///< whether a pin, or a gripper rigidly, says where the node is
  bool is_rigid(std::size_t row) const { return stiffness().empty() || stiffness()[row] == 0; }
  ArrayView<const double> stiffness() const { return rows_.stiffness(); }
  /// visit(row, place in the Jacobian, node) of every node of every row.
  template <class Visit>
  void each_slot(const Visit& visit) const;

  ProjectionSystem<double>& system_;
  const GarmentArrays<double>& arrays_;
  RowsInStep<double>& rows_;
  ClothInStep<double>& cloth_;
  const FinishedStep step_;
  ContactAdjoint contacts_;
  StateGradient loss_;
  Nodes after_;                        ///< dL/dx + (r / h) dL/dv, and what forces of contacts say
  std::vector<ContactGradient> kept_;  ///< dL/dP of contacts after the step
  StepGradient result_;
  Solution solution_;
};

}  // namespace isocloth

// One cloth stepped in double precision with global sparse matrices: what the kernels are validated against.
#pragma once

#include <vector>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"
#include "host/reference/integrator_formula.hpp"
#include "host/reference/measures.hpp"
#include "host/reference/row_response.hpp"
#include "host/reference/rows.hpp"
#include "host/reference/stitches.hpp"

namespace isocloth::reference {

/// What one step did.
struct StepResult {
  int iterations = 0;     ///< linear solves
  double residual = 0;    ///< largest |scaled row| at the end
  bool converged = true;  ///< residual <= tolerance
  double eps = 0;         ///< smallest eps of the iterations
  double margin = 0;      ///< smallest change of a residual that would have decided an iteration otherwise
};

/// What one linear solve gives.
struct Iteration {
  MatrixX3d displacement;        ///< d [m], zero on pinned nodes, not clamped, shape [node_count, 3]
  VectorXd multipliers;          ///< multipliers after the solve, shape [row_count]
  SparseMatrix block, jacobian;  ///< A + G+ and J on free nodes
  VectorXd compliance;           ///< e, shape [row_count]
};

/// Inextensible cloth of Coltraro 2022, sections 4-7, by the equations (rows -> saddle point), for meshes of
/// some thousand nodes. Each intermediate quantity of a step can be read at any positions. Matrices on nodes
/// apply to x, y and z alike; vectors of all coordinates are ordered 3 node + component.
class ReferenceCloth {
 public:
  /// Starts from the garment's initial positions and velocities, multipliers zero; settings.eps = 0 becomes
  /// the default of the method. Throws ShapeError when initial arrays do not fit the mesh or a pinned node is
  /// out of range.
  ReferenceCloth(const Garment& garment, const Recipe& recipe, const ProjectionSettings& settings,
                 double gravity);

  const Mesh& mesh() const { return mesh_; }
  const QuadraticRows& rows() const { return rows_.rows; }
  const ProjectionSettings& settings() const { return settings_; }          ///< eps filled in
  const std::vector<Index>& free_nodes() const { return free_nodes_; }      ///< nodes of no pin, ascending
  const std::vector<Index>& pinned_nodes() const { return pinned_nodes_; }  ///< nodes of all pins, ascending

  /// Positions of the nodes [m], shape [node_count, 3].
  const MatrixX3d& positions() const { return positions_; }
  /// Velocities of the nodes [m/s], shape [node_count, 3].
  const MatrixX3d& velocities() const { return velocities_; }
  /// Multipliers of the scaled rows, shape [row_count].
  const VectorXd& multipliers() const { return multipliers_; }
  /// Sets a part of the state; each throws ShapeError when the size does not fit.
  void set_positions(const MatrixX3d& positions);
  void set_velocities(const MatrixX3d& velocities);
  void set_multipliers(const VectorXd& multipliers);
  /// See GarmentState::plastic_strains; throws ShapeError where their number does not fit.
  void set_plastic_strains(const std::vector<double>& strains) { laws_.set_plastic(strains); }
  const std::vector<double>& plastic_strains() const { return laws_.plastic(); }
  /// Where the nodes were a step of `step` [s] ago, and how fast; 0: unknown. Read by Integrator::bdf2.
  void set_previous(const MatrixX3d& positions, const MatrixX3d& velocities, double step);

  /// How step() ends, see there: may_reproject, false where cloth meets cloth or bodies; rounding of strains.
  void set_mismatches(bool may_reproject, double rounding) {
    may_reproject_ = may_reproject;
    rounding_ = rounding;
  }

  /// Lumped masses per density m_k [m^2], shape [node_count].
  const VectorXd& masses() const { return masses_; }
  /// K [1/m^2], shape [node_count, node_count].
  const SparseMatrix& bending_matrix() const { return bending_; }
  /// Largest |f''| / f' of the fabric's curves, 0 without: rounding of C is so much larger in D.
  double bend_of_curves(double step) const { return laws_.bend_of_curves(step); }
  /// C(phi) - c of each row, c its bound or 0, shape [row_count].
  VectorXd row_strains(const MatrixX3d& positions) const { return rows_.values(positions) - bounds_; }
  /// C(phi) - c of each row, shape [row_count]; of rows with a law, stress over tangent at these multipliers.
  VectorXd row_values(const MatrixX3d& positions, double step, const VectorXd& multipliers) const;
  VectorXd row_values(const MatrixX3d& positions, double step = 1) const {
    return row_values(positions, step, multipliers_);
  }
  /// dC/dphi [1/m], shape [row_count, 3 node_count].
  SparseMatrix row_jacobian(const MatrixX3d& positions) const { return rows_.jacobian(positions); }
  /// Multipliers of rows() that pull as `multipliers` pull C, sum mu dQ = sum lambda dC.
  VectorXd quadratic_multipliers(const VectorXd& multipliers, const MatrixX3d& positions) const;
  /// D = diag(J W J^T) over free nodes; W = 1/(b m) in metric implicit_b, where B has b m of mass and
  /// damping, 1/m in metric mass.
  /// D is 0 where pinned nodes hold a row alone: the free nodes' part of J is rounding. A row with the energy
  /// K C^2 / 2 has the D whose settings().eps times is its compliance 1 / (h^2 K).
  /// A row C <= c with multiplier mu has, where it is at its bound, the D whose settings().eps times is 1/k +
  /// a, else 0; k = 10 growth (h^2 K + 1/D), a = 1 / (1000 h^2 K). growth 0: of the first iterate, in which
  /// rows are at their bound that have a multiplier, and growth is 1.
  VectorXd row_scale_d(const MatrixX3d& positions, double step) const {
    return row_scale_d(positions, step, multipliers_, VectorXd::Zero(multipliers_.size()));
  }
  VectorXd row_scale_d(const MatrixX3d& positions, double step, const VectorXd& multipliers,
                       const VectorXd& growth) const;
  /// c of rows C <= c, 0 of others.
  const VectorXd& row_bounds() const { return bounds_; }
  const VectorXd& row_stiffness() const { return stiffness_; }
  /// B = rho M + h (alpha M + beta K) + h^2 kappa K [kg], shape [node_count, node_count]. BDF2 is backward
  /// Euler over a time g from positions x^ with velocities v^; B is then (h/g)^2 that of g, so that
  /// multipliers are forces times h^2 in both.
  SparseMatrix implicit_matrix(double step) const;
  /// The matrix of the projection's inner product: B, or M in metric mass; shape [node_count, node_count].
  SparseMatrix metric_matrix(double step) const;
  /// phi~ = phi_n + h v with B v = rho M v_n + h (-delta M g e_z - kappa K phi_n) on free nodes, v =
  /// (prescribed - phi_n)/h on pinned ones (backward Euler of Coltraro 2022, (14); BDF2: with g, x^ and v^ in
  /// the place of h, phi_n and v_n). `prescribed`: positions of pinned_nodes() [m], shape [pinned_count, 3].
  MatrixX3d unconstrained_step(double step, const MatrixX3d& prescribed) const;
  /// phi_n + h v_n (BDF2: x^ + g v^) on free nodes, `prescribed` on pinned ones: where the proximal Newton
  /// starts.
  MatrixX3d inertial_step(double step, const MatrixX3d& prescribed) const;
  /// G+: graph Laplacian of the positive weights -G_ab of G = sum_k mu_k 2 T_k with quadratic_multipliers(),
  /// shape [node_count, node_count].
  SparseMatrix geometric_stiffness(const VectorXd& multipliers) const {
    return geometric_stiffness(multipliers, positions_);
  }
  SparseMatrix geometric_stiffness(const VectorXd& multipliers, const MatrixX3d& positions) const;

  /// Threads of the garment in a step from positions().
  Threads threads(double step) const { return threads_of(mesh_, sewing_, positions_, step); }

  /// One linear solve of the method on free nodes, with e = eps D(phi):
  /// proximal_newton: [A + G+(lambda), J^T; J, -e] [d; lambda'] = [-A (phi - phi~); -C - e lambda], without
  /// the e lambda of rows that are not rigid, with threads added,
  /// fast_projection (Coltraro 2022, section 7.1): [A, J^T; J, -e] [d; lambda'] = [0; -C].
  Iteration single_iteration(const MatrixX3d& positions, const MatrixX3d& unconstrained,
                             const VectorXd& multipliers, double step) const {
    return single_iteration(positions, unconstrained, multipliers, step, settings_.eps,
                            VectorXd::Zero(multipliers.size()));
  }
  /// One linear solve as the other single_iteration(), with another eps, and with penalties of bounded rows
  /// that have grown.
  Iteration single_iteration(const MatrixX3d& positions, const MatrixX3d& unconstrained,
                             const VectorXd& multipliers, double step, double eps,
                             const VectorXd& growth) const;

  /// One step h [s]: iterations until the largest |C| is within tolerance, and forces balance to
  /// settings.force_tolerance where that is above 0, from the unconstrained step in the
  /// fast projection, from the inertial one and at least one in the proximal Newton. Elastic elements without
  /// settings.force_tolerance go on to iteration 4, and while the residual halves, until their mismatches are
  /// near, mismatch_excess() at most 1000. Where all rows are of pairs of triangles (set_mismatches()) the
  /// energy of the largest, if all were as large, is then at most 4e5 times most_mismatch(), too; they go on
  /// to iteration 12 to come near, are then reprojected once, and done where mismatch_excess() is 1. v =
  /// (phi_{n+1} - phi_n)/h (BDF2: (phi_{n+1} - x^)/g). One part only (settings.max_substeps is the caller's
  /// business). From the second iteration of the proximal Newton on eps follows the residual, starting anew
  /// in each step: ten times larger (up to settings.eps) when it grew, ten times smaller (down to
  /// `least_eps`) when more than a tenth of it was left and it is under 3e-3. Throws NumericalError, state
  /// unchanged, when a coordinate is not finite.
  StepResult step(double step, const MatrixX3d& prescribed, double least_eps = 1e-9);

  AreaErrors area_errors(const MatrixX3d& positions) const {
    return reference::area_errors(mesh_, positions);
  }

 private:
  /// The backward Euler step that a step is.
  struct EulerStep {
    double step = 0;  ///< g [s]
    MatrixX3d positions, velocities;
  };
  /// What a step brings below its tolerance, from row_values().
  double residual(VectorXd values, const VectorXd& multipliers, const VectorXd& d, double step,
                  int iteration) const;
  /// Largest force on a node that nothing balances, B (phi~ - phi) - J^T lambda and that of threads, over the
  /// weight of the node, of 9.81 m/s^2 where it has none; both times h^2.
  double imbalance(const MatrixX3d& positions, const MatrixX3d& unconstrained, const VectorXd& multipliers,
                   double step) const;
  /// Energy K c^2 / 2 of what elastic rows miss, c = C - e lambda, K that of the tangent, over what it may
  /// be: 1e-4 of what weight gives the cloth in a step of fall, area (weight step)^2 / (2 rho), and what
  /// strains of the size of rounding have.
  double mismatch_excess(const MatrixX3d& positions, const VectorXd& multipliers, double step) const;
  /// Largest energy of mismatches that may be [J/m^2], see mismatch_excess().
  double most_mismatch(double step) const;
  double stiffest() const;
  /// Corrects what rows miss at `positions` with the matrix and the scaled Jacobian of the iteration before,
  /// whose compliance was e where it is e' now: (A + G+ + J^T J / e) d = -J^T c / sqrt(e e'), lambda' = C /
  /// e' + J d / sqrt(e e').
  void reproject(const Iteration& before, MatrixX3d& positions, VectorXd& multipliers, double step) const;
  /// Weight per area, where there is none that of 9.81 m/s^2 [N/m^2].
  double weight() const;
  EulerStep euler_step(double step) const;
  double euler_time(double step) const;

  Mesh mesh_;
  Fabric fabric_;
  Sewing sewing_;
  ProjectionSettings settings_;
  double gravity_;
  std::vector<Index> free_nodes_, pinned_nodes_;
  SparseMatrix select_free_, select_pinned_;  // rows of the identity
  SparseMatrix select_free_coordinates_;      // select_free_ on three components
  GarmentRows rows_;
  VectorXd masses_;
  SparseMatrix bending_;
  MatrixX3d positions_, velocities_;
  MatrixX3d previous_positions_, previous_velocities_;
  double previous_step_ = 0;
  VectorXd multipliers_;
  RowResponse laws_;
  VectorXd stiffness_;       ///< K of compliant rows [J], 0 of rigid ones, shape [row_count]
  VectorXd bounds_;          ///< c of rows C <= c, 0 of others, shape [row_count]
  bool is_elastic_ = false;  ///< whether the triangles of the garment are elastic
  bool may_reproject_ = true;
  double rounding_ = 1e-10;
};

}  // namespace isocloth::reference

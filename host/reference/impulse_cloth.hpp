// One cloth held by impulses, in double precision, one constraint after the other: what the kernels of the
// impulse solvers are validated against.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"
#include "host/reference/garment_nodes.hpp"
#include "host/reference/impulse_contact.hpp"
#include "host/reference/impulse_relaxation.hpp"
#include "host/reference/impulse_rows.hpp"
#include "host/reference/spring_forces.hpp"
#include "host/reference/tensor_sheet.hpp"

namespace isocloth::reference {

class ImpulseSystem;

/// A comparison of a linear solve that decided how a step goes on: whether value <= threshold.
struct Choice {
  double value = 0, threshold = 0;
};

/// What one step did, over all its parts.
struct ImpulseStepResult {
  int sweeps = 0;  ///< sweeps over positions in all parts, the last one that corrected nothing included
  /// Sweeps over velocities in all parts, the last one that corrected nothing included.
  int velocity_sweeps = 0;
  int solves = 0;         ///< impulse_system: linear solves for positions
  int fallbacks = 0;      ///< impulse_system: parts, or velocities of parts, that were left to sweeps
  double residual = 0;    ///< largest relative error of a constraint at the end
  bool converged = true;  ///< residual <= tolerance
  std::vector<double> strain_trace;  ///< largest relative error that a sweep came upon, shape [sweeps]
  /// Least distance of a relative error from the threshold that decided on its correction, over all sweeps;
  /// infinite where nothing was decided.
  double margin = std::numeric_limits<double>::infinity();
  std::vector<Choice> choices;  ///< residuals of solves and the tolerance, corrections and one, in edges
  std::vector<Choice> pivots;   ///< least eigenvalues of scaled systems and the least regular pivot
};

/// Cloth of Bender, section 3: explicit forces, then impulses on the preview of each part of a step, by
/// sweeps (Algorithm 1) or from one linear system (section 3.4.2). Rows `isometry` take the rows of Coltraro
/// 2022 in place of distances. Bender's impulses act along d(t) = c_b(t) - c_a(t); here along the unit vector
/// of the preview d(t+h), since the former diverge at h = 1/30 s. They keep momentum to rounding. Those of
/// velocities also keep angular momentum; those of positions change it in the first order of h.
class ImpulseCloth {
 public:
  /// Starts from the garment's initial positions and velocities. Throws ShapeError when initial arrays do not
  /// fit the mesh or a pinned node is out of range, SceneError when settings are not those of
  /// ResolvedScene::impulse or the recipe is not one of an impulse solver (impulse_system: of rows `edges`)
  /// or of semi-implicit steps.
  ImpulseCloth(const Garment& garment, const Recipe& recipe, const ImpulseSettings& settings, double gravity);

  const std::vector<Index>& free_nodes() const { return nodes_.free; }      ///< nodes of no pin, ascending
  const std::vector<Index>& pinned_nodes() const { return nodes_.pinned; }  ///< nodes of all pins, ascending
  const ImpulseSettings& settings() const { return settings_; }
  const VectorXd& masses() const { return masses_; }                  ///< m_i [m^2], shape [node_count]
  const VectorXd& inverse_masses() const { return inverse_masses_; }  ///< w_i [1/kg], shape [node_count]

  /// Positions of the nodes [m], shape [node_count, 3].
  const MatrixX3d& positions() const { return positions_; }
  /// Velocities of the nodes [m/s], shape [node_count, 3].
  const MatrixX3d& velocities() const { return velocities_; }
  /// L / l - 1 of springs with a free end, in the order of garment_springs(); empty unless the recipe yields.
  std::vector<double> plastic_strains() const;
  /// Sets plastic_strains(); this and the next two throw ShapeError when the size does not fit.
  void set_plastic_strains(const std::vector<double>& strains);
  void set_positions(const MatrixX3d& positions);
  void set_velocities(const MatrixX3d& velocities);

  /// What the sweeps visit: edges kept, in the order of Topology::edges, or blocks of isometry rows.
  const ImpulseRows& rows() const { return *rows_; }
  /// The constraints of rows `edges`, else empty.
  const std::vector<DistanceConstraint>& constraints() const { return constraints_; }
  /// The order in which a sweep visits rows(), at first 0, 1, 2, ...; throws ShapeError unless it is a
  /// permutation of it.
  void set_order(const std::vector<Index>& order);
  /// Distance of 1 from the next number of the arithmetic in which pivots of impulse_system are to be above
  /// rounding, at first that of double precision.
  void set_unit_rounding(double u) { unit_rounding_ = u; }

  /// Obstacles that nodes meet, at first none. Throws SceneError for impulse_system.
  void set_obstacles(const std::vector<Obstacle>& obstacles, double offset, double tolerance);
  /// Sets the time in which what starts inside is eased out [s], after set_obstacles(); see
  /// ImpulseContact::set_push_out.
  void set_push_out(double time);
  /// The contacts with obstacles; null: no obstacles.
  const ImpulseContact* contact() const { return contact_.get(); }

  /// f [N]: gravity -delta g m along z, bending -kappa K x - beta K v, springs; shape [node_count, 3].
  MatrixX3d forces(const MatrixX3d& positions, const MatrixX3d& velocities) const;
  /// The largest over free nodes of C/4 + sqrt(C^2/16 + K/4) [1/s] with Gershgorin's bounds
  /// K_i = (sum over springs 2 k + kappa sum_j |K_ij|) / (rho m_i), C_i the same with c and beta. Explicit
  /// symplectic Euler of x'' = -K x - C x' is stable while h^2 K + 2 h C < 4, that is, h force_rate < 1.
  double force_rate() const;

  /// One step H [s] in settings.substeps parts h: where springs yield they flow first; v* = (v_n + h f/(rho
  /// m)) / (1 + h alpha/rho), preview u = h v*, pinned nodes evenly towards `prescribed` (their positions at
  /// the end [m], shape [pinned_count, 3]), impulses on u, x_{n+1} = x_n + u, v = u/h, impulses on v if
  /// settings.velocity_pass. Mode `substeps`: max_sweeps sweeps over every constraint; mode `converge`:
  /// sweeps over those beyond the tolerance until none is, at most max_sweeps. impulse_system: a solve, a
  /// second one with the same factor, then Newton with A + 1e-2 diag(A); if max_solves do not meet the
  /// tolerance, or a factorisation fails, the sweeps of `converge` from the preview. A system with a pivot
  /// within rounding, or that moves a node by more than its shortest edge, goes to A + 1e-2 diag(A) from the
  /// preview at once; velocities moved so far are swept. Contacts come last in each of max_sweeps sweeps,
  /// first in those of `converge`, which go on while one moves its node by more than a tenth of its
  /// tolerance, and end with one more of contacts where max_sweeps were too few. `time`: of the obstacles at
  /// the beginning [s]. Throws NumericalError, state unchanged, when a coordinate is not finite.
  ImpulseStepResult step(double step, const MatrixX3d& prescribed, double time = 0);

 private:
  using Correction = std::function<Visit(Index row, double relaxation)>;
  /// Sweeps until the mode ends them; returns the largest error that each met. `scale` makes an error one
  /// that the tolerance is for; watched: see ImpulseRelaxation.
  std::vector<double> sweep(const Correction& correct, const std::function<double()>& touch, double scale,
                            bool watched, double& margin) const;
  bool is_converging() const;
  double threshold() const;
  /// Whether linear solves met the tolerance; else the displacements may be anything.
  bool solve(ImpulseSystem& system, const MatrixX3d& positions, MatrixX3d& displacements,
             ImpulseStepResult& result) const;
  void part(double h, const MatrixX3d& pinned_positions, MatrixX3d& positions, MatrixX3d& velocities,
            ImpulseStepResult& result) const;
  /// Computes the lengths at rest of the springs after h [s] at these positions.
  void flow(double h, const MatrixX3d& positions);
  bool has_free_end(const Spring& spring) const {
    return nodes_.is_free[spring.a] || nodes_.is_free[spring.b];
  }

  Fabric fabric_;
  SolverFamily solver_;
  ImpulseSettings settings_;
  double gravity_;
  NodeKinds nodes_;
  VectorXd masses_, inverse_masses_;
  SparseMatrix bending_;
  /// The sheet of semi_implicit steps, in the place of bending, springs and rows.
  std::unique_ptr<TensorSheet> sheet_;
  std::vector<Spring> springs_;
  /// Lengths of the springs at rest before anything flowed [m]; empty: nothing does.
  std::vector<double> spring_lengths_;
  std::unique_ptr<ImpulseRows> rows_;
  std::unique_ptr<ImpulseContact> contact_;
  std::vector<DistanceConstraint> constraints_;
  std::vector<Index> order_;
  double unit_rounding_ = std::numeric_limits<double>::epsilon();
  MatrixX3d positions_, velocities_;
};

}  // namespace isocloth::reference

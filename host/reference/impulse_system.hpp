// All impulses of a part of a step from one system of linear equations.
#pragma once

#include <Eigen/SparseCholesky>
#include <limits>
#include <vector>

#include "host/reference/impulse_rows.hpp"

namespace isocloth::reference {

/// A = J W J^T of distance constraints with J_i = -n_i at node a and n_i at node b (Bender, section 3.4.2:
/// the paper's B_ij is w of the shared node, negative where it is the first of one constraint and the second
/// of the other, times n_i.n_j; on the diagonal w_a + w_b).
class ImpulseSystem {
 public:
  /// inverse_masses: w_i [1/kg], 0 where pinned, shape [node_count]; unit_rounding: distance of 1 from the
  /// next number of the arithmetic whose pivots are judged.
  ImpulseSystem(std::vector<DistanceConstraint> constraints, VectorXd inverse_masses,
                double unit_rounding = std::numeric_limits<double>::epsilon());

  /// Takes n_i = d_i/|d_i| and A at `positions` [m], shape [node_count, 3], and factorises
  /// A + relative_diagonal diag(A) (sparse LDL^T). A constraint without a direction has n_i = 0 and no
  /// impulse. False when a pivot, as part of its entry of diag(A), is not above least_regular_pivot():
  /// constraints depend on each other.
  bool linearise(const MatrixX3d& positions, double relative_diagonal);
  /// Least pivot of a regular system: constraint_count times the unit rounding.
  double least_regular_pivot() const;
  /// The smallest eigenvalue of what was factorised, both sides scaled as diag(A) to one, by inverse
  /// iteration: no order of elimination has a smaller pivot. 0 where the factorisation failed.
  double least_eigenvalue() const;
  /// A without what was added to its diagonal [1/kg], shape [constraint_count, constraint_count].
  const SparseMatrix& matrix() const { return matrix_; }
  /// n_i, shape [constraint_count, 3].
  const MatrixX3d& directions() const { return directions_; }
  /// Rank of A by dense QR with column pivoting: pivots under 1e-10 of the largest count as zero. For meshes
  /// of some hundred edges: cost O(constraint_count^3).
  Eigen::Index rank() const;

  /// e_i = |d_i| - l_i [m] at `positions`, 0 without a direction, shape [constraint_count].
  VectorXd errors(const MatrixX3d& positions) const;
  /// r_i = (v_b - v_a).n_i [m/s], shape [constraint_count].
  VectorXd rates(const MatrixX3d& velocities) const;
  /// Solves A p = side; u_a += w_a p_i n_i, u_b -= w_b p_i n_i. Needs a factorisation. Returns the largest
  /// |change of u_i| / l_i, l_i the shortest constraint at node i; infinite where one is not finite.
  double apply(const VectorXd& side, MatrixX3d& displacements) const;

 private:
  std::vector<DistanceConstraint> constraints_;
  VectorXd inverse_masses_;
  /// Length of the shortest constraint at each node, infinite without one [m], shape [node_count].
  VectorXd shortest_;
  double unit_rounding_;
  VectorXd scale_;  ///< square roots of diag(A), shape [constraint_count]
  MatrixX3d directions_;
  SparseMatrix matrix_;
  Eigen::SimplicialLDLT<SparseMatrix> factor_;
};

}  // namespace isocloth::reference

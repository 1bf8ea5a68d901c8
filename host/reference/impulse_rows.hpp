// Constraints that impulses correct one after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/mesh/topology.hpp"
#include "engine/model/recipe.hpp"
#include "host/reference/rows.hpp"

namespace isocloth::reference {

/// What one constraint was found to be and whether it was corrected.
struct Visit {
  double error = 0;  ///< largest relative error before the correction, dimensionless; of velocities: [1/s]
  bool corrected = false;
  /// Size of the correction of a position: |e| / |d| or, of blocks, the largest |C|; else 0.
  double change = 0;
};

/// Constraints in a fixed numbering; a sweep visits them in any order, each seeing the corrections before it.
class ImpulseRows {
 public:
  virtual ~ImpulseRows() = default;
  virtual Index count() const = 0;
  /// Corrects constraint i at x + u [m], both shape [node_count, 3], if its relative error exceeds
  /// `threshold`; `relaxation` is a factor on the correction.
  virtual Visit correct_position(Index i, const MatrixX3d& positions, double relaxation, double threshold,
                                 MatrixX3d& displacements) const = 0;
  /// Takes away the rate of change of constraint i at x, times `relaxation`, if it exceeds `rate_threshold`
  /// [1/s], relative to its rest value; velocities [m/s], shape [node_count, 3].
  virtual Visit correct_velocity(Index i, const MatrixX3d& positions, double relaxation,
                                 double rate_threshold, MatrixX3d& velocities) const = 0;
  /// Largest relative error at x, dimensionless.
  virtual double residual(const MatrixX3d& positions) const = 0;
};

/// The constraint |x_b - x_a| = l.
struct DistanceConstraint {
  Index a = 0, b = 0;
  double length = 0;                ///< l [m], > 0
  double share_a = 0, share_b = 0;  ///< w_a / (w_a + w_b) and w_b / (w_a + w_b)
};

/// Every edge of the mesh but those between two pinned nodes, in the order of Topology::edges.
/// inverse_masses: w_i [1/kg], 0 where pinned, shape [node_count].
std::vector<DistanceConstraint> distance_constraints(const Mesh& mesh, const Topology& topology,
                                                     const VectorXd& inverse_masses);

/// The rows that impulses make of them: equations, or with a recipe that limits edges bounds at 1 +
/// strain_limit times the lengths at rest, without a limit so far away that no edge comes there.
class DistanceRows;
DistanceRows distance_rows(std::vector<DistanceConstraint> constraints, const Recipe& recipe,
                           const Fabric& fabric);

/// Whether |d| is long enough to have a direction: below 1e-6 l a pair is left to its neighbours.
bool has_direction(const DistanceConstraint& constraint, double distance);

/// Bender, (2) and (3), with the direction d/|d| of the preview d = (x_b - x_a) + (u_b - u_a): e = |d| - l,
/// p = relaxation e / |d|, u_a += share_a p d, u_b -= share_b p d; for velocities d = x_b - x_a,
/// r = (v_b - v_a).d/|d|, v_a += relaxation share_a r d/|d|, v_b -= relaxation share_b r d/|d|.
/// Bounds: |x_b - x_a| <= l instead, corrected where it does not hold.
class DistanceRows final : public ImpulseRows {
 public:
  explicit DistanceRows(std::vector<DistanceConstraint> constraints, bool are_bounds = false)
      : constraints_(std::move(constraints)), are_bounds_(are_bounds) {}

  Index count() const override { return static_cast<Index>(constraints_.size()); }
  Visit correct_position(Index i, const MatrixX3d& positions, double relaxation, double threshold,
                         MatrixX3d& displacements) const override;
  Visit correct_velocity(Index i, const MatrixX3d& positions, double relaxation, double rate_threshold,
                         MatrixX3d& velocities) const override;
  double residual(const MatrixX3d& positions) const override;
  const std::vector<DistanceConstraint>& constraints() const { return constraints_; }

 private:
  /// By how much a constraint is violated: the size of the error of an equation, how far a bound is exceeded.
  double violation(double error) const { return are_bounds_ ? std::max(error, 0.0) : std::abs(error); }

  std::vector<DistanceConstraint> constraints_;
  bool are_bounds_;
};

/// Quadratic rows corrected together: C_r = sum_ij tensors[r](i, j) p_i.p_j - rest[r] over the nodes of a
/// stencil.
struct RowBlock {
  std::vector<Index> nodes;  ///< nodes of the stencil, ascending, shape [stencil_size]
  std::vector<Eigen::MatrixXd>
      tensors;               ///< T_r, symmetric [1/m^2], shape [1 or 3][stencil_size, stencil_size]
  std::vector<double> rest;  ///< dimensionless, shape [1 or 3]
};

/// E, F, G of each interior node as one block of three, then each corner and each boundary edge alone.
std::vector<RowBlock> row_blocks(const QuadraticRows& rows);

/// J W J^T p = C, u -= relaxation W J^T p with C and J = 2 T p at x + u (Coltraro 2022, (13));
/// for velocities J at x and r = J v in place of C, v -= relaxation W J^T p. A row whose gradient on free
/// nodes is rounding, or within a millionth (in the norm of W) a combination of rows before it, gets no
/// impulse.
class BlockRows final : public ImpulseRows {
 public:
  /// inverse_masses: w_i [1/kg], 0 where pinned, shape [node_count].
  BlockRows(QuadraticRows rows, VectorXd inverse_masses);

  Index count() const override { return static_cast<Index>(blocks_.size()); }
  Visit correct_position(Index i, const MatrixX3d& positions, double relaxation, double threshold,
                         MatrixX3d& displacements) const override;
  Visit correct_velocity(Index i, const MatrixX3d& positions, double relaxation, double rate_threshold,
                         MatrixX3d& velocities) const override;
  double residual(const MatrixX3d& positions) const override;

 private:
  QuadraticRows rows_;
  VectorXd inverse_masses_;
  std::vector<RowBlock> blocks_;
};

}  // namespace isocloth::reference

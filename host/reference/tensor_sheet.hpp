// Terzopoulos, Platt, Barr, Fleischer 1987: metric and curvature of a grid by difference operators.
#pragma once

#include <array>

#include "engine/model/scene.hpp"
#include "host/reference/garment_nodes.hpp"

namespace isocloth::reference {

/// A quad_grid of equal rectangles h_1 x h_2. Operators are matrices on nodes: D_1, D_2 forward differences
/// along edges, D_11, D_22 central second differences, D_12 that over a cell, and tangents where there is
/// curvature.
class TensorSheet {
 public:
  explicit TensorSheet(const Garment& garment);

  /// E [J]: sum over points of w_c C^2 / 2, C = D_i r . D_j r - delta_ij or n . D_ij r.
  double energy(const MatrixX3d& positions) const;
  /// -dE/dr [N], shape [node_count, 3].
  MatrixX3d forces(const MatrixX3d& positions) const;
  /// Displacement of the semi-implicit step, (rho M / h^2 + alpha M / (2 h) + K) u = f + (rho M / h - alpha M
  /// / 2) v - dE/dr(r), with K = sum D_i^T (w C) D_j + D_j^T (w C) D_i of the metric and J^T w J of the
  /// curvature, J = dB/dr; f [N], masses [m^2]. Rows of `prescribed` nodes are kept as they are in
  /// `displacements`.
  void step(double h, const MatrixX3d& positions, const MatrixX3d& velocities, const MatrixX3d& forces,
            const VectorXd& masses, const std::vector<char>& is_free, MatrixX3d& displacements) const;
  /// sqrt(K) / 2 [1/s], K the largest row sum of |J^T w J| of the metric over rho m at the flat sheet: the
  /// explicit step of what stretches is stable for h rate <= 1; times what threads that are stretched by half
  /// of their length ask for.
  double stretch_rate(const VectorXd& masses, const std::vector<char>& is_free) const;

 private:
  /// Points and operators of one component.
  struct Component {
    bool is_metric = true;
    double rest = 0;
    SparseMatrix first, second;  ///< D_i and D_j, or tangents [1/m], shape [point_count, node_count]
    SparseMatrix curvature;      ///< D_ij [1/m^2]
    VectorXd weights;            ///< weights w_c of the points, shape [point_count]
  };
  VectorXd values(const Component& component, const MatrixX3d& positions) const;
  /// dC/dr, shape [point_count, 3 node_count], coordinates of a node one after another.
  SparseMatrix jacobian(const Component& component, const MatrixX3d& positions) const;

  double rho_, alpha_;
  std::array<double, 2> spacing_;
  Eigen::Index columns_, rows_;
  std::vector<Component> components_;
};

}  // namespace isocloth::reference

// Strain of elements by the polar decomposition F = R S of their deformation gradient.
#pragma once

#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// Rows 2 (S_uu - 1), 2 S_uv, 2 (S_vv - 1) of each point of an element in the place of Green's strain, F^T F
/// - I, as functions of it: the eigenvalues of S = (F^T F)^(1/2) are the roots of those of F^T F. The first
/// row of each point has `coupling` times the third added, in both; rows after those of the points stay as
/// they are.
class CorotationalStrain {
 public:
  CorotationalStrain() = default;  ///< none: all rows stay
  CorotationalStrain(Eigen::Index point_count, double coupling)
      : point_count_(point_count), coupling_(coupling) {}

  bool exists() const { return point_count_ > 0; }
  /// C of quadratic rows Q, shape [row_count].
  VectorXd of(const VectorXd& quadratic) const;
  /// dC/dQ, shape [row_count, row_count]. In the basis of the eigenvectors of S, with eigenvalues s_i,
  /// d(F^T F) = S dS + dS S is d(F^T F)_ij = (s_i + s_j) dS_ij.
  SparseMatrix derivative(const VectorXd& quadratic) const;

 private:
  Eigen::Index point_count_ = 0;
  double coupling_ = 0;
};

}  // namespace isocloth::reference

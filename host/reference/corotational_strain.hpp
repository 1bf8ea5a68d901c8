// Strain of triangles by the polar decomposition F = R S of their deformation gradient.
#pragma once

#include <utility>
#include <vector>

#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

/// Rows 2 (S_uu - 1), 2 S_uv, 2 (S_vv - 1) of each triangle of a pair in the place of Green's strain, F^T F -
/// I, as functions of it: the eigenvalues of S = (F^T F)^(1/2) are the roots of those of F^T F. The rows of a
/// pair are the means m and the differences d of both triangles, of which the first has the share s of the
/// area: the strains m + (1 - s) d and m - s d. The first of each three rows has `coupling` times the third
/// added, in both measures; rows after those of the pairs stay as they are.
class CorotationalStrain {
 public:
  CorotationalStrain() = default;  ///< no pairs: all rows stay
  CorotationalStrain(std::vector<double> shares, double coupling)
      : shares_(std::move(shares)), coupling_(coupling) {}

  bool exists() const { return !shares_.empty(); }
  /// C of quadratic rows Q, shape [row_count].
  VectorXd of(const VectorXd& quadratic) const;
  /// dC/dQ, shape [row_count, row_count]. In the basis of the eigenvectors of S, with eigenvalues s_i,
  /// d(F^T F) = S dS + dS S is d(F^T F)_ij = (s_i + s_j) dS_ij.
  SparseMatrix derivative(const VectorXd& quadratic) const;

 private:
  std::vector<double> shares_;
  double coupling_ = 0;
};

}  // namespace isocloth::reference

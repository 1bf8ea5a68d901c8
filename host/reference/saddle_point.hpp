// The linear system of one projection iteration in its dual (saddle-point) form.
#pragma once

#include "host/reference/surface_quadrature.hpp"

namespace isocloth::reference {

struct SaddlePointSolution {
  VectorXd primal;  ///< x, shape [columns of jacobian]
  VectorXd dual;    ///< y, shape [rows of jacobian]
};

/// Solves [A, J^T; J, -diag(e)] [x; y] = [a; b] with A symmetric positive definite and e > 0: quasi-definite,
/// so that LDL^T exists in any order without pivoting (Vanderbei 1995). Two steps of iterative refinement.
/// Throws NumericalError when a pivot is zero.
SaddlePointSolution solve_saddle_point(const SparseMatrix& block, const SparseMatrix& jacobian,
                                       const VectorXd& compliance, const VectorXd& primal_side,
                                       const VectorXd& dual_side);

}  // namespace isocloth::reference

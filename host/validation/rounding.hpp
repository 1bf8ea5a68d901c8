// What single precision may do to the results of a linear solve.
#pragma once

#include "host/reference/reference_cloth.hpp"

namespace isocloth {

/// Change of one projection iteration under rounding of relative size u.
struct RoundingChange {
  reference::MatrixX3d displacement;  ///< change of d [m], shape [node_count, 3]
  double row = 0;                     ///< largest change of C + J d
  double multiplier = 0;              ///< largest change of a multiplier
};

/// Largest change of a coordinate of phi~ [m] when each term of the bending force moves by u of itself and
/// B_ij by u sqrt(B_ii B_jj): the backward error of Cholesky's factorisation (Higham 2002, theorem 10.5). To
/// first order; every u is times a random number in [-1, 1], the same on every run. `predicted`: phi~.
double rounded_prediction(const reference::ReferenceCloth& cloth, const Fabric& fabric,
                          const reference::MatrixX3d& predicted, double step, double u);

/// One projection iteration, without rounding.
struct IterationCase {
  const reference::MatrixX3d& positions;      ///< phi_j [m], shape [node_count, 3]
  const reference::MatrixX3d& unconstrained;  ///< phi~ [m], shape [node_count, 3]
  const reference::VectorXd& multipliers;     ///< lambda_j, shape [row_count]
  const reference::MatrixX3d& displacement;   ///< d [m], shape [node_count, 3]
};

/// Change of one projection iteration in nodal form by rounding: C moves by u (largest |coordinate| / element
/// size), since it is made from differences of rounded positions; each term of a sum over rows or nodes by u
/// of itself; H_ij by u sqrt(H_ii H_jj).
RoundingChange rounded_iteration(const reference::ReferenceCloth& cloth, const IterationCase& at, double step,
                                 double u);

}  // namespace isocloth

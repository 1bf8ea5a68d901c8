// Contacts with Coulomb's friction on a small dense system.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace isocloth {

/// A contact sees the displacement J b by the unknowns b along its normal and two tangents.
struct CoulombContact {
  Eigen::Matrix<double, 3, Eigen::Dynamic> jacobian;  ///< J, rows: normal, tangents; shape [3, unknowns]
  double gap = 0;                                     ///< gap before the displacement [m]
  Eigen::Vector2d slip = Eigen::Vector2d::Zero();     ///< slip before the displacement [m]
  double mu_static = 0, mu_dynamic = 0;
  Eigen::Vector3d force = Eigen::Vector3d::Zero();  ///< p, in: first guess, out: found [kg m]
};

struct CoulombSolution {
  Eigen::VectorXd moves;  ///< b [m], [rad]; A b = r + sum J^T p to rounding, whatever the change
  double change = 0;      ///< largest move that a contact made in the last sweep [m]
};

/// b and p with A b = r + sum J^T p and, for each contact with v = J b,
///   0 <= gap + v_n,  0 <= p_n,  p_n (gap + v_n) = 0,
///   |p_t| <= mu p_n,  p_t = -mu p_n u / |u| where u = slip + v_t is not zero,
/// by Gauss-Seidel over contacts, each solved with the others' forces fixed (Moreau 1988, Jean 1999), until
/// none moves its point by more than `tolerance` [m], or 1000 sweeps. mu is mu_static in a first solve; where
/// that slides, mu_dynamic in the next, until no more contacts begin to slide. A: symmetric positive
/// definite. Cost O(n^3 + contacts (n^2 + sweeps n)).
CoulombSolution solve_coulomb(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right,
                              std::vector<CoulombContact>& contacts, double tolerance);

}  // namespace isocloth

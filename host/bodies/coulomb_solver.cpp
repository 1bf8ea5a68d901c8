#include "host/bodies/coulomb_solver.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "kernels/contact/contact_law.hpp"

namespace isocloth {
namespace {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int most_sweeps = 1000;

/// One contact alone: v = q + W p.
struct Local {
  Matrix3d compliance, stiffness;  ///< W [1/kg] and its inverse
  double slope = 0;                ///< length of steps along the tangents by the slip [kg]
  double mu = 0;
  bool slides = false;  ///< began to, with mu_static

  Vector3d force(const Vector3d& q, const Vector3d& guess) const {
    if (q(0) >= 0) return Vector3d::Zero();
    if (mu == 0) return {-q(0) / compliance(0, 0), 0, 0};
    const Vector3d held = -(stiffness * q);
    if (held(0) > 0 && !cpu::slides(held.tail<2>().norm(), mu, held(0))) return held;
    // It slides: v_n = 0, and p_t turns against the slip.
    constexpr int most_turns = 20;
    constexpr double settled = 1e-12;
    Vector3d p = guess;
    for (int turn = 0; turn < most_turns; ++turn) {
      const Vector3d before = p;
      p(0) = std::max(0.0, -(q(0) + compliance.row(0).tail<2>().dot(p.tail<2>())) / compliance(0, 0));
      const Vector2d u = q.tail<2>() + compliance.bottomRows<2>() * p;
      const Vector2d trial = p.tail<2>() - slope * u;
      p.tail<2>() = cpu::bounded(trial, trial.norm(), mu * p(0));
      if ((p - before).norm() <= settled * p.norm()) break;
    }
    return p;
  }
};

}  // namespace

CoulombSolution solve_coulomb(const MatrixXd& matrix, const VectorXd& right,
                              std::vector<CoulombContact>& contacts, double tolerance) {
  const Eigen::LDLT<MatrixXd> factor(matrix);
  CoulombSolution result{.moves = factor.solve(right), .change = 0};
  if (contacts.empty()) return result;
  const VectorXd alone = result.moves;
  const auto count = static_cast<Eigen::Index>(contacts.size());
  MatrixXd responses(right.size(), 3 * count);  // A^-1 J^T
  for (Eigen::Index c = 0; c < count; ++c)
    responses.middleCols<3>(3 * c) = contacts[static_cast<std::size_t>(c)].jacobian.transpose();
  responses = factor.solve(responses).eval();
  std::vector<Local> locals(contacts.size());
  for (Eigen::Index c = 0; c < count; ++c) {
    const CoulombContact& contact = contacts[static_cast<std::size_t>(c)];
    Local& own = locals[static_cast<std::size_t>(c)];
    const Matrix3d w = contact.jacobian * responses.middleCols<3>(3 * c);
    own.compliance = (w + w.transpose()) / 2;
    own.stiffness = own.compliance.inverse();
    own.slope = 1 / (own.compliance(1, 1) + own.compliance(2, 2));
    own.mu = contact.mu_static;
  }
  VectorXd& b = result.moves;
  const auto visit = [&](Eigen::Index c) {
    CoulombContact& contact = contacts[static_cast<std::size_t>(c)];
    const Local& own = locals[static_cast<std::size_t>(c)];
    Vector3d q = contact.jacobian * b - own.compliance * contact.force;
    q(0) += contact.gap;
    q.tail<2>() += contact.slip;
    const Vector3d change = own.force(q, contact.force) - contact.force;
    if (change == Vector3d::Zero()) return 0.0;
    contact.force += change;
    b += responses.middleCols<3>(3 * c) * change;
    return (own.compliance * change).norm();
  };
  const auto add_forces = [&] {
    b = alone;
    for (Eigen::Index c = 0; c < count; ++c)
      b += responses.middleCols<3>(3 * c) * contacts[static_cast<std::size_t>(c)].force;
  };
  for (bool again = true; again;) {
    add_forces();
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      result.change = 0;
      for (Eigen::Index c = 0; c < count; ++c)  // to and fro
        result.change = std::max(result.change, visit(sweep % 2 == 0 ? c : count - 1 - c));
      if (!(result.change > tolerance)) break;
    }
    again = false;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      const CoulombContact& contact = contacts[c];
      Local& own = locals[c];
      if (own.slides || contact.mu_static == contact.mu_dynamic || !(contact.force(0) > 0)) continue;
      const Vector2d u = contact.slip + contact.jacobian.bottomRows<2>() * b;
      if (!(u.norm() > 2 * tolerance)) continue;
      own.slides = again = true;
      own.mu = contact.mu_dynamic;
    }
  }
  add_forces();
  return result;
}

}  // namespace isocloth

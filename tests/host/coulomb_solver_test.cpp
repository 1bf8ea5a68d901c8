// Contacts with friction on dense systems against the law itself and closed forms.
#include "host/bodies/coulomb_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "engine/core/random.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double tolerance = 1e-10;

TEST(CoulombSolver, RandomSystemsObeyTheLaw) {
  constexpr Eigen::Index size = 12;
  int open = 0, stick = 0, slide = 0;
  for (int seed = 0; seed < 400; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const auto entries = [&](Eigen::Index rows, Eigen::Index columns) {
      MatrixXd m(rows, columns);
      for (Eigen::Index i = 0; i < m.size(); ++i) m(i) = random.uniform(-1, 1);
      return m;
    };
    const MatrixXd root = entries(size, size),
                   matrix = root * root.transpose() + 4 * MatrixXd::Identity(size, size);
    const VectorXd right = entries(size, 1);
    std::vector<CoulombContact> contacts(static_cast<std::size_t>(1 + seed % 4));
    for (CoulombContact& c : contacts) {
      c.jacobian = entries(3, size);
      c.gap = 0.1 * random.uniform(-1, 1);
      c.slip = 0.1 * entries(2, 1);
      c.mu_static = seed % 3 == 0 ? 0 : random.uniform(0, 1);
      c.mu_dynamic = c.mu_static * (seed % 3 == 1 ? 1 : 0.7);
    }
    const CoulombSolution solution = solve_coulomb(matrix, right, contacts, tolerance);
    ASSERT_LE(solution.change, tolerance) << seed;
    VectorXd rest = right - matrix * solution.moves;
    double forces = right.norm();
    for (const CoulombContact& c : contacts) {
      rest += c.jacobian.transpose() * c.force;
      forces += c.force.norm();
    }
    // A is off by eps times its condition, less than 20.
    EXPECT_LE(rest.norm(), 100 * 20 * std::numeric_limits<double>::epsilon() * forces) << seed;
    // A contact that later ones moved is off by what they moved, at most a few times the tolerance.
    constexpr double known = 100 * tolerance;
    for (const CoulombContact& c : contacts) {
      const Vector3d v = c.jacobian * solution.moves;
      const double gap = c.gap + v(0), normal = c.force(0);
      const Vector2d slip = c.slip + v.tail<2>(), rub = c.force.tail<2>();
      EXPECT_GE(normal, 0);
      EXPECT_GE(gap, -known);
      EXPECT_LE(normal * gap, known * (1 + normal)) << seed;
      EXPECT_LE(rub.norm(), c.mu_static * normal + known) << seed;
      if (!(normal > 0)) {
        ++open;
      } else if (slip.norm() > 1e-6) {
        ++slide;
        EXPECT_NEAR(rub.norm(), c.mu_dynamic * normal, known * (1 + normal)) << seed;
        EXPECT_NEAR(rub.dot(slip), -rub.norm() * slip.norm(), known) << seed;
      } else {
        ++stick;
        EXPECT_LE(slip.norm(), known) << seed;
      }
    }
  }
  // 1000 contacts; each kind is there in numbers.
  EXPECT_GT(open, 50);
  EXPECT_GT(stick, 25);
  EXPECT_GT(slide, 50);
}

// A mass of 2 kg is pressed on a plane with 3 N and pulled along with a force in between of both bounds, 1.2
// and 0.6 N, or beyond them.
TEST(CoulombSolver, MassOnAPlane) {
  const MatrixXd matrix = 2 * MatrixXd::Identity(3, 3);
  for (const double pull : {0.0, 0.9, 1.19, 1.21, 2.0}) {
    CoulombContact contact;
    contact.jacobian = MatrixXd::Identity(3, 3);
    contact.mu_static = 0.4;
    contact.mu_dynamic = 0.2;
    std::vector<CoulombContact> contacts{contact};
    const CoulombSolution solution =
        solve_coulomb(matrix, Vector3d(-3, 0.6 * pull, -0.8 * pull), contacts, tolerance);
    const bool slides = pull > 1.2;
    EXPECT_NEAR(contacts[0].force(0), 3, tolerance);
    EXPECT_NEAR(contacts[0].force(1), -0.6 * (slides ? 0.6 : pull), 1e-9) << pull;
    EXPECT_NEAR(contacts[0].force(2), 0.8 * (slides ? 0.6 : pull), 1e-9) << pull;
    EXPECT_NEAR(solution.moves.norm(), slides ? (pull - 0.6) / 2 : 0, 1e-9) << pull;
  }
}

}  // namespace
}  // namespace isocloth

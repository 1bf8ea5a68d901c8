#include "host/linear/single_factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "tests/linear/systems.hpp"

namespace isocloth {
namespace {

using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd right_side(const BlockSystem& s) {
  VectorXd b(s.pattern.size * s.pattern.block);
  for (Eigen::Index i = 0; i < b.size(); ++i) b[i] = std::sin(1.7 * static_cast<double>(i));
  return b;
}

/// |x - A^-1 b| / |A^-1 b| in the norm of A.
double relative_error(const BlockSystem& s, LinearSolver<double>& solver) {
  EXPECT_TRUE(solver.factorize(s.values.data()).ok);
  const VectorXd b = right_side(s);
  VectorXd x(b.size());
  solver.solve(b.data(), x.data(), 1);
  const MatrixXd a = dense(s);
  const VectorXd exact = a.llt().solve(b), off = x - exact;
  return std::sqrt(off.dot(a * off) / exact.dot(a * exact));
}

TEST(SingleFactor, SolvesToTheDigitsOfSinglePrecision) {
  for (const NamedGarment& g : all_garments())
    for (const double eps : {1e-1, 1e-3}) {
      const BlockSystem s = nodal_system(g.garment, eps, 3e-3);
      SingleFactor solver(s.pattern, nullptr);
      const double error = relative_error(s, solver);
      EXPECT_FALSE(solver.is_whole());
      EXPECT_LT(error, 1e-3) << g.name << ' ' << eps;
      EXPECT_GT(error, 1e-12) << g.name << ": no factor in single precision leaves so little";
      MultifrontalSolver<double> whole(s.pattern, nullptr);
      EXPECT_LT(solver.memory_bytes(), whole.memory_bytes()) << g.name;
    }
}

TEST(SingleFactor, TakesScalesThatFloatCannotHold) {
  const BlockSystem s = scaled_over_twelve_orders(dominant_system(all_patterns()[0].pattern, 4));
  SingleFactor solver(s.pattern, nullptr);
  EXPECT_LT(relative_error(s, solver), 1e-5);
  EXPECT_FALSE(solver.is_whole());
  const VectorXd b = right_side(s), small = std::ldexp(1.0, -600) * b;
  VectorXd x(b.size()), of_small(b.size());
  solver.solve(b.data(), x.data(), 1);
  solver.solve(small.data(), of_small.data(), 1);
  EXPECT_EQ(of_small, std::ldexp(1.0, -600) * x);
}

TEST(SingleFactor, FactorsInDoubleWhatIsSingularInFloatAndSaysWhatIsNot) {
  // Positive definite by 1e-10 of its size: float sees 1 1; 1 1.
  BlockSystem s{{.size = 2, .block = 1, .rows = {0, 1, 1}, .columns = {0, 0, 1}}, {1, 1, 1 + 1e-10}};
  SingleFactor solver(s.pattern, nullptr);
  EXPECT_LT(relative_error(s, solver), 1e-4);
  EXPECT_TRUE(solver.is_whole());
  s.values[2] = 2;
  EXPECT_LT(relative_error(s, solver), 1e-5);
  EXPECT_FALSE(solver.is_whole());
  s.values[2] = 0.5;
  EXPECT_FALSE(solver.factorize(s.values.data()).ok);
}

TEST(SingleFactor, AnswersWhatIsNotFiniteByWhatIsNot) {
  const BlockSystem s = dominant_system(all_patterns()[0].pattern, 4);
  SingleFactor solver(s.pattern, nullptr);
  ASSERT_TRUE(solver.factorize(s.values.data()).ok);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    VectorXd b = right_side(s);
    b[7] = bad;
    solver.solve(b.data(), b.data(), 1);
    EXPECT_FALSE(b.allFinite());
  }
}

}  // namespace
}  // namespace isocloth

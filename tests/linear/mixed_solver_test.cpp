#include "host/linear/mixed_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/core/errors.hpp"
#include "tests/linear/systems.hpp"

namespace isocloth {
namespace {

constexpr double target = 100 * std::numeric_limits<double>::epsilon();

std::vector<double> right_side(const BlockSystem& s) {
  std::vector<double> b(static_cast<std::size_t>(s.pattern.size) * s.pattern.block);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(1.7 * static_cast<double>(i));
  return b;
}

Refinement expect_solved(MixedSolver& solver, const BlockSystem& s, const std::string& what) {
  EXPECT_TRUE(solver.factorize(s.values.data()).ok) << what;
  const std::vector<double> b = right_side(s);
  std::vector<double> x(b);
  solver.solve(x.data(), x.data(), 1);
  EXPECT_LE(backward_error(s, b, x), target) << what;
  EXPECT_LE(solver.last_refinement().backward_error, target) << what;
  return solver.last_refinement();
}

TEST(MixedSolver, RefinesToDoubleAccuracy) {
  for (const NamedPattern& p : all_patterns()) {
    if (p.pattern.size == 0) continue;
    MixedSolver solver(p.pattern, nullptr);
    const Refinement r = expect_solved(solver, dominant_system(p.pattern, 2), p.name);
    EXPECT_FALSE(r.fell_back) << p.name;
    // Condition numbers below 10: an iteration gains five digits or more of the sixteen.
    EXPECT_LE(r.iterations, 4) << p.name;
  }
}

TEST(MixedSolver, SolvesNodalSystemsOfAnyConditionAndSaysHow) {
  for (const NamedGarment& g : all_garments()) {
    for (const double eps : {1e-2, 1e-4, 1e-6, 1e-9}) {
      const BlockSystem s = nodal_system(g.garment, eps, 3e-3);
      MixedSolver solver(s.pattern, nullptr);
      const Refinement r = expect_solved(solver, s, g.name);
      if (eps >= 1e-2) {
        EXPECT_FALSE(r.fell_back) << g.name;
      }
      if (eps <= 1e-9) {  // the diagonal alone spans more than float resolves
        EXPECT_TRUE(r.fell_back) << g.name;
      }
    }
  }
}

TEST(MixedSolver, TakesScalesThatFloatCannotHold) {
  BlockSystem s = dominant_system(all_patterns()[0].pattern, 4);
  const auto scale = [](Index row) { return std::ldexp(1.0, row % 2 ? 80 : -80); };  // squares: 1e-48 .. 1e48
  for (std::size_t b = 0; b < s.pattern.rows.size(); ++b)
    for (int k = 0; k < 9; ++k) s.values[b * 9 + k] *= scale(s.pattern.rows[b]) * scale(s.pattern.columns[b]);
  MixedSolver solver(s.pattern, nullptr);
  EXPECT_FALSE(expect_solved(solver, s, "scaled").fell_back);
}

TEST(MixedSolver, ReturnsToFloatAfterAFallback) {
  const NamedGarment g = all_garments()[0];
  const BlockSystem hard = nodal_system(g.garment, 1e-9, 3e-3), easy = nodal_system(g.garment, 1e-2, 3e-3);
  MixedSolver solver(hard.pattern, nullptr);
  EXPECT_TRUE(expect_solved(solver, hard, "hard").fell_back);
  EXPECT_FALSE(expect_solved(solver, easy, "easy").fell_back);
}

TEST(MixedSolver, SolvesForZeroAndForManyRightSides) {
  const BlockSystem s = nodal_system(all_garments()[0].garment, 1e-2, 3e-3);
  MixedSolver solver(s.pattern, nullptr);
  ASSERT_TRUE(solver.factorize(s.values.data()).ok);
  const std::vector<double> b = right_side(s);
  std::vector<double> three(b.size() * 3), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    three[3 * i] = b[i];
    three[3 * i + 2] = 1e-30 * b[b.size() - 1 - i];
  }
  solver.solve(three.data(), three.data(), 3);
  for (std::size_t i = 0; i < b.size(); ++i) x[i] = three[3 * i];
  EXPECT_LE(backward_error(s, b, x), target);
  for (std::size_t i = 0; i < b.size(); ++i) ASSERT_EQ(three[3 * i + 1], 0);
  std::vector<double> reversed(b.rbegin(), b.rend());
  for (std::size_t i = 0; i < b.size(); ++i) x[i] = three[3 * i + 2] * 1e30;
  EXPECT_LE(backward_error(s, reversed, x), target);
}

/// A matrix that float can factor, and one that it cannot: the double factor must refuse the same.
TEST(MixedSolver, RefusesRightSidesThatAreNotFinite) {
  for (const double eps : {1e-2, 1e-9}) {
    const BlockSystem s = nodal_system(all_garments()[0].garment, eps, 3e-3);
    MixedSolver solver(s.pattern, nullptr);
    EXPECT_EQ(expect_solved(solver, s, "finite").fell_back, eps < 1e-8);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
      std::vector<double> b = right_side(s);
      std::vector<double> two(2 * b.size()), x(2 * b.size(), 5);
      for (std::size_t i = 0; i < b.size(); ++i) two[2 * i] = two[2 * i + 1] = b[i];
      two[2 * (b.size() - 1) + 1] = bad;
      EXPECT_THROW(solver.solve(two.data(), x.data(), 2), NumericalError) << eps;
      EXPECT_EQ(x, std::vector<double>(x.size(), 5));
    }
    expect_solved(solver, s, "afterwards");
  }
}

TEST(MixedSolver, RefusesSolutionsPastTheRangeOfDouble) {
  const BlockPattern pattern{.size = 1, .block = 3, .rows = {0}, .columns = {0}};
  const double tiny = 1e-300;
  const std::vector<double> values{tiny, 0, 0, 0, tiny, 0, 0, 0, tiny};
  MixedSolver solver(pattern, nullptr);
  ASSERT_TRUE(solver.factorize(values.data()).ok);
  const std::vector<double> b{1, 1e10, -1};
  std::vector<double> x{7, 7, 7};
  for (int times = 0; times < 2; ++times) EXPECT_THROW(solver.solve(b.data(), x.data(), 1), NumericalError);
  EXPECT_EQ(x, std::vector<double>(3, 7));
}

TEST(MixedSolver, RefusesWhatHasNoSolution) {
  BlockSystem s = dominant_system(all_patterns()[0].pattern, 4);
  MixedSolver solver(s.pattern, nullptr);
  std::vector<double> x = right_side(s);
  EXPECT_THROW(solver.solve(x.data(), x.data(), 1), NumericalError);
  ASSERT_TRUE(solver.factorize(s.values.data()).ok);
  x[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solver.solve(x.data(), x.data(), 1), NumericalError);
  for (std::size_t b = 0; b < s.pattern.rows.size(); ++b)
    if (s.pattern.rows[b] == 20 && s.pattern.columns[b] == 20) s.values[b * 9] = -1;
  const Factorization f = solver.factorize(s.values.data());
  EXPECT_FALSE(f.ok);
  EXPECT_EQ(f.block_row, 20);
  EXPECT_THROW(solver.solve(x.data(), x.data(), 1), NumericalError);
}

}  // namespace
}  // namespace isocloth

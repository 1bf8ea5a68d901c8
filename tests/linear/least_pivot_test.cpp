// The smallest pivot of a factor tells how near to singular a matrix is.
#include <gtest/gtest.h>

#include "host/linear/linear_solver.hpp"

namespace isocloth {
namespace {

/// `relative`: a few roundings.
template <class Real>
void expect_least_pivot(Index size, double relative) {
  BlockPattern pattern{.size = size, .block = 1, .rows = {}, .columns = {}};
  std::vector<Real> values;
  for (Index i = 0; i < size; ++i) {
    pattern.rows.push_back(i), pattern.columns.push_back(i),
        values.push_back(Real(i == 0 ? 0.0009765625 : 1));
  }
  const auto solver = make_direct_solver<Real>(pattern);
  EXPECT_EQ(solver->least_pivot(), 0) << "before there is a factor";
  ASSERT_TRUE(solver->factorize(values.data()));
  EXPECT_NEAR(solver->least_pivot(), 0.0009765625, relative * 0.0009765625);

  // Two rows (1, 1 - e; 1 - e, 1): the second pivot is 2 e - e^2, whichever comes first.
  const Real e = Real(0.00048828125);
  BlockPattern pair{.size = 2, .block = 1, .rows = {0, 1, 1}, .columns = {0, 0, 1}};
  const std::vector<Real> near_singular{1, 1 - e, 1};
  const auto second = make_direct_solver<Real>(pair);
  ASSERT_TRUE(second->factorize(near_singular.data()));
  const double expected = 2 * static_cast<double>(e) - static_cast<double>(e) * static_cast<double>(e);
  // 1 - (1 - e)^2 is rounded once, against one.
  EXPECT_NEAR(second->least_pivot(), expected, relative);
  const std::vector<Real> singular{1, 2, 1};
  EXPECT_FALSE(second->factorize(singular.data()));
  EXPECT_EQ(second->least_pivot(), 0);
}

TEST(LeastPivot, IsThatOfTheFactor) {
  for (const Index size : {1, 7, 40}) {
    expect_least_pivot<double>(size, 8 * 2.3e-16);
    expect_least_pivot<float>(size, 8 * 1.2e-7);
  }
}

}  // namespace
}  // namespace isocloth

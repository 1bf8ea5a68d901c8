// The errors by which solvers are compared: a solution that is not finite must never look like a good one.
#include "bench/nodal_system.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/batched_systems.hpp"

namespace isocloth::bench {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// I x = 1.
NodalSystem unit_system(Index block_rows) {
  NodalSystem system{.pattern = {.size = block_rows, .block = 3, .rows = {}, .columns = {}},
                     .values = {},
                     .right_side = std::vector<double>(3 * static_cast<std::size_t>(block_rows), 1.0)};
  for (Index row = 0; row < block_rows; ++row) {
    system.pattern.rows.push_back(row);
    system.pattern.columns.push_back(row);
    system.values.insert(system.values.end(), {1, 0, 0, 0, 1, 0, 0, 0, 1});
  }
  return system;
}

TEST(BackwardError, IsThatOfTheWorstRow) {
  const NodalSystem system = unit_system(3);
  std::vector<double> x(9, 1.0);
  EXPECT_EQ(backward_error(system, x.data()), 0);
  x[4] = 1.5;
  EXPECT_EQ(backward_error(system, x.data()), 0.5 / (1.5 + 1));
}

TEST(BackwardError, IsNanWhereverASolutionIsNotFinite) {
  const NodalSystem system = unit_system(3);
  for (const double bad : {nan, std::numeric_limits<double>::infinity()})
    for (std::size_t i = 0; i < system.unknowns(); ++i) {
      std::vector<double> x(system.unknowns(), 1.0);
      x[i] = bad;
      EXPECT_TRUE(std::isnan(backward_error(system, x.data()))) << i;
    }
}

TEST(BackwardError, OfABatchIsNanWhicheverSystemIsNotFinite) {
  const NodalSystem system = unit_system(1);
  for (std::size_t broken = 0; broken < 3; ++broken) {
    std::vector<double> all;
    for (int c = 0; c < 3; ++c) all.insert(all.end(), 3, 1 / batch_scale(c));
    EXPECT_LE(worst_backward_error(system, all), std::numeric_limits<double>::epsilon());
    all[3 * broken + 1] = nan;
    EXPECT_TRUE(std::isnan(worst_backward_error(system, all))) << broken;
  }
}

}  // namespace
}  // namespace isocloth::bench

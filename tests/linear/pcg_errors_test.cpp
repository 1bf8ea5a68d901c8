// What the conjugate gradients refuse.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "host/linear/pcg_solver.hpp"

namespace isocloth {
namespace {

TEST(PcgErrors, SolutionsPastTheRangeOfFloatAreSaid) {
  const BlockPattern one{.size = 1, .block = 3, .rows = {0}, .columns = {0}};
  const float tiny = 1e-30F, values[] = {tiny, 0, 0, 0, tiny, 0, 0, 0, tiny};
  PcgSolver<float> solver(one);
  ASSERT_TRUE(solver.factorize(values));
  const std::vector<float> b{1e20F, 1e-10F, 1, 2e-10F, -1e-30F, 3e-10F};  // two right sides: 1e50, and 1e20
  std::vector<float> x(6);
  solver.solve(b.data(), x.data(), 2);
  EXPECT_EQ(solver.last_report().status, PcgStatus::non_finite);
  EXPECT_EQ(solver.last_report().residual, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(x[2 * i], 0);
    EXPECT_NEAR(x[2 * i + 1], b[2 * i + 1] / tiny, 1e20F * 1e-6F * 4);
  }
}

TEST(PcgErrors, BadOptionsAreNamed) {
  const BlockPattern one{.size = 1, .block = 3, .rows = {0}, .columns = {0}};
  const auto message = [](const BlockPattern& pattern, const PcgOptions& options) -> std::string {
    try {
      PcgSolver<double> solver(pattern, options);
    } catch (const ShapeError& e) {
      return e.what();
    }
    return "";
  };
  const auto found = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(message(one, {}), "");
  EXPECT_TRUE(found(message(one, {.rtol = -1, .max_iterations = 1, .preconditioner = {}}), "rtol is -1"));
  EXPECT_TRUE(found(message(one, {.rtol = 0.1, .max_iterations = -2, .preconditioner = {}}), "is -2"));
  EXPECT_TRUE(found(message(one, {.rtol = 0.1, .max_iterations = 1, .preconditioner = {.cell_size = 0}}),
                    "cell_size is 0"));
  EXPECT_TRUE(found(message(one, {.rtol = 0.1, .max_iterations = 1, .preconditioner = {.overlap = -1}}),
                    "overlap is -1"));
  BlockPattern scalar = one;
  scalar.block = 1;
  EXPECT_TRUE(found(message(scalar, {}), "block is 1, expected 3"));
  EXPECT_TRUE(found(message({.size = 2, .block = 3, .rows = {0}, .columns = {0}}, {}), "block row 1"));
}

}  // namespace
}  // namespace isocloth

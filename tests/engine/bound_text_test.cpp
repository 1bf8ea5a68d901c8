#include "engine/core/bound_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"

namespace isocloth {
namespace {

double read(const std::string& digits) { return std::strtod(digits.c_str(), nullptr); }

TEST(BoundText, RoundNumbersStayAsTheyAre) {
  EXPECT_EQ(found_above(0.6, 0.5, " m"), "found 0.6 m, expected at most 0.5 m");
  EXPECT_EQ(found_below(1, 3), "found 1, expected at least 3");
  EXPECT_EQ(found_above(3e9, 1e9), "found 3e+09, expected at most 1e+09");
}

TEST(BoundText, WhatReadsAlikeGetsMoreDigits) {
  EXPECT_EQ(found_above(0.0003, std::nextafter(0.0003, 0)), "found 0.0003, expected at most 0.000299999999");
  EXPECT_EQ(found_above(std::nextafter(0.5, 1), 0.5), "found 0.5000000000000001, expected at most 0.5");
  EXPECT_EQ(found_below(0.5, std::nextafter(0.5, 1)), "found 0.5, expected at least 0.500000001");
  EXPECT_EQ(found_above(2.44e9, 2.436e9, " N/m", 3), "found 2.44e+09 N/m, expected at most 2.43e+09 N/m");
}

TEST(BoundText, MeasuresAreRoundedAsNumbersAre) {
  const double length = std::nextafter(0.297, 0);
  EXPECT_EQ(told_apart(0.3, length, 9, true).bound, "0.297");
  EXPECT_EQ(told_apart(0.297, length, 9, true).bound, "0.296999999");
  EXPECT_EQ(told_apart(0.3, length, 9).bound, "0.296999999");
}

// Whatever is refused by a bound reads as refused, and a number as the message has the bound passes.
TEST(BoundText, WhatIsSaidOfTheBoundHolds) {
  Random random(3);
  for (int trial = 0; trial < 20000; ++trial) {
    const double bound = std::pow(10, random.uniform(-12, 12));
    const double share = std::pow(10, random.uniform(-16, 1));
    for (const int digits : {3, 9}) {
      const double above = std::max(bound * (1 + share), std::nextafter(bound, 1e300));
      const ToldApart most = told_apart(above, bound, digits);
      ASSERT_LE(read(most.bound), bound);
      ASSERT_GT(read(most.found), read(most.bound));
      const double below = std::min(bound * (1 - std::min(share, 0.9)), std::nextafter(bound, 0));
      const ToldApart least = told_apart(below, bound, digits);
      ASSERT_GE(read(least.bound), bound);
      ASSERT_LT(read(least.found), read(least.bound));
      EXPECT_NEAR(read(most.bound) / bound, 1, 2 * std::pow(10, 1 - digits));
      EXPECT_NEAR(read(least.bound) / bound, 1, 2 * std::pow(10, 1 - digits));
    }
  }
}

}  // namespace
}  // namespace isocloth

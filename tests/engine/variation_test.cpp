#include "engine/model/variation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

Variation range(double from, double to, Scale scale = Scale::linear, Sampling sampling = Sampling::even) {
  return {.is_list = false, .values = {}, .from = from, .to = to, .scale = scale, .sampling = sampling};
}
std::vector<double> values(const Variation& variation, std::size_t count, std::uint64_t seed = 1) {
  return variation_values(variation, count, seed, "key");
}
std::string refusal(const Variation& variation, std::size_t count) {
  try {
    values(variation, count);
  } catch (const SceneError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Variation, SpacesARangeEvenlyWithExactEnds) {
  EXPECT_EQ(values(range(1, 3), 5), (std::vector<double>{1, 1.5, 2, 2.5, 3}));
  EXPECT_EQ(values(range(3, 1), 3), (std::vector<double>{3, 2, 1}));
  EXPECT_EQ(values(range(-2, 7), 1), (std::vector<double>{-2}));
  EXPECT_EQ(values(range(0.1, 0.1), 3), (std::vector<double>{0.1, 0.1, 0.1}));
  for (const std::size_t count : {2, 3, 7, 100}) {
    const std::vector<double> found = values(range(0.1, 0.7), count);
    EXPECT_EQ(found.front(), 0.1);
    EXPECT_EQ(found.back(), 0.7);
    for (std::size_t i = 1; i < count; ++i)
      EXPECT_NEAR(found[i] - found[i - 1], 0.6 / static_cast<double>(count - 1), 4e-16);
  }
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(values(range(-most, most), 3), (std::vector<double>{-most, 0, most}));
}

TEST(Variation, SpacesALogRangeByEqualRatios) {
  const std::vector<double> found = values(range(0.01, 100, Scale::log), 5);
  const double expected[] = {0.01, 0.1, 1, 10, 100};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(found[i] / expected[i], 1, 4e-16);
  EXPECT_EQ(found.front(), 0.01);
  EXPECT_EQ(found.back(), 100);
  for (const double x : values(range(1e-300, 1e300, Scale::log), 9)) EXPECT_TRUE(std::isfinite(x));
}

TEST(Variation, DrawsTheSameNumbersEverywhere) {
  // The first outputs of std::mt19937_64, which the standard fixes, over 2^53.
  EXPECT_EQ(values(range(0, 1, Scale::linear, Sampling::uniform), 2, 5489),
            (std::vector<double>{static_cast<double>(14514284786278117030u >> 11) * 0x1p-53,
                                 static_cast<double>(4620546740167642908u >> 11) * 0x1p-53}));
  const Variation random = range(2, 5, Scale::log, Sampling::uniform);
  const std::vector<double> found = values(random, 1000, 3);
  EXPECT_EQ(found, values(random, 1000, 3));
  EXPECT_NE(found, values(random, 1000, 4));
  double mean = 0;
  for (const double x : found) {
    EXPECT_TRUE(x >= 2 && x <= 5) << x;
    mean += std::log(x / 2) / std::log(2.5) / 1000;
  }
  // Six standard deviations of the mean of 1000 uniform numbers.
  EXPECT_NEAR(mean, 0.5, 6 / std::sqrt(12 * 1000.));
}

TEST(Variation, TakesAListOfTheRightLength) {
  Variation list;
  list.is_list = true;
  EXPECT_EQ(refusal(list, 1), "key.values: found 0 values, expected 1, one per replica");
  list.values = {3, 1, 2};
  EXPECT_EQ(values(list, 3), (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(refusal(list, 2), "key.values: found 3 values, expected 2, one per replica");
}

TEST(Variation, RefusesRangesThatAreNone) {
  EXPECT_EQ(refusal(range(0, 1, Scale::log), 2), "key.from: found 0, expected a number > 0 on a log scale");
  EXPECT_EQ(refusal(range(1, -1, Scale::log), 2), "key.to: found -1, expected a number > 0 on a log scale");
  EXPECT_EQ(refusal(range(0, INFINITY), 2), "key.to: found inf, expected a finite number");
}

TEST(Variation, SeedsDifferInEveryPart) {
  const std::set<std::uint64_t> seeds{
      derived_seed(1, 0, "fabric.density"), derived_seed(2, 0, "fabric.density"),
      derived_seed(1, 1, "fabric.density"), derived_seed(0, 1, "fabric.density"),
      derived_seed(1, 0, "fabric.mass_damping")};
  EXPECT_EQ(seeds.size(), 5u);
}

}  // namespace
}  // namespace isocloth

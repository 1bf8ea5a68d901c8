// Tests of residuals: how often they reject noise, and how surely what is no noise.
#include "host/fit/residual_tests.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"
#include "host/fit/distributions.hpp"

namespace isocloth {
namespace {

ResidualSeries noise(Gaussian& gaussian, int series, int samples, double deviation = 1) {
  ResidualSeries all;
  for (int s = 0; s < series; ++s) {
    std::vector<double>& one = all.series.emplace_back();
    for (int i = 0; i < samples; ++i) one.push_back(deviation * gaussian());
  }
  return all;
}

void add_wave(ResidualSeries& residuals, double amplitude) {
  for (std::vector<double>& series : residuals.series)
    for (std::size_t i = 0; i < series.size(); ++i)
      series[i] += amplitude * std::sin(6.28 * static_cast<double>(i) / static_cast<double>(series.size()));
}

bool is_rejected(const ResidualSeries& residuals) {
  ResidualTests tests = test_residuals(residuals);
  reject({&tests});
  return tests.is_rejected();
}

TEST(Distributions, AreThoseOfTables) {
  // R: pchisq(3.841459, 1, lower = FALSE), pchisq(124.342, 100, lower = FALSE) and so on.
  EXPECT_NEAR(chi_square_tail(3.841458820694124, 1), 0.05, 1e-9);
  EXPECT_NEAR(chi_square_tail(2, 2), std::exp(-1.0), 1e-12);
  EXPECT_NEAR(chi_square_tail(124.3421134, 100), 0.05, 1e-8);
  EXPECT_NEAR(chi_square_tail(20331.56, 20000), 0.05, 1e-3);
  EXPECT_EQ(chi_square_tail(0, 3), 1);
  EXPECT_EQ(chi_square_tail(1e6, 100), 0);
  EXPECT_NEAR(chi_square_tail(10010, 1e4), chi_square_tail(10010, 1e4 + 1e-6), 1e-6);  // where formulas meet
  EXPECT_NEAR(normal_tail(1.6448536269514722), 0.05, 1e-12);
  EXPECT_NEAR(student_95(1), 12.706204736, 1e-8);
  EXPECT_NEAR(student_95(5), 2.570581836, 1e-8);
  EXPECT_NEAR(student_95(1e9), 1.959963985, 1e-8);
}

TEST(ResidualTests, HaveTheNumbersOfAnExampleByHand) {
  // ++--+-: 3 of either sign, 4 runs; mean 4, variance 2 * 9 * (2 * 9 - 6) / (36 * 5) = 1.2.
  ResidualSeries residuals{.series = {{1, 2, -1, -2, 1, -1}}, .leverage = 2};
  const ResidualTests tests = test_residuals(residuals);
  EXPECT_EQ(tests.count, 6u);
  EXPECT_DOUBLE_EQ(tests.chi_square, 12);
  EXPECT_DOUBLE_EQ(tests.degrees_of_freedom, 4);
  EXPECT_DOUBLE_EQ(tests.noise_factor, std::sqrt(3.0));
  EXPECT_NEAR(tests.chi_square_p, 0.01735126523666, 1e-10);  // exp(-6) (1 + 6)
  EXPECT_EQ(tests.runs, 4u);
  EXPECT_DOUBLE_EQ(tests.runs_expected, 4);
  EXPECT_DOUBLE_EQ(tests.runs_z, 0);
  EXPECT_NEAR(tests.autocorrelation, (2 - 2 + 2 - 2 - 1) / 5.0 / 2, 1e-12);
  // As many unknowns as residuals: nothing to reject.
  residuals.leverage = 6;
  const ResidualTests none = test_residuals(residuals);
  EXPECT_EQ(none.chi_square_p, 1);
  EXPECT_EQ(none.noise_factor, 0);
}

TEST(ResidualTests, SeldomRejectNoise) {
  // 2000 fits of each kind at a level of 1e-3: more than 8 rejections have a probability below 1e-3.
  Gaussian gaussian(5);
  for (const auto& [series, samples] : {std::pair{1, 12}, {3, 10}, {3, 80}, {40, 30}})
    for (const double outlier : {0.0, 3.0}) {
      int rejected = 0;
      for (int k = 0; k < 2000; ++k) {
        ResidualSeries residuals = noise(gaussian, series, samples);
        residuals.outlier = outlier;
        rejected += is_rejected(residuals);
      }
      EXPECT_LE(rejected, 8) << series << " x " << samples << ", outlier " << outlier;
    }
}

TEST(ResidualTests, HoldTheirLevelWithoutTheRuleOfWhatIsMaterial) {
  // p-values of noise are even: a hundredth of them lies below 0.01 (2000 of them: 20, +-4 deviations of 4.5;
  // the runs test is discrete and has fewer).
  Gaussian gaussian(6);
  int large = 0, few = 0;
  for (int k = 0; k < 2000; ++k) {
    const ResidualTests tests = test_residuals(noise(gaussian, 3, 60));
    large += tests.chi_square_p < 0.01;
    few += tests.runs_p < 0.01;
  }
  EXPECT_NEAR(large, 20, 18);
  EXPECT_LE(few, 38);
  EXPECT_GE(few, 2);
}

TEST(ResidualTests, SeeWhatIsNoNoise) {
  Gaussian gaussian(7);
  int larger = 0, slow = 0;
  for (int k = 0; k < 200; ++k) {
    larger += is_rejected(noise(gaussian, 3, 80, 1.5));
    // A wave of the noise's own size keeps the size of what is left below 1.2 times what was stated.
    ResidualSeries wave = noise(gaussian, 3, 80, 0.8);
    add_wave(wave, 1.1);
    const ResidualTests tests = test_residuals(wave);
    EXPECT_LT(tests.noise_factor, 1.35);
    slow += is_rejected(wave);
  }
  EXPECT_EQ(larger, 200);
  EXPECT_GE(slow, 198);
}

TEST(ResidualTests, LetPassWhatIsNotMaterial) {
  // Tens of thousands of residuals show an error of a quarter of the noise beyond doubt; the noise is more.
  Gaussian gaussian(8);
  ResidualSeries nearly = noise(gaussian, 100, 400);
  add_wave(nearly, 0.35);
  const ResidualTests tests = test_residuals(nearly);
  EXPECT_LT(tests.runs_p, 1e-6);
  EXPECT_FALSE(is_rejected(nearly));
  // What simulations leave of simulations: nothing random at all, and far below the stated noise.
  ResidualSeries exact = noise(gaussian, 3, 100, 0);
  add_wave(exact, 1e-3);
  EXPECT_FALSE(is_rejected(exact));
  EXPECT_FALSE(is_rejected(noise(gaussian, 3, 100, 0)));
}

TEST(ResidualTests, BearOutliersWhereTheLossDoes) {
  Gaussian gaussian(9);
  ResidualSeries residuals = noise(gaussian, 3, 200);
  for (std::vector<double>& series : residuals.series)
    for (std::size_t i = 0; i < series.size(); i += 20) series[i] = i % 40 == 0 ? 100 : -100;
  EXPECT_TRUE(is_rejected(residuals));
  residuals.outlier = 3;
  EXPECT_FALSE(is_rejected(residuals));
  ResidualSeries wrong = noise(gaussian, 3, 200, 2);
  wrong.outlier = 3;
  EXPECT_TRUE(is_rejected(wrong));
}

TEST(ResidualTests, AreHeldToOneLevelTogether) {
  // Holm: of two tests of a channel each, p = 1e-3 / 4 rejects where 1e-3 / 3 does not, unless a smaller one
  // went before.
  const auto with = [](double p) {
    ResidualTests tests;
    tests.chi_square_p = p;
    tests.noise_factor = 2;
    return tests;
  };
  ResidualTests first = with(3e-4), second = with(1);
  reject({&first, &second});
  EXPECT_FALSE(first.is_rejected());
  first = with(2e-4);
  second = with(3e-4);
  reject({&first, &second});
  EXPECT_TRUE(first.is_rejected() && second.is_rejected());
}

}  // namespace
}  // namespace isocloth

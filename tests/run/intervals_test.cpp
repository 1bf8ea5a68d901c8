// How often 95 % intervals hold the truth, where noise is independent and where it is not.
#include "host/fit/intervals.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "engine/core/random.hpp"

namespace isocloth {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A linear problem y = J t + e of two unknowns, truth 0: `points` seen at `samples` times.
struct Linear {
  MatrixXd jacobian;
  std::vector<ResidualSource> sources;

  Linear(int tracks, int samples, int points, bool decays) : jacobian(tracks * samples * points, 2) {
    Index row = 0;
    for (int track = 0; track < tracks; ++track)
      for (int i = 0; i < samples; ++i)
        for (int point = 0; point < points; ++point, ++row) {
          const double t = 0.1 * i, s = i / (samples - 1.0), weight = 1.5 + std::cos(1.3 * point);
          jacobian(row, 0) = weight * (decays ? std::exp(-2 * s) : std::sin(12 * s));
          jacobian(row, 1) = weight * (decays ? s * std::exp(-s) : s * std::cos(9 * s));
          const auto of = static_cast<std::size_t>(track);
          sources.push_back({of, of, static_cast<std::size_t>(point), t});
        }
  }
};

/// Noise of variance 1, of neighbours in time correlated by `correlation`; all points have the same, or each
/// its own.
VectorXd noise(Gaussian& gaussian, int tracks, int samples, int points, double correlation, bool is_common) {
  VectorXd all(tracks * samples * points);
  const double fresh = std::sqrt(1 - correlation * correlation);
  for (int track = 0; track < tracks; ++track) {
    VectorXd now(points);
    for (int i = 0; i < samples; ++i) {
      VectorXd next(points);
      for (Index k = 0; k < points; ++k) next[k] = is_common && k > 0 ? next[0] : gaussian();
      now = i == 0 ? next : VectorXd(correlation * now + fresh * next);
      all.segment((track * samples + i) * points, points) = now;
    }
  }
  return all;
}

struct Coverage {
  double block = 0, independent = 0;  ///< parts of intervals that hold the truth
  double width = 0;                   ///< mean of how much wider they are
};

Coverage coverage(int tracks, int samples, double correlation, bool is_common, bool decays) {
  constexpr int trials = 400, points = 4;
  const Linear linear(tracks, samples, points, decays);
  const Eigen::ColPivHouseholderQR<MatrixXd> solver(linear.jacobian);
  Gaussian gaussian(11);
  Coverage found;
  for (int k = 0; k < trials; ++k) {
    const VectorXd e = noise(gaussian, tracks, samples, points, correlation, is_common);
    const VectorXd t = solver.solve(e);
    const std::vector<BlockInterval> all =
        block_intervals(e - linear.jacobian * t, linear.jacobian, linear.sources);
    for (Index u = 0; u < 2; ++u) {
      const BlockInterval& interval = all[static_cast<std::size_t>(u)];
      found.block += std::fabs(t[u]) <= interval.half;
      found.independent += std::fabs(t[u]) <= interval.independent;
      found.width += interval.half / interval.independent;
    }
  }
  return {found.block / (2 * trials), found.independent / (2 * trials), found.width / (2 * trials)};
}

TEST(BlockIntervals, HoldTheTruthOfIndependentNoiseAndAreHardlyWider) {
  for (const bool decays : {false, true}) {
    const Coverage found = coverage(2, 60, 0, false, decays);
    EXPECT_GE(found.block, 0.93);
    EXPECT_GE(found.independent, 0.93);
    EXPECT_LT(found.width, 1.2);
  }
}

TEST(BlockIntervals, HoldTheTruthWhereNeighboursInTimeAreOffTogether) {
  for (const double correlation : {0.5, 0.9, 0.97})
    for (const int samples : {30, 100})
      for (const bool decays : {false, true}) {
        const Coverage found = coverage(2, samples, correlation, false, decays);
        EXPECT_GE(found.block, 0.9) << correlation << ", " << samples << ", " << decays;
        EXPECT_LT(found.independent, correlation > 0.6 && samples > 50 ? 0.65 : 0.9)
            << correlation << ", " << samples << ", " << decays;
      }
}

TEST(BlockIntervals, HoldTheTruthWhereAllPointsAreOffTogether) {
  for (const double correlation : {0.0, 0.9}) {
    const Coverage found = coverage(2, 100, correlation, true, false);
    EXPECT_GE(found.block, 0.9) << correlation;
    EXPECT_LT(found.independent, correlation > 0 ? 0.4 : 0.8) << correlation;
  }
}

TEST(BlockIntervals, AreNotMuchWiderWhereAFewSamplesSayAll) {
  // Ten samples of many points, as of rigs at rest, the last of which say almost everything.
  constexpr int trials = 400;
  Linear linear(1, 10, 40, false);
  for (Index row = 0; row < linear.jacobian.rows(); ++row) {
    const double strain = linear.sources[static_cast<std::size_t>(row)].at;
    linear.jacobian.row(row) << strain * strain, 1;
  }
  Gaussian gaussian(12);
  const Eigen::ColPivHouseholderQR<MatrixXd> solver(linear.jacobian);
  double held = 0, width = 0;
  for (int k = 0; k < trials; ++k) {
    const VectorXd e = noise(gaussian, 1, 10, 40, 0, false);
    const VectorXd t = solver.solve(e);
    const BlockInterval found = block_intervals(e - linear.jacobian * t, linear.jacobian, linear.sources)[0];
    held += std::fabs(t[0]) <= found.half;
    width += found.half / found.independent;
  }
  EXPECT_GE(held / trials, 0.93);
  EXPECT_LT(width / trials, 1.3);
}

TEST(BlockIntervals, AreThoseOfTheStatedNoiseWhereResidualsAreFew) {
  const MatrixXd jacobian = MatrixXd::Identity(3, 1) * 4;
  const std::vector<BlockInterval> few =
      block_intervals(VectorXd::Constant(3, 0.1), jacobian, {{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 0, 2, 2}});
  EXPECT_NEAR(few[0].half, 1.959963985 / 4, 1e-6);
  EXPECT_EQ(few[0].half, few[0].independent);
}

TEST(BlockIntervals, AreOpenWhereNothingDependsOnTheUnknown) {
  const Linear linear(1, 40, 2, false);
  MatrixXd jacobian = linear.jacobian;
  jacobian.col(1).setZero();
  Gaussian gaussian(3);
  const std::vector<BlockInterval> all =
      block_intervals(noise(gaussian, 1, 40, 2, 0, false), jacobian, linear.sources);
  EXPECT_TRUE(std::isfinite(all[0].half));
  EXPECT_TRUE(std::isinf(all[1].half));
  jacobian.setZero();
  for (const BlockInterval& none : block_intervals(VectorXd::Ones(80), jacobian, linear.sources))
    EXPECT_TRUE(std::isinf(none.half));
}

TEST(ChannelLeverage, IsWhatTheUnknownsTakeUp) {
  const Linear linear(3, 20, 2, false);
  const std::vector<double> all = channel_leverage(linear.jacobian, linear.sources, 3);
  EXPECT_NEAR(all[0] + all[1] + all[2], 2, 1e-12);
  EXPECT_NEAR(all[0], all[1], 1e-12);
}

}  // namespace
}  // namespace isocloth

#include "host/fit/intervals.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "host/fit/distributions.hpp"
#include "host/fit/least_squares.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double same_time = 1e-9;  ///< times are the same up to so much [s]
/// Largest correlation of neighbours: beyond it a recording is one sample.
constexpr double most_correlation = 0.98;
constexpr double by_chance = 2.326;  ///< deviations that one sum in a hundred exceeds by chance
/// Least share of what is known of an unknown, for a track to matter.
constexpr double least_share = 0.1;
constexpr double seldom = 0.05;                ///< probability by chance of so large a variance of blocks
constexpr double least_blocks = 8;             ///< least number of blocks of a track
constexpr double least_remainder = 0.02;       ///< least 1 - leverage that a block is taken to have
constexpr Eigen::Index enough_residuals = 10;  ///< residuals beyond the unknowns that say what noise is

/// J with orthonormal columns, and the way back to unknowns.
struct Whitened {
  MatrixXd rows;  ///< J with orthonormal columns, shape [residual, direction]
  MatrixXd back;  ///< unknowns by directions, shape [unknown, direction]

  explicit Whitened(const MatrixXd& jacobian) {
    const Eigen::JacobiSVD<MatrixXd> svd(jacobian, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const VectorXd& singular = svd.singularValues();
    Eigen::Index rank = 0;
    while (rank < singular.size() && singular[rank] > no_effect * singular[0] && singular[rank] > 0) ++rank;
    rows = svd.matrixU().leftCols(rank);
    back = svd.matrixV().leftCols(rank) * singular.head(rank).cwiseInverse().asDiagonal();
  }
};

/// All that a track measured at one time.
struct Instant {
  double at = 0;
  VectorXd score;   ///< sum of residuals times whitened rows, shape [direction]
  MatrixXd weight;  ///< Gram matrix of the whitened rows
};

struct Channel {
  std::vector<double> times;
  std::vector<VectorXd> scores;  ///< scores at each of these times
  /// Correlation of neighbours in the channel's series, about zero; 0: it may be chance.
  double correlation = 0;
};

struct Track {
  std::vector<Instant> instants;
  std::vector<Channel> channels;
};

double neighbours(double products, double pairs, double squares, double count) {
  return pairs > 0 && squares > 0 ? products / pairs / (squares / count) : 0;
}

std::vector<Track> tracks_of(const VectorXd& residuals, const MatrixXd& rows,
                             const std::vector<ResidualSource>& sources) {
  std::map<std::size_t, std::map<std::size_t, std::vector<std::size_t>>> all;  // track, channel, residuals
  for (std::size_t i = 0; i < sources.size(); ++i) all[sources[i].track][sources[i].channel].push_back(i);
  std::vector<Track> tracks;
  for (auto& [track, channels] : all) {
    Track& found = tracks.emplace_back();
    std::vector<std::size_t> whole;
    for (auto& [channel, indices] : channels) {
      whole.insert(whole.end(), indices.begin(), indices.end());
      Channel& one = found.channels.emplace_back();
      std::ranges::stable_sort(indices, {}, [&](std::size_t i) { return sources[i].at; });
      std::map<std::size_t, double> last;
      double squares = 0, products = 0, pairs = 0;
      for (const std::size_t i : indices) {
        const auto row = static_cast<Eigen::Index>(i);
        if (one.times.empty() || sources[i].at > one.times.back() + same_time) {
          one.times.push_back(sources[i].at);
          one.scores.emplace_back(VectorXd::Zero(rows.cols()));
        }
        one.scores.back() += residuals[row] * rows.row(row).transpose();
        squares += residuals[row] * residuals[row];
        const auto [before, is_first] = last.try_emplace(sources[i].series, residuals[row]);
        if (is_first) continue;
        products += before->second * residuals[row];
        ++pairs;
        before->second = residuals[row];
      }
      one.correlation = neighbours(products, pairs, squares, static_cast<double>(indices.size()));
      if (!(one.correlation * std::sqrt(pairs) > by_chance)) one.correlation = 0;
    }
    std::ranges::stable_sort(whole, {}, [&](std::size_t i) { return sources[i].at; });
    for (const std::size_t i : whole) {
      const auto row = static_cast<Eigen::Index>(i);
      if (found.instants.empty() || sources[i].at > found.instants.back().at + same_time)
        found.instants.push_back(
            {sources[i].at, VectorXd::Zero(rows.cols()), MatrixXd::Zero(rows.cols(), rows.cols())});
      found.instants.back().score += residuals[row] * rows.row(row).transpose();
      found.instants.back().weight += rows.row(row).transpose() * rows.row(row);
    }
  }
  return tracks;
}

/// How long a channel remembers, for one unknown.
struct Memory {
  double correlation = 0;
  double length = 0;   ///< time that the channel remembers, in the unit of time
  double samples = 1;  ///< time that the channel remembers, in samples
};

Memory memory_of(const Channel& channel, const VectorXd& back) {
  const auto count = static_cast<double>(channel.times.size());
  if (count < 2) return {};
  double squares = 0, products = 0, chance = 0, before = 0;
  for (std::size_t k = 0; k < channel.scores.size(); ++k) {
    const double influence = back.dot(channel.scores[k]), product = before * influence;
    squares += influence * influence;
    products += product;
    chance += product * product;  // variance of their sum, were they independent
    before = influence;
  }
  double c = channel.correlation;
  // A few samples that say all may be of one sign by chance.
  if (products > by_chance * std::sqrt(chance))
    c = std::max(c, neighbours(products, count - 1, squares, count));
  if (!(c > 1 / std::sqrt(count))) return {};
  c = std::min(c + (1 + 3 * c) / count, most_correlation);
  const double samples = std::ceil((1 + c) / (1 - c));
  return {c, samples * (channel.times.back() - channel.times.front()) / (count - 1), samples};
}

/// Part of the variance of a long sum that blocks of that many samples see.
double part_seen(double c, double samples) {
  return 1 - 2 * c * (1 - std::pow(c, samples)) / (samples * (1 - c * c));
}

/// Sum of scores and weights of stretches, each score over the root of the part that is seen.
std::vector<Instant> blocks_of(const Track& track, const VectorXd& back, double& correlation) {
  Memory longest;
  for (const Channel& channel : track.channels) {
    const Memory memory = memory_of(channel, back);
    if (memory.length > longest.length) longest = memory;
  }
  correlation = longest.correlation;
  const auto count = static_cast<double>(track.instants.size());
  if (longest.length == 0) return track.instants;
  const double first = track.instants.front().at, span = track.instants.back().at - first,
               whole = span * count / (count - 1);
  const double number =
      std::max({1.0, std::floor(whole / longest.length),
                std::min(least_blocks, std::floor(whole * longest.samples / longest.length))});
  const double seen =
      part_seen(longest.correlation, std::max(1.0, longest.samples * whole / longest.length / number));
  std::vector<Instant> blocks;
  double last = -1;
  for (const Instant& instant : track.instants) {
    const double index = std::min(number - 1, std::floor((instant.at - first) / whole * number + 1e-9));
    if (index > last)
      blocks.push_back({index, VectorXd::Zero(back.size()), MatrixXd::Zero(back.size(), back.size())});
    last = index;
    blocks.back().score += instant.score / std::sqrt(seen);
    blocks.back().weight += instant.weight;
  }
  return blocks;
}

/// `variance_of_one`: of residuals, were they independent.
BlockInterval interval_of(const std::vector<Track>& tracks, const VectorXd& back, double variance_of_one) {
  BlockInterval found;
  double variance = 0, sum = 0, squares = 0, count = 0;
  for (const Track& track : tracks) {
    double correlation = 0, of_track = 0;
    for (const Instant& block : blocks_of(track, back, correlation)) {
      const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(block.weight);
      const VectorXd left = (1 - solver.eigenvalues().array()).max(least_remainder).rsqrt();
      const MatrixXd& axes = solver.eigenvectors();
      const double shift = back.dot(axes * left.asDiagonal() * (axes.transpose() * block.score));
      const double share = back.dot(block.weight * back);
      variance += shift * shift;
      of_track += share;
      squares += share * share;
      ++count;
    }
    sum += of_track;
    if (of_track > least_share * back.squaredNorm())
      found.autocorrelation = std::max(found.autocorrelation, correlation);
  }
  if (count < 2 || !(squares > 0)) return found;
  found.blocks = sum * sum / squares;
  const double degrees = std::max(1.0, found.blocks - 1);
  // Of independent residuals a few blocks say less than all of them do.
  const double ratio = variance / (variance_of_one * sum);
  if (found.autocorrelation == 0 && chi_square_tail(degrees * ratio, degrees) > seldom) return found;
  found.half = student_95(degrees) * std::sqrt(variance);
  return found;
}

}  // namespace

std::vector<BlockInterval> block_intervals(const VectorXd& residuals, const MatrixXd& jacobian,
                                           const std::vector<ResidualSource>& sources) {
  const Confidence plain = confidence_of(residuals, jacobian);
  const Eigen::Index beyond = residuals.size() - jacobian.cols();
  const bool is_enough = beyond >= enough_residuals;
  const double factor =
      student_95(is_enough ? static_cast<double>(beyond) : std::numeric_limits<double>::infinity());
  const Whitened whitened(jacobian);
  std::vector<Track> tracks;
  if (is_enough) tracks = tracks_of(residuals, whitened.rows, sources);
  std::vector<BlockInterval> all;
  for (Eigen::Index u = 0; u < jacobian.cols(); ++u) {
    const double independent = factor * plain.deviation[u];
    BlockInterval found;
    if (is_enough && std::isfinite(independent))
      found = interval_of(tracks, whitened.back.row(u).transpose(), plain.variance);
    found.independent = independent;
    found.half = std::max(found.half, independent);
    all.push_back(found);
  }
  return all;
}

std::vector<double> channel_leverage(const MatrixXd& jacobian, const std::vector<ResidualSource>& sources,
                                     std::size_t channel_count) {
  const Whitened whitened(jacobian);
  std::vector<double> all(channel_count, 0.0);
  for (std::size_t i = 0; i < sources.size(); ++i)
    all[sources[i].channel] += whitened.rows.row(static_cast<Eigen::Index>(i)).squaredNorm();
  return all;
}

}  // namespace isocloth

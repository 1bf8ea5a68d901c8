// 95 % intervals of unknowns from residuals that need not be independent.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace isocloth {

/// Where a residual stands among all that was measured.
struct ResidualSource {
  std::size_t channel = 0;  ///< kind of measurement of a recording
  std::size_t track = 0;    ///< recording: what it measures at one time may be off together
  std::size_t series = 0;   ///< one coordinate of one point, among those of the channel
  double at = 0;            ///< time [s], or place in a row of figures
};

struct BlockInterval {
  double half = 0;         ///< half width of the 95 % interval
  double independent = 0;  ///< half width of the interval, were residuals independent
  /// Correlation of neighbours in time, the largest of the tracks that matter.
  double autocorrelation = 0;
  double blocks = 0;  ///< effective number of independent stretches that say what the unknown is
};

/// 95 % interval of each unknown, shape [unknown], by residuals r at their least and the Jacobian J, shape
/// [residual, unknown]. The least squares fit is linear about there, t - t* = -(J^T J)^-1 J^T e, and the
/// variance of J^T e is estimated from sums over blocks of time (blocks of a track hold all that was measured
/// in the time: errors of neighbouring points are off together), without simulations:
///
///   V = (J^T J)^-1 (sum_b g_b g_b^T / f_b) (J^T J)^-1,   g_b = J_b^T (I - H_bb)^(-1/2) r_b,
///
/// blocks after Carlstein 1986 and Kuensch 1989, (I - H_bb)^(-1/2) after Bell and McCaffrey 2002 for what the
/// fit took up itself. A block is as long as (1 + c) / (1 - c) samples, c the correlation of neighbours (that
/// of residuals or that of their products with J, whichever is larger; Kendall's bias (1 + 3 c) / samples
/// added; none where c < 1 / sqrt(samples), nor of products that are as large in one sum of a hundred by
/// chance), but an eighth of the track at most; f_b is the part of the variance that blocks of that length
/// see of noise whose correlation falls as c^lag. The half width is Student's t times the deviation, with as
/// many degrees as blocks that share the information on the unknown evenly, (sum h_b)^2 / sum h_b^2, less one
/// (Carter, Schnepel, Steigerwald 2017). It is that of independent residuals where that is more; where
/// neighbours are not correlated and V is no larger than it is once in twenty times by chance, of independent
/// noise; and where there are less than ten residuals more than unknowns, which say too little of their
/// noise.
///
/// It assumes that residuals are noise whose mean is zero over long times. Slow errors far below white noise
/// are seen in part only.
std::vector<BlockInterval> block_intervals(const Eigen::VectorXd& residuals, const Eigen::MatrixXd& jacobian,
                                           const std::vector<ResidualSource>& sources);

/// Trace of J (J^T J)^-1 J^T over the residuals of each channel.
std::vector<double> channel_leverage(const Eigen::MatrixXd& jacobian,
                                     const std::vector<ResidualSource>& sources, std::size_t channel_count);

}  // namespace isocloth

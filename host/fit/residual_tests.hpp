// Whether what a fit leaves of a recording is the noise that was stated of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace isocloth {

/// Residuals of one kind of measurement of one recording, over the stated noise, as series: those of one
/// coordinate of one point, one after another in time.
struct ResidualSeries {
  std::vector<std::vector<double>> series;
  /// Trace of J (J^T J)^-1 J^T over these residuals: how many of the unknowns they took up; 0: held out.
  double leverage = 0;
  /// Where a loss that bears outliers bends [noise]; 0: a loss of squares. With such a loss the noise factor
  /// comes from the median of the sizes, its p from the sign test of sizes against 0.6745, and residuals
  /// beyond the bend count with it in the autocorrelation: outliers say nothing against a model.
  double outlier = 0;
};

struct ResidualTests {
  std::size_t count = 0;          ///< number of residuals
  double degrees_of_freedom = 0;  ///< count - leverage
  double rms = 0;                 ///< root mean square of the residuals, over the stated noise
  double noise_factor = 0;  ///< root of the sum of squares over degrees of freedom: 1 where noise is left
  double chi_square = 0;    ///< sum of squares, of loss by squares
  double chi_square_p = 1;  ///< probability that noise as stated would leave as much or more
  std::size_t runs = 0;     ///< number of runs of residuals of one sign, over all series
  double runs_expected = 0, runs_z = 0;
  double runs_p = 1;           ///< probability that independent noise would leave as few runs or fewer
  double autocorrelation = 0;  ///< correlation of neighbours in a series, about zero
  double effective_count = 0;  ///< count (1 - r) / (1 + r), r > 0: as many independent ones say as much
  double systematic = 0;       ///< noise factor times root of r: what goes on from sample to sample [noise]
  bool is_too_large = false;   ///< whether the residuals are larger than noise, see reject()
  bool is_correlated = false;  ///< whether the residuals are correlated, see reject()
  bool is_rejected() const { return is_too_large || is_correlated; }
};

/// Chi-square of the squares, and of the signs the runs test of Wald and Wolfowitz (1940), given how many of
/// either sign each series has, with means and variances summed over series and the normal approximation.
/// Both one-sided: a model that is wrong leaves more than noise, and leaves it in one direction for longer.
ResidualTests test_residuals(const ResidualSeries& residuals);

constexpr double rejection_level = 1e-3;     ///< level of significance of all tests of a fit together
constexpr double material_factor = 1.2;      ///< least noise factor that rejects
constexpr double material_systematic = 0.5;  ///< least systematic part that rejects [noise]
constexpr double worse_than_start =
    1.1;  ///< what is left over what the start leaves, from which on it is worse

/// Root mean square of all series together, over the stated noise; infinity where the cloth was lost.
double root_mean_square(const std::vector<std::vector<double>>& series);

/// Text of a probability: "p = 0.02".
std::string probability_text(double p);

/// Marks what rejects the model: tests of all channels together are held to rejection_level by Holm's method
/// (1979), and a p-value counts only where what it finds is material: of many thousand residuals any model
/// is off by more than chance, if by a hundredth of the noise.
void reject(const std::vector<ResidualTests*>& channels);

}  // namespace isocloth

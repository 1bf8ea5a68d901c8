#include "host/fit/residual_tests.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "host/fit/distributions.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

constexpr double normal_median = 0.6744897501960817;  ///< median of |Z| for standard normal Z

/// Runs of one sign: how many, and mean and variance of that number given the numbers of both signs.
struct Runs {
  std::size_t count = 0;
  double mean = 0, variance = 0;

  void add(const std::vector<double>& series) {
    double positive = 0, negative = 0;
    std::size_t found = 0;
    for (std::size_t i = 0; i < series.size(); ++i) {
      (series[i] > 0 ? positive : negative) += 1;
      if (i == 0 || (series[i] > 0) != (series[i - 1] > 0)) ++found;
    }
    const double n = positive + negative, both = 2 * positive * negative;
    if (both == 0 || n < 3) return;
    count += found;
    mean += both / n + 1;
    variance += both * (both - n) / (n * n * (n - 1));
  }
};

void test_sizes(const ResidualSeries& residuals, ResidualTests& found) {
  if (residuals.outlier == 0) {
    found.chi_square = found.rms * found.rms * static_cast<double>(found.count);
    found.noise_factor = std::sqrt(found.chi_square / found.degrees_of_freedom);
    found.chi_square_p = chi_square_tail(found.chi_square, found.degrees_of_freedom);
    return;
  }
  std::vector<double> sizes;
  for (const std::vector<double>& series : residuals.series)
    for (const double r : series) sizes.push_back(std::fabs(r));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  const auto n = static_cast<double>(sizes.size());
  found.noise_factor = *middle / normal_median * std::sqrt(n / found.degrees_of_freedom);
  const auto large =
      static_cast<double>(std::ranges::count_if(sizes, [](double size) { return size > normal_median; }));
  found.chi_square_p = normal_tail((2 * large - n) / std::sqrt(n));
}

}  // namespace

double root_mean_square(const std::vector<std::vector<double>>& series) {
  double squares = 0, count = 0;
  for (const std::vector<double>& each : series)
    for (const double r : each) squares += r * r, ++count;
  const double rms = std::sqrt(squares / std::max(1.0, count));
  return std::isfinite(rms) ? rms : std::numeric_limits<double>::infinity();
}

std::string probability_text(double p) { return p > 1e-300 ? "p = " + tick_text(p) : "p < 1e-300"; }

ResidualTests test_residuals(const ResidualSeries& residuals) {
  ResidualTests found;
  Runs runs;
  double squares = 0, bent_squares = 0, products = 0, pairs = 0;
  const auto bent = [&](double r) {
    return residuals.outlier > 0 ? std::clamp(r, -residuals.outlier, residuals.outlier) : r;
  };
  for (const std::vector<double>& series : residuals.series) {
    found.count += series.size();
    runs.add(series);
    for (std::size_t i = 0; i < series.size(); ++i) {
      squares += series[i] * series[i];
      bent_squares += bent(series[i]) * bent(series[i]);
      if (i == 0) continue;
      products += bent(series[i - 1]) * bent(series[i]);
      ++pairs;
    }
  }
  const auto count = static_cast<double>(found.count);
  found.rms = std::sqrt(squares / std::max(1.0, count));
  found.degrees_of_freedom = count - residuals.leverage;
  found.effective_count = count;
  // As many unknowns as residuals leave nothing to test.
  if (!(found.degrees_of_freedom >= 0.5)) {
    found.degrees_of_freedom = std::max(0.0, found.degrees_of_freedom);
    return found;
  }
  test_sizes(residuals, found);
  if (runs.variance > 0) {
    found.runs = runs.count;
    found.runs_expected = runs.mean;
    found.runs_z = (static_cast<double>(runs.count) - runs.mean) / std::sqrt(runs.variance);
    found.runs_p = normal_tail(-found.runs_z);
  }
  if (pairs > 0 && bent_squares > 0)
    found.autocorrelation = std::clamp(products / pairs / (bent_squares / count), -1.0, 1.0);
  const double r = std::clamp(found.autocorrelation, 0.0, 1.0);
  found.effective_count = std::max(1.0, count * (1 - r) / (1 + r));
  found.systematic = found.noise_factor * std::sqrt(r);
  return found;
}

void reject(const std::vector<ResidualTests*>& channels) {
  std::vector<std::pair<double, bool*>> all;
  for (ResidualTests* channel : channels) {
    // What is not material is tested all the same: Holm's steps count it.
    all.push_back({channel->chi_square_p, &channel->is_too_large});
    all.push_back({channel->runs_p, &channel->is_correlated});
  }
  std::ranges::sort(all, {}, [](const auto& test) { return test.first; });
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!(all[k].first <= rejection_level / static_cast<double>(all.size() - k))) break;
    *all[k].second = true;
  }
  for (ResidualTests* channel : channels) {
    channel->is_too_large = channel->is_too_large && channel->noise_factor > material_factor;
    channel->is_correlated = channel->is_correlated && channel->systematic > material_systematic;
  }
}

}  // namespace isocloth

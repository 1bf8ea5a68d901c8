#include "host/sweep/plot_axis.hpp"

#include <cmath>

namespace isocloth {

PlotAxis::PlotAxis(double low, double high, double begin, double end, bool is_log)
    : begin_(begin), end_(end), is_log_(is_log && low > 0) {
  low_ = coordinate(low);
  high_ = coordinate(high);
}

double PlotAxis::operator()(double value) const {
  const double t = high_ > low_ ? (coordinate(value) - low_) / (high_ - low_) : 0.5;
  return begin_ + t * (end_ - begin_);
}

std::vector<double> PlotAxis::ticks(int count) const {
  const double span = high_ - low_;
  if (!(span > 0)) return {is_log_ ? std::exp(low_) : low_};
  if (is_log_) return log_ticks(count);
  const double power = std::pow(10, std::floor(std::log10(span / count)));
  double step = 10 * power;
  for (const double k : {5, 2, 1})
    if (span / (k * power) <= count) step = k * power;
  std::vector<double> values;
  for (double k = std::ceil(low_ / step - 1e-9); k * step <= high_ + 1e-9 * step; ++k)
    values.push_back(k == 0 ? 0 : k * step);
  return values;
}

/// Ticks at 1, 2 and 5 of each decade, or at even ratios where these are fewer than three or more than
/// `count`.
std::vector<double> PlotAxis::log_ticks(int count) const {
  std::vector<double> values;
  for (double decade = std::floor(low_ / std::log(10)); decade <= high_ / std::log(10); ++decade)
    for (const double k : {1, 2, 5}) {
      const double at = std::log(k) + decade * std::log(10);
      if (at >= low_ - 1e-9 && at <= high_ + 1e-9) values.push_back(k * std::pow(10, decade));
    }
  if (values.size() >= 3 && values.size() <= static_cast<std::size_t>(count)) return values;
  values.clear();
  for (int i = 0; i < count; ++i) values.push_back(std::exp(low_ + (high_ - low_) * i / (count - 1)));
  return values;
}

double PlotAxis::coordinate(double value) const { return is_log_ ? std::log(value) : value; }

}  // namespace isocloth

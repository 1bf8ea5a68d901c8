// An axis of a plot.
#pragma once

#include <vector>

namespace isocloth {

/// Values onto a stretch of pixels, linear or by their logarithm.
class PlotAxis {
 public:
  /// An axis of values low to high from `begin` to `end` [pixels]; by logarithms only where low > 0.
  PlotAxis(double low, double high, double begin, double end, bool is_log);
  double operator()(double value) const;
  /// Round values in the range, at most about `count`.
  std::vector<double> ticks(int count) const;

 private:
  std::vector<double> log_ticks(int count) const;
  double coordinate(double value) const;

  double begin_, end_, low_ = 0, high_ = 0;
  bool is_log_;
};

}  // namespace isocloth

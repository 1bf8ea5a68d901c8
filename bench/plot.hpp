// Curves over logarithmic axes as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace isocloth::bench {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< (x, y), both > 0
};

/// One picture of all curves, both axes logarithmic, with a legend.
std::string log_plot(const std::string& x_label, const std::string& y_label,
                     const std::vector<Curve>& curves);

}  // namespace isocloth::bench

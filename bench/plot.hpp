// Pictures as SVG: curves over logarithmic axes, and the page of any other.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace isocloth::bench {

/// A white page [px] with `content` on it.
std::string svg_page(double width, double height, const std::string& content);

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;       ///< (x, y), both > 0
  std::vector<std::pair<double, double>> others = {};  ///< the same, off the line
};

/// One picture of all curves, both axes logarithmic, with a legend.
std::string log_plot(const std::string& x_label, const std::string& y_label,
                     const std::vector<Curve>& curves);

struct Panel {
  std::string title;
  std::vector<Curve> curves;  ///< a name has the same colour in every panel
};

/// Panels two in a row, axes alike in all, and one legend.
std::string log_panels(const std::string& x_label, const std::string& y_label,
                       const std::vector<Panel>& panels);

}  // namespace isocloth::bench

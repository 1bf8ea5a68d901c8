#include "bench/plot.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "bench/report.hpp"

namespace isocloth::bench {
namespace {

constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                   "#56b4e9", "#000000", "#999999", "#8c510a"};
constexpr double panel_width = 430, panel_height = 300;  // [px]

/// Whole decades around the values.
struct Axis {
  int first = 1000, last = -1000;
  double begin, end;  ///< [px]

  void include(double value) {
    first = std::min(first, static_cast<int>(std::floor(std::log10(value) + 1e-9)));
    last = std::max(last, static_cast<int>(std::ceil(std::log10(value) - 1e-9)));
  }
  double at(double value) const {
    return begin + (end - begin) * (std::log10(value) - first) / std::max(1, last - first);
  }
};

/// 10^decade without an exponent where that is short.
std::string decade_label(int decade) {
  if (decade < 0 || decade > 6) return short_number(std::pow(10, decade));
  return '1' + std::string(static_cast<std::size_t>(decade), '0');
}

/// Names in the order in which they come first.
std::vector<std::string> curve_names(const std::vector<Panel>& panels) {
  std::vector<std::string> names;
  for (const Panel& panel : panels)
    for (const Curve& curve : panel.curves)
      if (std::find(names.begin(), names.end(), curve.name) == names.end()) names.push_back(curve.name);
  return names;
}

/// Axes, labels, lines and points of one panel whose corner is at (0, 0).
void draw_panel(std::ostream& out, Axis x, Axis y, const std::string& x_label, const std::string& y_label,
                const Panel& panel, const std::vector<std::string>& names) {
  for (int decade = y.first; decade <= y.last; ++decade) {
    const double at = y.at(std::pow(10, decade));
    out << "<path d='M70 " << at << "H500' stroke='#ddd'/><text x='62' y='" << at + 4
        << "' text-anchor='end'>" << decade_label(decade) << "</text>\n";
  }
  for (int decade = x.first; decade <= x.last; ++decade) {
    const double at = x.at(std::pow(10, decade));
    out << "<path d='M" << at << " 30V330' stroke='#ddd'/><text x='" << at
        << "' y='348' text-anchor='middle'>" << decade_label(decade) << "</text>\n";
  }
  out << "<text x='285' y='372' text-anchor='middle'>" << x_label << "</text><text x='20' y='18'>" << y_label
      << "</text>\n<text x='500' y='18' text-anchor='end' font-weight='bold'>" << panel.title << "</text>\n";
  for (const Curve& curve : panel.curves) {
    const auto name = std::find(names.begin(), names.end(), curve.name);
    const char* colour = colours[static_cast<std::size_t>(name - names.begin()) % std::size(colours)];
    std::ostringstream line;
    for (const auto& [px, py] : curve.others)
      out << "<circle cx='" << x.at(px) << "' cy='" << y.at(py) << "' r='2' fill='none' stroke='" << colour
          << "' opacity='.6'/>\n";
    for (const auto& [px, py] : curve.points) {
      line << (line.tellp() == 0 ? 'M' : 'L') << x.at(px) << ' ' << y.at(py) << ' ';
      out << "<circle cx='" << x.at(px) << "' cy='" << y.at(py) << "' r='3' fill='" << colour << "'/>\n";
    }
    out << "<path d='" << line.str() << "' fill='none' stroke='" << colour << "' stroke-width='2'/>\n";
  }
}

}  // namespace

std::string svg_page(double width, double height, const std::string& content) {
  std::ostringstream out;
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << height
      << "' font-family='sans-serif' font-size='12'>\n<rect width='" << width << "' height='" << height
      << "' fill='white'/>\n"
      << content << "</svg>\n";
  return out.str();
}

std::string log_panels(const std::string& x_label, const std::string& y_label,
                       const std::vector<Panel>& panels) {
  Axis x{.begin = 70, .end = 70 + panel_width}, y{.begin = 30 + panel_height, .end = 30};
  for (const Panel& panel : panels)
    for (const Curve& curve : panel.curves)
      for (const auto* points : {&curve.points, &curve.others})
        for (const auto& [px, py] : *points) x.include(px), y.include(py);
  const std::vector<std::string> names = curve_names(panels);
  const std::size_t columns = std::min<std::size_t>(2, panels.size()), rows = (panels.size() + 1) / 2;
  const double legend = 525 + 500 * static_cast<double>(columns - 1), width = legend + 335,
               height = 385 * static_cast<double>(rows);
  std::ostringstream out;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    out << "<g transform='translate(" << 500 * (k % 2) << ' ' << 385 * (k / 2) << ")'>\n";
    draw_panel(out, x, y, x_label, y_label, panels[k], names);
    out << "</g>\n";
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double at = 40 + 18 * static_cast<double>(k);
    out << "<path d='M" << legend - 10 << ' ' << at << "h20' stroke='" << colours[k % std::size(colours)]
        << "' stroke-width='3'/><text x='" << legend + 16 << "' y='" << at + 4 << "'>" << names[k]
        << "</text>\n";
  }
  return svg_page(width, height, out.str());
}

std::string log_plot(const std::string& x_label, const std::string& y_label,
                     const std::vector<Curve>& curves) {
  return log_panels(x_label, y_label, {{.title = "", .curves = curves}});
}

}  // namespace isocloth::bench

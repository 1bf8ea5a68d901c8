#include "bench/plot.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "bench/report.hpp"

namespace isocloth::bench {
namespace {

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

}  // namespace

std::string log_plot(const std::string& x_label, const std::string& y_label,
                     const std::vector<Curve>& curves) {
  const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                           "#e69f00", "#56b4e9", "#000000", "#999999"};
  Axis x{.begin = 70, .end = 500}, y{.begin = 330, .end = 30};
  for (const Curve& curve : curves)
    for (const auto& [px, py] : curve.points) x.include(px), y.include(py);
  std::ostringstream out;
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='860' height='385' font-family='sans-serif' "
         "font-size='12'>\n<rect width='860' height='385' fill='white'/>\n";
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
      << "</text>\n";
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const char* colour = colours[k % std::size(colours)];
    std::ostringstream line;
    for (const auto& [px, py] : curves[k].points) {
      line << (line.tellp() == 0 ? 'M' : 'L') << x.at(px) << ' ' << y.at(py) << ' ';
      out << "<circle cx='" << x.at(px) << "' cy='" << y.at(py) << "' r='3' fill='" << colour << "'/>\n";
    }
    const double at = 40 + 18 * static_cast<double>(k);
    out << "<path d='" << line.str() << "' fill='none' stroke='" << colour
        << "' stroke-width='2'/><path d='M515 " << at << "h20' stroke='" << colour
        << "' stroke-width='3'/><text x='541' y='" << at + 4 << "'>" << curves[k].name << "</text>\n";
  }
  out << "</svg>\n";
  return out.str();
}

}  // namespace isocloth::bench

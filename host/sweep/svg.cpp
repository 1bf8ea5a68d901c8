#include "host/sweep/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "host/report/encode.hpp"

namespace isocloth {
namespace {

/// viridis at nine even places; linear in between.
constexpr std::array<std::array<double, 3>, 9> viridis_stops{{{68, 1, 84},
                                                              {71, 44, 122},
                                                              {59, 81, 139},
                                                              {44, 113, 142},
                                                              {33, 144, 141},
                                                              {39, 173, 129},
                                                              {92, 200, 99},
                                                              {170, 220, 50},
                                                              {253, 231, 37}}};

std::array<double, 3> viridis_rgb(double t) {
  const double at = std::clamp(t, 0.0, 1.0) * (viridis_stops.size() - 1);
  const std::size_t k = std::min(static_cast<std::size_t>(at), viridis_stops.size() - 2);
  std::array<double, 3> rgb{};
  for (std::size_t c = 0; c < 3; ++c)
    rgb[c] =
        viridis_stops[k][c] + (at - static_cast<double>(k)) * (viridis_stops[k + 1][c] - viridis_stops[k][c]);
  return rgb;
}

}  // namespace

std::string svg_number(double x) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f", x);
  return digits;
}

std::string tick_text(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", value);
  return digits;
}

std::string viridis(double t) {
  const std::array<double, 3> rgb = viridis_rgb(t);
  char hex[16];
  std::snprintf(hex, sizeof hex, "#%02x%02x%02x", static_cast<unsigned>(std::lround(rgb[0])),
                static_cast<unsigned>(std::lround(rgb[1])), static_cast<unsigned>(std::lround(rgb[2])));
  return hex;
}

bool is_light(double t) {
  const std::array<double, 3> rgb = viridis_rgb(t);
  return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 128;
}

Svg::Svg(double width, double height, const std::string& title) {
  const std::string w = svg_number(width), h = svg_number(height);
  all_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h + "\" width=\"" + w +
         "\" height=\"" + h +
         "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n" + "<title>" +
         escape_html(title) + "</title>\n<rect width=\"" + w + "\" height=\"" + h + "\" fill=\"white\"/>\n";
}

void Svg::element(const std::string& begin, const std::string& style, const std::string& tip) {
  const std::string name = begin.substr(1, begin.find(' ') - 1);
  all_ += begin + " " + style;
  all_ += tip.empty() ? "/>\n" : "><title>" + escape_html(tip) + "</title></" + name + ">\n";
}

void Svg::rect(double x, double y, double width, double height, const std::string& style,
               const std::string& tip) {
  element("<rect x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" width=\"" + svg_number(width) +
              "\" height=\"" + svg_number(height) + "\"",
          style, tip);
}

void Svg::circle(double x, double y, double radius, const std::string& style, const std::string& tip) {
  element(
      "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"" + svg_number(radius) + "\"",
      style, tip);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& style) {
  element("<line x1=\"" + svg_number(x1) + "\" y1=\"" + svg_number(y1) + "\" x2=\"" + svg_number(x2) +
              "\" y2=\"" + svg_number(y2) + "\"",
          style, {});
}

void Svg::polyline(const std::string& points, const std::string& style, const std::string& tip) {
  element("<polyline points=\"" + points + "\" fill=\"none\"", style, tip);
}

void Svg::text(double x, double y, std::string_view content, const std::string& style) {
  all_ += "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" " + style + ">" +
          escape_html(content) + "</text>\n";
}

std::string Svg::finish() { return all_ + "</svg>\n"; }

}  // namespace isocloth

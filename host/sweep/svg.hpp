// Elements of SVG text.
#pragma once

#include <string>
#include <string_view>

namespace isocloth {

/// Builds an SVG document; lengths in pixels, y downwards.
class Svg {
 public:
  Svg(double width, double height, const std::string& title);

  /// `style`: attributes, e.g. fill="red". `tip`: shown under the pointer; may be empty.
  void rect(double x, double y, double width, double height, const std::string& style,
            const std::string& tip = {});
  void circle(double x, double y, double radius, const std::string& style, const std::string& tip = {});
  void line(double x1, double y1, double x2, double y2, const std::string& style);
  /// `points`: "x,y x,y ...".
  void polyline(const std::string& points, const std::string& style, const std::string& tip = {});
  void text(double x, double y, std::string_view content, const std::string& style);
  /// Ends the document.
  std::string finish();

 private:
  void element(const std::string& begin, const std::string& style, const std::string& tip);
  std::string all_;
};

/// One decimal, for coordinates.
std::string svg_number(double x);
/// Up to four significant digits, for a reader.
std::string tick_text(double value);
/// Perceptually uniform (viridis) colour of t in [0, 1], "#rrggbb".
std::string viridis(double t);
/// Whether black text reads better on that colour than white.
bool is_light(double t);

}  // namespace isocloth

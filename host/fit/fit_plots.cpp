#include "host/fit/fit_plots.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/core/text.hpp"
#include "host/sweep/plot_axis.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

constexpr double width = 720, height = 260, left = 64, right = 700, top = 34, bottom = 222;
constexpr const char* measured_colour = "#222";
constexpr const char* start_colour = "#b8b8b8";
constexpr const char* fitted_colour = "#d1495b";

struct Line {
  std::string name, colour;
  std::vector<std::array<double, 2>> points;  ///< not finite: a gap
  double thickness = 2;
};
struct Band {
  double from = 0, to = 0;
  std::string colour, name;
};

class Chart {
 public:
  Chart(std::string title, std::string x_label, std::string y_label)
      : title_(std::move(title)), x_label_(std::move(x_label)), y_label_(std::move(y_label)) {}

  void add(Line line) { lines_.push_back(std::move(line)); }
  void add(const std::vector<double>& window, const char* colour, const char* name) {
    if (window.size() == 2) bands_.push_back({window[0], window[1], colour, name});
  }
  bool is_log = false;
  bool from_zero = true;

  std::string draw() const {
    double x_low = INFINITY, x_high = -INFINITY, low = from_zero ? 0 : INFINITY, high = -INFINITY;
    for (const Line& line : lines_)
      for (const auto& [x, y] : line.points) {
        if (!std::isfinite(y)) continue;
        x_low = std::min(x_low, x), x_high = std::max(x_high, x), low = std::min(low, y),
        high = std::max(high, y);
      }
    if (!(high > low)) high = low + 1;
    if (!is_log) high += 0.12 * (high - low);  // room for the names
    if (!(x_high > x_low)) x_high = x_low + 1;
    const PlotAxis x(x_low, x_high, left, right, false), y(low, high, bottom, top, is_log);
    Svg svg(width, height, title_);
    svg.text(left, 16, title_, "font-size=\"14\" font-weight=\"bold\"");
    for (const Band& band : bands_) {
      const double from = std::clamp(x(band.from), left, right), to = std::clamp(x(band.to), left, right);
      svg.rect(from, top, to - from, bottom - top, text("fill=\"", band.colour, "\""), band.name);
      if (to > from) svg.text(from + 4, top + 24, band.name, "fill=\"#888\" font-size=\"11\"");
    }
    for (const double tick : y.ticks(6)) {
      svg.line(left, y(tick), right, y(tick), "stroke=\"#e4e4e4\"");
      svg.text(left - 6, y(tick), tick_text(tick), "text-anchor=\"end\" dominant-baseline=\"middle\"");
    }
    for (const double tick : x.ticks(10))
      svg.text(x(tick), bottom + 16, tick_text(tick), "text-anchor=\"middle\"");
    svg.line(left, bottom, right, bottom, "stroke=\"#666\"");
    svg.text((left + right) / 2, bottom + 32, x_label_, "text-anchor=\"middle\"");
    svg.text(right, 16, y_label_, "text-anchor=\"end\"");
    double at = left + 8;
    for (const Line& line : lines_) {
      draw(svg, line, x, y);
      if (line.name.empty()) continue;
      svg.line(at, top + 4, at + 18, top + 4,
               text("stroke=\"", line.colour, "\" stroke-width=\"", line.thickness, "\""));
      svg.text(at + 22, top + 8, line.name, "font-size=\"11\"");
      at += 40 + 6.2 * static_cast<double>(line.name.size());
    }
    return svg.finish();
  }

 private:
  static void draw(Svg& svg, const Line& line, const PlotAxis& x, const PlotAxis& y) {
    std::string points;
    const std::string style =
        text("stroke=\"", line.colour, "\" stroke-width=\"", line.thickness, "\" stroke-linejoin=\"round\"");
    for (const auto& [at, value] : line.points) {
      if (std::isfinite(value)) {
        points += svg_number(x(at)) + "," + svg_number(y(value)) + " ";
      } else if (!points.empty()) {
        svg.polyline(points, style);
        points.clear();
      }
    }
    if (!points.empty()) svg.polyline(points, style);
  }

  std::string title_, x_label_, y_label_;
  std::vector<Line> lines_;
  std::vector<Band> bands_;
};

/// Mean and standard deviation over the points of a sample [mm]; NaN where none was compared.
std::array<double, 2> distances(const Comparison& comparison, const Recording& recording,
                                std::size_t sample) {
  double sum = 0, squares = 0, count = 0;
  for (std::size_t point = 0; point < recording.point_count; ++point) {
    const double distance = 1000 * norm(comparison.positions[sample * recording.point_count + point]);
    if (!std::isfinite(distance)) continue;
    sum += distance, squares += distance * distance, ++count;
  }
  if (count == 0) return {NAN, NAN};
  return {sum / count, std::sqrt(std::max(0.0, squares / count - sum * sum / (count * count)))};
}

void shade(Chart& chart, const ExperimentSpec& spec) {
  chart.add(spec.train, "#eef3fb", "train");
  chart.add(spec.test, "#f7f0e4", "test");
}

}  // namespace

std::string distance_svg(const FitProblem& problem, const FitRecord& record, std::size_t e) {
  const ExperimentRecord& found = record.experiments[e];
  Chart chart(problem.spec().experiments[e].name + ": distance of points from the recording",
              "time of the recording [s]", "mean [mm]");
  shade(chart, problem.spec().experiments[e]);
  Line start{"start", start_colour, {}}, mean{"fitted", fitted_colour, {}},
      spread{"fitted, standard deviation", "#edae49", {}, 1};
  for (std::size_t sample = 0; sample < found.recorded.times.size(); ++sample) {
    const double t = found.recorded.times[sample];
    const auto [fitted, deviation] = distances(found.fitted, found.recorded, sample);
    start.points.push_back({t, distances(found.start, found.recorded, sample)[0]});
    mean.points.push_back({t, fitted});
    spread.points.push_back({t, deviation});
  }
  chart.add(std::move(start));
  chart.add(std::move(spread));
  chart.add(std::move(mean));
  return chart.draw();
}

std::string force_svg(const FitProblem& problem, const FitRecord& record, std::size_t e, std::size_t f) {
  const ExperimentRecord& found = record.experiments[e];
  const ForceData& data = problem.spec().experiments[e].forces[f];
  Chart chart(text(problem.spec().experiments[e].name, ": force of ", data.gripper),
              "time of the recording [s]", "|F| [N]");
  shade(chart, problem.spec().experiments[e]);
  Line start{"start", start_colour, {}}, fitted{"fitted", fitted_colour, {}, 3},
      measured{"measured", measured_colour, {}, 1};
  const Recording& force = problem.experiments()[e].force(f);
  for (std::size_t sample = 0; sample < force.times.size(); ++sample) {
    const double t = force.times[sample];
    const Vec3d& seen = force.at(sample, 0);
    start.points.push_back({t, norm(seen + found.start.forces[f][sample])});
    fitted.points.push_back({t, norm(seen + found.fitted.forces[f][sample])});
    measured.points.push_back({t, std::isfinite(found.fitted.forces[f][sample].x) ? norm(seen) : NAN});
  }
  chart.add(std::move(start));
  chart.add(std::move(fitted));
  chart.add(std::move(measured));
  return chart.draw();
}

std::string map_svg(const FitProblem& problem, const FitRecord& record, std::size_t e) {
  const ExperimentRecord& found = record.experiments[e];
  const Experiment& experiment = problem.experiments()[e];
  const Mesh& mesh = experiment.scene().base().garments[0].mesh;
  std::vector<double> means;
  double most = 0;
  for (std::size_t point = 0; point < found.recorded.point_count; ++point) {
    double sum = 0, count = 0;
    for (std::size_t sample = 0; sample < found.recorded.times.size(); ++sample) {
      const double distance =
          1000 * norm(found.fitted.positions[sample * found.recorded.point_count + point]);
      if (std::isfinite(distance)) sum += distance, ++count;
    }
    means.push_back(count > 0 ? sum / count : NAN);
    if (count > 0) most = std::max(most, means.back());
  }
  // The rest shape along its two longest directions.
  Vec3d low = mesh.positions[0], high = low;
  for (const Vec3d& p : mesh.positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const Vec3d size = high - low;
  const int shortest = size.x <= size.y && size.x <= size.z ? 0 : size.y <= size.z ? 1 : 2;
  const auto flat = [&](const Vec3d& p) -> std::array<double, 2> {
    const Vec3d d = p - low;
    return shortest == 0 ? std::array{d.y, d.z} : shortest == 1 ? std::array{d.x, d.z} : std::array{d.x, d.y};
  };
  const auto [wide, tall] = flat(high);
  const double scale = 300 / std::max({wide, tall, 1e-9});
  Svg svg(440, 370, "distance by place");
  svg.text(24, 16, problem.spec().experiments[e].name + ": mean distance by place on the cloth [mm]",
           "font-size=\"14\" font-weight=\"bold\"");
  const double radius = std::clamp(
      0.45 * scale * std::sqrt(wide * tall / static_cast<double>(mesh.positions.size())), 2.0, 14.0);
  for (std::size_t point = 0; point < means.size(); ++point) {
    if (!std::isfinite(means[point])) continue;
    const auto node = static_cast<std::size_t>(experiment.nodes()[point]);
    const auto [x, y] = flat(mesh.positions[node]);
    svg.circle(36 + scale * x, 346 - scale * y, radius,
               text("fill=\"", viridis(most > 0 ? means[point] / most : 0), "\""),
               text("node ", node, ": ", tick_text(means[point]), " mm"));
  }
  for (int i = 0; i < 40; ++i)
    svg.rect(372, 340 - 7.0 * (i + 1), 14, 7.5, text("fill=\"", viridis(i / 39.0), "\""));
  svg.text(390, 340, "0", "");
  svg.text(390, 66, tick_text(most), "");
  return svg.finish();
}

std::string shadow_svg(const FitProblem& problem, const FitRecord& record, std::size_t e) {
  const ExperimentRecord& found = record.experiments[e];
  const Instruments& instruments = *problem.experiments()[e].instruments();
  const std::vector<const std::vector<double>*> all{&found.start.reading.radii, &instruments.recorded_radii(),
                                                    &found.fitted.reading.radii};
  double most = instruments.meter().disc;
  for (const auto* radii : all)
    for (const double r : *radii) most = std::max(most, r);
  constexpr double side = 420, middle_x = side / 2, middle_y = side / 2 + 40;
  const double scale = 0.46 * side / most;
  Svg svg(side, side + 60, "shadow of the drape");
  svg.text(12, 16, problem.spec().experiments[e].name + ": shadow from above",
           "font-size=\"14\" font-weight=\"bold\"");
  svg.circle(middle_x, middle_y, scale * instruments.meter().disc, "fill=\"#eee\" stroke=\"#999\"", "disc");
  const char* names[] = {"start", "measured", "fitted"};
  const char* colours[] = {start_colour, measured_colour, fitted_colour};
  double at = 12;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<double>& radii = *all[i];
    if (radii.empty()) continue;
    std::string points;
    for (std::size_t k = 0; k <= radii.size(); ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(radii.size());
      const double r = scale * radii[k % radii.size()];
      points +=
          svg_number(middle_x + r * std::cos(angle)) + "," + svg_number(middle_y - r * std::sin(angle)) + " ";
    }
    const std::string style = text("stroke=\"", colours[i], "\" stroke-width=\"2\"");
    svg.polyline(points, style + " stroke-linejoin=\"round\"");
    svg.line(at, 32, at + 18, 32, style);
    svg.text(at + 22, 36, names[i], "font-size=\"11\"");
    at += 90;
  }
  return svg.finish();
}

std::string search_svg(const FitRecord& record) {
  Chart chart("search", "simulations", "distance over noise (root mean square)");
  chart.is_log = true;
  chart.from_zero = false;
  Line line{"", fitted_colour, {}};
  for (const FitStep& step : record.history)
    line.points.push_back({static_cast<double>(step.simulations), step.loss});
  chart.add(std::move(line));
  return chart.draw();
}

}  // namespace isocloth

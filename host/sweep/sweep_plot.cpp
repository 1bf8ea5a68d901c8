#include "host/sweep/sweep_plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/core/text.hpp"
#include "host/sweep/plot_axis.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

constexpr std::size_t most_drawn = 10'000;     // in a picture, which makes it about 2 MB
constexpr std::size_t most_cells_aside = 100;  // in a heat map

constexpr const char* axis_style = "stroke=\"#666\"";
constexpr const char* faint_style = "stroke=\"#e4e4e4\"";
constexpr const char* least_style = "fill=\"none\" stroke=\"#d62728\" stroke-width=\"2\"";
constexpr const char* middle = "text-anchor=\"middle\"";
constexpr const char* right = "text-anchor=\"end\" dominant-baseline=\"middle\"";

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : text(name, " [", unit, "]");
}

class Plot {
 public:
  Plot(const SweepTable& table, std::size_t measure, const std::string& title)
      : table_(table), measure_(measure), title_(title) {
    for (std::size_t p = 0; p < table.plan.parameters.size(); ++p) {
      const std::vector<double>& values = table.plan.parameters[p].values;
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      if (*low < *high) varied_.push_back(p);
    }
    if (varied_.empty()) varied_.push_back(0);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (table.rows[i].values.empty()) continue;
      const double value = at(i);
      low_ = std::min(low_, value);
      high_ = std::max(high_, value);
      if (least_ == none || value < at(least_)) least_ = i;
    }
    if (least_ == none) low_ = high_ = 0;
  }

  std::string draw() const {
    if (varied_.size() == 1) return line_plot();
    if (varied_.size() == 2) return table_.plan.is_grid ? heat_map() : scatter_plot();
    return parallel_plot();
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  double at(std::size_t index) const { return table_.rows[index].values[measure_]; }
  bool has_value(std::size_t index) const { return !table_.rows[index].values.empty(); }
  double share(std::size_t index) const { return high_ > low_ ? (at(index) - low_) / (high_ - low_) : 0.5; }
  const SweepParameter& parameter(std::size_t k) const { return table_.plan.parameters[varied_[k]]; }
  double value(std::size_t index, std::size_t k) const { return table_.plan.value(index, varied_[k]); }
  std::string label(std::size_t k) const { return with_unit(parameter(k).path, parameter(k).unit); }
  std::string measure_label() const {
    return with_unit(table_.measures[measure_].name, table_.measures[measure_].unit);
  }
  PlotAxis parameter_axis(std::size_t k, double begin, double end) const {
    const auto [low, high] = std::minmax_element(parameter(k).values.begin(), parameter(k).values.end());
    return {*low, *high, begin, end, parameter(k).scale == Scale::log};
  }
  std::string tip(std::size_t index) const {
    std::string line = text("case ", index);
    for (std::size_t p = 0; p < table_.plan.parameters.size(); ++p)
      line += text(", ", table_.plan.parameters[p].path, " = ", tick_text(table_.plan.value(index, p)));
    return line + text(": ", to_string(table_.rows[index].status),
                       has_value(index) ? text(", ", tick_text(at(index))) : std::string());
  }

  /// The quotient count / part, rounded up.
  static std::size_t part_count(std::size_t count, std::size_t part) { return (count + part - 1) / part; }
  /// Number n such that one in n of `count` things is drawn, at most `most` in all.
  static std::size_t stride(std::size_t count, std::size_t most) {
    return std::max<std::size_t>(1, part_count(count, most));
  }
  static std::string every(std::size_t stride, const std::string& what) {
    return stride > 1 ? text("one ", what, " of ", stride, " is drawn, sweep.csv holds all  ")
                      : std::string();
  }

  /// `cut`: what is left out.
  Svg begin(double width, double height, const std::string& cut) const {
    Svg svg(width, height, text(title_, ": ", table_.measures[measure_].name));
    svg.text(24, 26, title_, "font-size=\"15\" font-weight=\"bold\"");
    std::string line = measure_label();
    if (least_ != none) {
      line += text(": least ", tick_text(low_), " at ");
      for (std::size_t k = 0; k < varied_.size(); ++k)
        line += text(k == 0 ? "" : ", ", parameter(k).path, " = ", tick_text(value(least_, k)));
      line += text("; largest ", tick_text(high_));
    }
    // About 6.3 pixels a letter.
    const auto room = static_cast<std::size_t>((width - 40) / 6.3);
    svg.text(24, 46, line.size() > room ? line.substr(0, room - 3) + "..." : line, "fill=\"#555\"");
    const std::size_t failed = table_.count_without_measures(), stalled = table_.count(CaseStatus::stalled);
    const std::size_t left = table_.plan.case_count - table_.rows.size();
    std::string note = cut;
    if (failed > 0) note += text(failed, " without a value (crossed out)  ");
    if (stalled > 0) note += text(stalled, " missed the tolerance  ");
    if (left > 0) note += text(left, " of ", table_.plan.case_count, " cases not done yet");
    if (!note.empty()) svg.text(24, 62, note, "fill=\"#b33\"");
    return svg;
  }

  void cross(Svg& svg, double x, double y, double r) const {
    for (const double s : {-1., 1.}) svg.line(x - r, y - s * r, x + r, y + s * r, "stroke=\"#999\"");
  }

  void color_bar(Svg& svg, double x, double top, double bottom) const {
    constexpr int parts = 64;
    const double part = (bottom - top) / parts;
    for (int i = 0; i < parts; ++i)
      svg.rect(x, bottom - (i + 1) * part, 14, part + 0.4, text("fill=\"", viridis((i + 0.5) / parts), "\""));
    const PlotAxis axis(low_, high_, bottom, top, false);
    for (const double tick : axis.ticks(6)) {
      svg.line(x + 14, axis(tick), x + 18, axis(tick), axis_style);
      svg.text(x + 22, axis(tick), tick_text(tick), "dominant-baseline=\"middle\"");
    }
    svg.text(x + 96, top - 10, measure_label(), "text-anchor=\"end\"");
  }

  /// Frame and ticks of a plane; y upwards.
  void axes(Svg& svg, const PlotAxis& x, const PlotAxis& y, double left, double right_end, double top,
            double bottom, const std::string& x_label, const std::string& y_label) const {
    for (const double tick : x.ticks(8)) {
      svg.line(x(tick), top, x(tick), bottom, faint_style);
      svg.text(x(tick), bottom + 18, tick_text(tick), middle);
    }
    for (const double tick : y.ticks(8)) {
      svg.line(left, y(tick), right_end, y(tick), faint_style);
      svg.text(left - 8, y(tick), tick_text(tick), right);
    }
    svg.line(left, bottom, right_end, bottom, axis_style);
    svg.line(left, top, left, bottom, axis_style);
    svg.text((left + right_end) / 2, bottom + 40, x_label, middle);
    y_title(svg, 22, (top + bottom) / 2, y_label);
  }

  static void y_title(Svg& svg, double x, double y, const std::string& label) {
    svg.text(x, y, label, text(middle, " transform=\"rotate(-90 ", x, " ", y, ")\""));
  }

  /// Cells in the order of the values; the first parameter upwards, the second to the right.
  std::string heat_map() const {
    const std::vector<double>&rows = parameter(0).values, &columns = parameter(1).values;
    const std::size_t column_stride = stride(columns.size(), most_cells_aside),
                      row_stride = stride(rows.size(), most_cells_aside);
    // Ranks, of which every stride-th has a cell.
    std::vector<double> sorted_columns = columns, sorted_rows = rows;
    std::sort(sorted_columns.begin(), sorted_columns.end());
    std::sort(sorted_rows.begin(), sorted_rows.end());
    const auto rank = [](const std::vector<double>& sorted, double value) {
      return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
    };
    const std::size_t column_count = part_count(columns.size(), column_stride),
                      row_count = part_count(rows.size(), row_stride);
    const double cell_x = std::clamp(560.0 / static_cast<double>(column_count), 4.0, 60.0);
    const double cell_y = std::clamp(420.0 / static_cast<double>(row_count), 4.0, 44.0);
    const double left = 96, top = 84, width = cell_x * static_cast<double>(column_count),
                 height = cell_y * static_cast<double>(row_count);
    const auto x_of = [&](std::size_t place) {
      return left + cell_x * static_cast<double>(place / column_stride);
    };
    const auto y_of = [&](std::size_t place) {
      return top + height - cell_y * static_cast<double>(1 + place / row_stride);
    };
    Svg svg = begin(std::max(left + width + 130, 640.0), top + height + 66,
                    every(column_stride, "column") + every(row_stride, "row"));
    const bool has_numbers = cell_x >= 38 && cell_y >= 18;
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      const std::size_t column = rank(sorted_columns, value(i, 1)), row = rank(sorted_rows, value(i, 0));
      if (column % column_stride != 0 || row % row_stride != 0) continue;
      const double x = x_of(column), y = y_of(row);
      if (!has_value(i)) {
        svg.rect(x, y, cell_x, cell_y, "fill=\"#eee\"", tip(i));
        cross(svg, x + cell_x / 2, y + cell_y / 2, std::min(cell_x, cell_y) / 3);
        continue;
      }
      svg.rect(x, y, cell_x + 0.3, cell_y + 0.3,
               text("shape-rendering=\"crispEdges\" fill=\"", viridis(share(i)), "\""), tip(i));
      if (has_numbers)
        svg.text(
            x + cell_x / 2, y + cell_y / 2, short_number(at(i)),
            text(middle, " dominant-baseline=\"middle\" font-size=\"10.5\" pointer-events=\"none\" fill=\"",
                 is_light(share(i)) ? "#111" : "#fff", "\""));
    }
    if (least_ != none)
      svg.rect(x_of(rank(sorted_columns, value(least_, 1))), y_of(rank(sorted_rows, value(least_, 0))),
               cell_x, cell_y, least_style);
    const auto cells = [](double cell, double room) {
      return static_cast<std::size_t>(std::ceil(room / cell));
    };
    for (std::size_t c = 0; c < columns.size(); c += column_stride * cells(cell_x, 44))
      svg.text(x_of(c) + cell_x / 2, top + height + 18, tick_text(sorted_columns[c]), middle);
    for (std::size_t r = 0; r < rows.size(); r += row_stride * cells(cell_y, 16))
      svg.text(left - 8, y_of(r) + cell_y / 2, tick_text(sorted_rows[r]), right);
    svg.text(left + width / 2, top + height + 42, label(1), middle);
    y_title(svg, 24, top + height / 2, label(0));
    color_bar(svg, left + width + 26, top, top + height);
    return svg.finish();
  }

  static std::string short_number(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2g", value);
    return digits;
  }

  std::string line_plot() const {
    const double left = 96, right_end = 640, top = 84, bottom = 420;
    const std::size_t step = stride(table_.rows.size(), most_drawn);
    Svg svg = begin(680, 480, every(step, "case"));
    const double margin = high_ > low_ ? 0.05 * (high_ - low_) : std::max(1e-12, std::abs(low_));
    const PlotAxis x = parameter_axis(0, left + 10, right_end - 10),
                   y(low_ - margin, high_ + margin, bottom, top, false);
    axes(svg, x, y, left, right_end, top, bottom, label(0), measure_label());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < table_.rows.size(); i += step) {
      if (has_value(i))
        order.push_back(i);
      else
        cross(svg, x(value(i, 0)), bottom - 8, 4);
    }
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return value(a, 0) < value(b, 0); });
    std::string points;
    for (const std::size_t i : order)
      points += text(points.empty() ? "" : " ", svg_number(x(value(i, 0))), ",", svg_number(y(at(i))));
    if (table_.plan.is_grid) svg.polyline(points, "stroke=\"#2c718e\" stroke-width=\"1.6\"");
    for (const std::size_t i : order) svg.circle(x(value(i, 0)), y(at(i)), 3, "fill=\"#2c718e\"", tip(i));
    if (least_ != none) svg.circle(x(value(least_, 0)), y(at(least_)), 6, least_style);
    return svg.finish();
  }

  std::string scatter_plot() const {
    const double left = 96, right_end = 600, top = 84, bottom = 460;
    const std::size_t step = stride(table_.rows.size(), most_drawn);
    Svg svg = begin(760, 520, every(step, "case"));
    const PlotAxis x = parameter_axis(1, left + 10, right_end - 10),
                   y = parameter_axis(0, bottom - 10, top + 10);
    axes(svg, x, y, left, right_end, top, bottom, label(1), label(0));
    for (std::size_t i = 0; i < table_.rows.size(); i += step) {
      const double cx = x(value(i, 1)), cy = y(value(i, 0));
      if (has_value(i))
        svg.circle(cx, cy, 5, text("stroke=\"white\" stroke-width=\"0.6\" fill=\"", viridis(share(i)), "\""),
                   tip(i));
      else
        cross(svg, cx, cy, 4);
    }
    if (least_ != none) svg.circle(x(value(least_, 1)), y(value(least_, 0)), 8, least_style);
    color_bar(svg, right_end + 34, top + 10, bottom);
    return svg.finish();
  }

  /// The least stride for so many cases that shares no factor with the number of values of a grid's axis.
  std::size_t coprime_stride() const {
    std::size_t step = stride(table_.rows.size(), most_drawn);
    const auto shares = [&](const SweepParameter& p) { return std::gcd(step, p.values.size()) > 1; };
    const auto& all = table_.plan.parameters;
    while (step > 1 && table_.plan.is_grid && std::any_of(all.begin(), all.end(), shares)) ++step;
    return step;
  }

  /// One upright axis per parameter and one for the measure; a line per case, the least on top.
  std::string parallel_plot() const {
    const double gap = 150, left = 110, top = 110, bottom = 460;
    const double measure_x = left + gap * static_cast<double>(varied_.size());
    // Of a grid a fixed step would drop whole values of its last parameters, unless it shares no factor with
    // their counts.
    const std::size_t step = coprime_stride();
    Svg svg = begin(std::max(measure_x + 110, 640.0), 500, every(step, "case"));
    std::vector<PlotAxis> all;
    for (std::size_t k = 0; k < varied_.size(); ++k) all.push_back(parameter_axis(k, bottom, top));
    all.emplace_back(low_, high_, bottom, top, false);
    const auto points = [&](std::size_t i) {
      std::string line;
      for (std::size_t k = 0; k < all.size(); ++k) {
        const double number = k < varied_.size() ? value(i, k) : at(i);
        line += text(k == 0 ? "" : " ", svg_number(left + gap * static_cast<double>(k)), ",",
                     svg_number(all[k](number)));
      }
      return line;
    };
    const std::size_t count = table_.rows.size() - table_.count_without_measures();
    const double opacity =
        std::clamp(60 * static_cast<double>(step) / std::max(1.0, static_cast<double>(count)), 0.08, 0.8);
    for (std::size_t i = 0; i < table_.rows.size(); i += step)
      if (has_value(i))
        svg.polyline(points(i), text("stroke=\"", viridis(share(i)), "\" stroke-opacity=\"", opacity, "\""),
                     tip(i));
    if (least_ != none) svg.polyline(points(least_), "stroke=\"#d62728\" stroke-width=\"2\"", tip(least_));
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double x = left + gap * static_cast<double>(k);
      svg.line(x, top, x, bottom, axis_style);
      svg.text(x, top - 14, k < varied_.size() ? label(k) : measure_label(), middle);
      for (const double tick : all[k].ticks(6)) {
        svg.line(x - 4, all[k](tick), x, all[k](tick), axis_style);
        for (const char* ink : {" stroke=\"white\" stroke-width=\"3\"", ""})
          svg.text(x - 7, all[k](tick), tick_text(tick), text(right, " font-size=\"10.5\"", ink));
      }
    }
    return svg.finish();
  }

  const SweepTable& table_;
  const std::size_t measure_;
  const std::string& title_;
  std::vector<std::size_t> varied_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -std::numeric_limits<double>::infinity();
  std::size_t least_ = none;
};

}  // namespace

std::string sweep_svg(const SweepTable& table, std::size_t measure, const std::string& title) {
  return Plot(table, measure, title).draw();
}

}  // namespace isocloth

#include "host/report/plot_data.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "host/report/encode.hpp"
#include "host/results/metric_columns.hpp"

namespace isocloth {
namespace {

constexpr std::size_t sample_limit = 4000;
constexpr std::size_t garment_limit = 16;

/// A plot of the page by its title, before those that need no more than the quantities that they draw.
struct PlotStyle {
  std::string_view title;
  bool is_log = false, is_stacked = false;
  std::string_view needs = {};  ///< left out where this quantity is
};
constexpr std::string_view energy = "Energy", energy_now = "Where it is, and where it went";
constexpr PlotStyle styles[] = {{"Strain of edges"},
                                {"Elements"},
                                {"What the rows bound", true},
                                {"Area error"},
                                {"Iterations per frame"},
                                {energy},
                                {"Energy done on the cloth since the start", false, true},
                                {energy_now, false, true},
                                {"Steps with cloth on cloth", false, false, "cloth_contacts"}};

/// A quantity over time: the size of a vector where there are several columns.
struct Curve {
  std::string name;
  About about;
  bool is_whole = false;
  std::vector<const MetricColumn*> columns;

  double value(const FrameMetrics& metrics) const {
    if (columns.size() == 1) return columns.front()->get(metrics);
    double sum = 0;
    for (const MetricColumn* column : columns) sum += column->get(metrics) * column->get(metrics);
    return std::sqrt(sum);
  }
  /// Whether it is all the time what it is without steps.
  bool is_idle(const std::vector<FrameMetrics>& metrics) const {
    const double idle = value({});
    return std::ranges::all_of(metrics, [&](const FrameMetrics& each) { return value(each) == idle; });
  }
};

/// Those of quantities with a plot that are not idle.
std::vector<Curve> curves_of(const ReportData& data) {
  std::vector<Curve> curves;
  for (const MetricColumn& column : metric_columns()) {
    if (*column.about.page.plot == 0) continue;
    if (curves.empty() || curves.back().name != column.vector)
      curves.push_back({column.vector, column.about, column.is_integer, {}});
    curves.back().columns.push_back(&column);
  }
  std::erase_if(curves, [&](const Curve& curve) { return curve.is_idle(data.metrics); });
  return curves;
}

/// A value that is not a number is worse than any number.
void keep_worst(float& worst, double value, bool is_least) {
  if ((is_least ? value < worst : value > worst) || std::isnan(value)) worst = static_cast<float>(value);
}

/// Samples of one curve over garments [begin, end), `stride` frames per sample.
std::vector<float> samples(const ReportData& data, const Curve& curve, std::size_t begin, std::size_t end,
                           std::size_t stride) {
  const std::size_t frame_count = data.frame_times.size(), garment_count = data.garments.size();
  const bool is_sum = curve.about.rule == Rule::end_sum, is_least = curve.about.rule == Rule::least;
  const float best = is_least ? std::numeric_limits<float>::infinity() : 0;
  std::vector<float> values((frame_count + stride - 1) / stride, best);
  for (std::size_t frame = 0; frame < frame_count; ++frame) {
    const FrameMetrics* metrics = data.metrics.data() + frame * garment_count;
    double sum = 0;
    for (std::size_t g = begin; g < end; ++g) {
      const double value = curve.value(metrics[g]);
      if (is_sum)
        sum += value;
      else
        keep_worst(values[frame / stride], value, is_least);
    }
    if (is_sum && frame % stride == 0) values[frame / stride] = static_cast<float>(sum);
  }
  return values;
}

nlohmann::ordered_json group_json(const ReportData& data, const std::vector<Curve>& curves, std::size_t begin,
                                  std::size_t end, std::size_t stride) {
  const std::size_t frame_count = data.frame_times.size(), garment_count = data.garments.size();
  nlohmann::ordered_json group;
  std::vector<float> sum((frame_count + stride - 1) / stride);
  for (const Curve& curve : curves) {
    std::vector<float> values = samples(data, curve, begin, end, stride);
    if (curve.about.page.plot == energy) {
      if (curve.name == "potential_energy")  // heights count from anywhere
        for (const float first = values.front(); float& value : values) value -= first;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    group[curve.name] = encode_base64(values);
  }
  group["sum"] = encode_base64(sum);
  std::vector<StepStatus> worst(sum.size(), StepStatus::converged);
  for (std::size_t frame = 0; frame < frame_count; ++frame)
    for (std::size_t g = begin; g < end; ++g)
      worst[frame / stride] =
          std::max(worst[frame / stride], data.metrics[frame * garment_count + g].steps.status);
  std::vector<std::uint8_t> status;
  for (const StepStatus own : worst) status.push_back(static_cast<std::uint8_t>(code_of(own)));
  group["status"] = encode_base64(status);
  return group;
}

/// Which curves stand in which plot, how they are called there, and what the axis shows.
nlohmann::ordered_json plots_json(const std::vector<Curve>& curves) {
  std::vector<PlotStyle> plots(std::begin(styles), std::end(styles));
  for (const Curve& curve : curves)
    if (std::ranges::find(plots, curve.about.page.plot, &PlotStyle::title) == plots.end())
      plots.push_back({curve.about.page.plot});
  const auto is_there = [&](std::string_view name) {
    return std::ranges::find(curves, name, &Curve::name) != curves.end();
  };
  nlohmann::ordered_json found = nlohmann::ordered_json::array();
  for (const PlotStyle& plot : plots) {
    nlohmann::ordered_json shown = nlohmann::ordered_json::array();
    const About* about = nullptr;
    bool is_whole = true;
    for (const Curve& curve : curves) {
      if (curve.about.page.plot != plot.title) continue;
      about = &curve.about;
      is_whole = is_whole && curve.is_whole;
      shown.push_back({{"name", curve.name}, {"label", curve.about.page.label}});
    }
    if (about == nullptr || (!plot.needs.empty() && !is_there(plot.needs))) continue;
    if (plot.title == energy) shown.push_back({{"name", "sum"}, {"label", "sum"}});
    if (plot.title == energy_now && is_there("kinetic_energy"))
      shown.insert(shown.begin(), nlohmann::ordered_json{{"name", "kinetic_energy"}, {"label", "motion"}});
    found.push_back({{"title", plot.title},
                     {"unit", about->unit},
                     {"whole", is_whole},
                     {"log", plot.is_log},
                     {"stacked", plot.is_stacked},
                     {"curves", std::move(shown)}});
  }
  return found;
}

}  // namespace

nlohmann::ordered_json plot_json(const ReportData& data) {
  const std::size_t frame_count = data.frame_times.size(), garment_count = data.garments.size();
  const std::size_t stride = (frame_count + sample_limit - 1) / sample_limit;
  const std::vector<Curve> curves = curves_of(data);
  std::vector<float> times;
  for (std::size_t frame = 0; frame < frame_count; frame += stride)
    times.push_back(static_cast<float>(data.frame_times[frame]));
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  groups.push_back(group_json(data, curves, 0, garment_count, stride));
  if (garment_count > 1 && garment_count <= garment_limit)
    for (std::size_t g = 0; g < garment_count; ++g)
      groups.push_back(group_json(data, curves, g, g + 1, stride));
  return {{"frames_per_sample", stride},
          {"times", encode_base64(times)},
          {"plots", plots_json(curves)},
          {"groups", std::move(groups)}};
}

}  // namespace isocloth

#include "host/report/plot_data.hpp"

#include <algorithm>
#include <cmath>

#include "host/report/encode.hpp"
#include "host/results/metric_columns.hpp"

namespace isocloth {
namespace {

constexpr std::size_t sample_limit = 4000;
constexpr std::size_t garment_limit = 16;

/// A curve of the page: the size of a vector where there are several columns.
struct Curve {
  const char* name;
  std::vector<std::string> columns;
  bool is_sum;       ///< over garments, at the first frame of a sample; else the worst of all
  bool is_optional;  ///< left out where it is 0 all the time
};

std::vector<Curve> curves() {
  const std::string force = "contact_force_", hold = "gripper_force_";
  return {{"residual", {"residual_worst"}, false, false},
          {"row_strain", {"row_strain"}, false, false},
          {"iterations", {"iterations"}, false, false},
          {"strain_max", {"strain_max"}, false, false},
          {"strain_p95", {"strain_p95"}, false, false},
          {"strain_mean", {"strain_mean"}, false, false},
          {"stretch_max", {"stretch_max"}, false, false},
          {"stretch_p95", {"stretch_p95"}, false, false},
          {"compression_max", {"compression_max"}, false, false},
          {"area_total", {"area_error_total"}, false, false},
          {"area_mean", {"area_error_mean"}, false, false},
          {"area_dispersion", {"area_error_dispersion"}, false, false},
          {"area_element_max", {"area_error_element_max"}, false, false},
          {"penetration", {"penetration"}, false, true},
          {"contact_count", {"contact_count"}, false, true},
          {"sticking_count", {"sticking_count"}, false, true},
          {"held_count", {"held_count"}, false, true},
          {"contact_force", {force + "x", force + "y", force + "z"}, false, true},
          {"gripper_force", {hold + "x", hold + "y", hold + "z"}, false, true},
          {"kinetic", {"kinetic_energy"}, true, false},
          {"potential", {"potential_energy"}, true, false},
          {"elastic", {"elastic_energy"}, true, true}};
}

/// A value that is not a number is worse than any number.
void keep_worst(float& worst, double value) {
  if (value > worst || std::isnan(value)) worst = static_cast<float>(value);
}

double magnitude(const std::vector<const MetricColumn*>& columns, const FrameMetrics& metrics) {
  if (columns.size() == 1) return columns.front()->get(metrics);
  double sum = 0;
  for (const MetricColumn* column : columns) sum += column->get(metrics) * column->get(metrics);
  return std::sqrt(sum);
}

/// The columns of a curve, none where one of them is not measured.
std::vector<const MetricColumn*> find_columns(const Curve& curve) {
  std::vector<const MetricColumn*> found;
  for (const std::string& name : curve.columns)
    for (const MetricColumn& column : metric_columns())
      if (column.name == name) found.push_back(&column);
  if (found.size() != curve.columns.size()) found.clear();
  return found;
}

/// Samples of one curve over garments [begin, end), `stride` frames per sample.
std::vector<float> samples(const ReportData& data, const Curve& curve,
                           const std::vector<const MetricColumn*>& columns, std::size_t begin,
                           std::size_t end, std::size_t stride) {
  const std::size_t frame_count = data.frame_times.size(), garment_count = data.garments.size();
  std::vector<float> values((frame_count + stride - 1) / stride);
  for (std::size_t frame = 0; frame < frame_count; ++frame) {
    const FrameMetrics* metrics = data.metrics.data() + frame * garment_count;
    double sum = 0;
    for (std::size_t g = begin; g < end; ++g) {
      const double value = magnitude(columns, metrics[g]);
      if (curve.is_sum)
        sum += value;
      else
        keep_worst(values[frame / stride], value);
    }
    if (curve.is_sum && frame % stride == 0) values[frame / stride] = static_cast<float>(sum);
  }
  return values;
}

nlohmann::ordered_json group_json(const ReportData& data, std::size_t begin, std::size_t end,
                                  std::size_t stride) {
  const std::size_t frame_count = data.frame_times.size(), garment_count = data.garments.size();
  nlohmann::ordered_json group;
  for (const Curve& curve : curves()) {
    const std::vector<const MetricColumn*> columns = find_columns(curve);
    if (columns.empty()) continue;
    const auto is_zero = [&](const FrameMetrics& metrics) { return magnitude(columns, metrics) == 0; };
    if (curve.is_optional && std::all_of(data.metrics.begin(), data.metrics.end(), is_zero)) continue;
    group[curve.name] = encode_base64(samples(data, curve, columns, begin, end, stride));
  }
  std::vector<std::uint8_t> status((frame_count + stride - 1) / stride);
  for (std::size_t frame = 0; frame < frame_count; ++frame)
    for (std::size_t g = begin; g < end; ++g)
      status[frame / stride] = std::max(
          status[frame / stride], static_cast<std::uint8_t>(data.metrics[frame * garment_count + g].status));
  group["status"] = encode_base64(status);
  return group;
}

}  // namespace

nlohmann::ordered_json plot_json(const ReportData& data) {
  const std::size_t frame_count = data.frame_times.size(), garment_count = data.garments.size();
  const std::size_t stride = (frame_count + sample_limit - 1) / sample_limit;
  std::vector<float> times;
  for (std::size_t frame = 0; frame < frame_count; frame += stride)
    times.push_back(static_cast<float>(data.frame_times[frame]));
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  groups.push_back(group_json(data, 0, garment_count, stride));
  if (garment_count > 1 && garment_count <= garment_limit)
    for (std::size_t g = 0; g < garment_count; ++g) groups.push_back(group_json(data, g, g + 1, stride));
  return {{"frames_per_sample", stride}, {"times", encode_base64(times)}, {"groups", std::move(groups)}};
}

}  // namespace isocloth

#include "host/report/plot_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/report/encode.hpp"
#include "host/results/metric_columns.hpp"

namespace isocloth {
namespace {

constexpr std::size_t sample_limit = 4000;
constexpr std::size_t garment_limit = 16;

/// What counts of several garments or frames.
enum class Of {
  most,
  least,
  sum,  ///< the sum over garments, at the first frame of a sample
};

/// A curve of the page: the size of a vector where there are several columns.
struct Curve {
  const char* name;
  std::vector<std::string> columns;
  Of of;
  bool is_optional;  ///< left out where it is all the time what it is without steps
};

std::vector<Curve> curves() {
  const std::string force = "contact_force_", hold = "gripper_force_";
  return {{"residual", {"residual_worst"}, Of::most, false},
          {"row_strain", {"row_strain"}, Of::most, false},
          {"iterations", {"iterations"}, Of::most, false},
          {"strain_max", {"strain_max"}, Of::most, false},
          {"strain_p95", {"strain_p95"}, Of::most, false},
          {"strain_mean", {"strain_mean"}, Of::most, false},
          {"stretch_max", {"stretch_max"}, Of::most, false},
          {"stretch_p95", {"stretch_p95"}, Of::most, false},
          {"compression_max", {"compression_max"}, Of::most, false},
          {"thread_strain_max", {"thread_strain_max"}, Of::most, true},
          {"shear_max", {"shear_max"}, Of::most, true},
          {"area_total", {"area_error_total"}, Of::most, false},
          {"area_mean", {"area_error_mean"}, Of::most, false},
          {"area_dispersion", {"area_error_dispersion"}, Of::most, false},
          {"area_element_max", {"area_error_element_max"}, Of::most, false},
          {"penetration", {"penetration"}, Of::most, true},
          {"seam_opening", {"seam_opening"}, Of::most, true},
          {"contact_count", {"contact_count"}, Of::most, true},
          {"sticking_count", {"sticking_count"}, Of::most, true},
          {"held_count", {"held_count"}, Of::most, true},
          {"contact_force", {force + "x", force + "y", force + "z"}, Of::most, true},
          {"gripper_force", {hold + "x", hold + "y", hold + "z"}, Of::most, true},
          {"cloth_contacts", {"cloth_contacts"}, Of::most, true},
          {"cloth_loaded", {"cloth_loaded"}, Of::most, true},
          {"cloth_force", {"cloth_force"}, Of::most, true},
          {"cloth_gap", {"cloth_gap"}, Of::least, true},
          {"cg_iterations", {"cg_iterations"}, Of::most, true},
          {"substeps_max", {"substeps_max"}, Of::most, true},
          {"held_back", {"held_back"}, Of::most, true},
          {"kinetic", {"kinetic_energy"}, Of::sum, false},
          {"potential", {"potential_energy"}, Of::sum, false},
          {"elastic", {"elastic_energy"}, Of::sum, true},
          {"gravity_energy", {"gravity_energy"}, Of::sum, true},
          {"bending_energy", {"bending_energy"}, Of::sum, true},
          {"stretch_energy", {"stretch_energy"}, Of::sum, true},
          {"shear_energy", {"shear_energy"}, Of::sum, true},
          {"work_gravity", {"work_gravity"}, Of::sum, true},
          {"work_pins", {"work_pins"}, Of::sum, true},
          {"work_grippers", {"work_grippers"}, Of::sum, true},
          {"work_obstacles", {"work_obstacles"}, Of::sum, true},
          {"work_cloth", {"work_cloth"}, Of::sum, true},
          {"work_air", {"work_air"}, Of::sum, true},
          {"work_forces", {"work_forces"}, Of::sum, true},
          {"work_seams", {"work_seams"}, Of::sum, true},
          {"loss_contact", {"loss_contact"}, Of::sum, true},
          {"loss_damping", {"loss_damping"}, Of::sum, true},
          {"loss_integrator", {"loss_integrator"}, Of::sum, true},
          {"loss_rows", {"loss_rows"}, Of::sum, true},
          {"energy_error", {"energy_error"}, Of::sum, true}};
}

/// A value that is not a number is worse than any number.
void keep_worst(float& worst, double value, Of of) {
  if ((of == Of::least ? value < worst : value > worst) || std::isnan(value))
    worst = static_cast<float>(value);
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
  const float best = curve.of == Of::least ? std::numeric_limits<float>::infinity() : 0;
  std::vector<float> values((frame_count + stride - 1) / stride, best);
  for (std::size_t frame = 0; frame < frame_count; ++frame) {
    const FrameMetrics* metrics = data.metrics.data() + frame * garment_count;
    double sum = 0;
    for (std::size_t g = begin; g < end; ++g) {
      const double value = magnitude(columns, metrics[g]);
      if (curve.of == Of::sum)
        sum += value;
      else
        keep_worst(values[frame / stride], value, curve.of);
    }
    if (curve.of == Of::sum && frame % stride == 0) values[frame / stride] = static_cast<float>(sum);
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
    const auto is_idle = [&](const FrameMetrics& metrics) {
      return magnitude(columns, metrics) == magnitude(columns, {});
    };
    if (curve.is_optional && std::all_of(data.metrics.begin(), data.metrics.end(), is_idle)) continue;
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

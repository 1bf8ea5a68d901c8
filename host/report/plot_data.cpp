#include "host/report/plot_data.hpp"

#include <algorithm>
#include <cmath>

#include "host/report/encode.hpp"

namespace isocloth {
namespace {

constexpr std::size_t sample_limit = 4000;
constexpr std::size_t garment_limit = 16;

/// A value that is not a number is worse than any number.
void keep_worst(float& worst, double value) {
  if (value > worst || std::isnan(value)) worst = static_cast<float>(value);
}

/// Columns over garments [begin, end), `stride` frames per sample.
nlohmann::ordered_json columns(const ReportData& data, std::size_t begin, std::size_t end,
                               std::size_t stride) {
  const std::size_t frame_count = data.frame_times.size(), garment_count = data.garments.size();
  const std::size_t sample_count = (frame_count + stride - 1) / stride;
  using Column = std::vector<float>;
  Column residual(sample_count), iterations(sample_count), strain_max(sample_count),
      strain_mean(sample_count), area_total(sample_count), area_mean(sample_count),
      area_dispersion(sample_count), area_element(sample_count), kinetic(sample_count),
      potential(sample_count);
  std::vector<std::uint8_t> status(sample_count);
  for (std::size_t frame = 0; frame < frame_count; ++frame) {
    const std::size_t sample = frame / stride;
    double mean = 0, kinetic_sum = 0, potential_sum = 0;
    for (std::size_t g = begin; g < end; ++g) {
      const FrameMetrics& m = data.metrics[frame * garment_count + g];
      keep_worst(residual[sample], m.residual_worst);
      keep_worst(residual[sample], m.measures.residual);
      keep_worst(iterations[sample], m.iterations);
      keep_worst(strain_max[sample], m.measures.strain_max);
      keep_worst(area_total[sample], m.measures.area_error_total);
      keep_worst(area_mean[sample], m.measures.area_error_mean);
      keep_worst(area_dispersion[sample], m.measures.area_error_dispersion);
      keep_worst(area_element[sample], m.measures.area_error_element_max);
      status[sample] = std::max(status[sample], static_cast<std::uint8_t>(m.status));
      mean += m.measures.strain_mean / static_cast<double>(end - begin);
      kinetic_sum += m.measures.kinetic_energy;
      potential_sum += m.measures.potential_energy;
    }
    keep_worst(strain_mean[sample], mean);
    if (frame % stride == 0) {
      kinetic[sample] = static_cast<float>(kinetic_sum);
      potential[sample] = static_cast<float>(potential_sum);
    }
  }
  return {{"residual", encode_base64(residual)},
          {"iterations", encode_base64(iterations)},
          {"strain_max", encode_base64(strain_max)},
          {"strain_mean", encode_base64(strain_mean)},
          {"area_total", encode_base64(area_total)},
          {"area_mean", encode_base64(area_mean)},
          {"area_dispersion", encode_base64(area_dispersion)},
          {"area_element_max", encode_base64(area_element)},
          {"kinetic", encode_base64(kinetic)},
          {"potential", encode_base64(potential)},
          {"status", encode_base64(status)}};
}

}  // namespace

nlohmann::ordered_json plot_json(const ReportData& data) {
  const std::size_t frame_count = data.frame_times.size(), garment_count = data.garments.size();
  const std::size_t stride = (frame_count + sample_limit - 1) / sample_limit;
  std::vector<float> times;
  for (std::size_t frame = 0; frame < frame_count; frame += stride)
    times.push_back(static_cast<float>(data.frame_times[frame]));
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  groups.push_back(columns(data, 0, garment_count, stride));
  if (garment_count > 1 && garment_count <= garment_limit)
    for (std::size_t g = 0; g < garment_count; ++g) groups.push_back(columns(data, g, g + 1, stride));
  return {{"frames_per_sample", stride}, {"times", encode_base64(times)}, {"groups", std::move(groups)}};
}

}  // namespace isocloth

#include "host/results/metric_columns.hpp"

#include <cmath>
#include <type_traits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

/// A column from a function that finds its number in a FrameMetrics.
template <class Find>
MetricColumn column(const char* name, Find) {
  using Number = std::remove_cvref_t<decltype(Find{}(std::declval<FrameMetrics&>()))>;
  return {name, std::is_integral_v<Number>,
          [](const FrameMetrics& m) { return static_cast<double>(Find{}(m)); },
          [](FrameMetrics& m, double value) { Find{}(m) = static_cast<Number>(value); }};
}

}  // namespace

const std::vector<MetricColumn>& metric_columns() {
  static const std::vector<MetricColumn> all = {
      column(
          "iterations", [](auto& m) -> auto& { return m.iterations; }),
      column(
          "substeps", [](auto& m) -> auto& { return m.substeps; }),
      column(
          "fallbacks", [](auto& m) -> auto& { return m.fallbacks; }),
      column(
          "residual_worst", [](auto& m) -> auto& { return m.residual_worst; }),
      column(
          "penetration", [](auto& m) -> auto& { return m.penetration; }),
      column(
          "contact_count", [](auto& m) -> auto& { return m.contact_count; }),
      column(
          "contact_force_x", [](auto& m) -> auto& { return m.contact_force.x; }),
      column(
          "contact_force_y", [](auto& m) -> auto& { return m.contact_force.y; }),
      column(
          "contact_force_z", [](auto& m) -> auto& { return m.contact_force.z; }),
      column(
          "rubbing_count", [](auto& m) -> auto& { return m.rubbing_count; }),
      column(
          "sticking_count", [](auto& m) -> auto& { return m.sticking_count; }),
      column(
          "held_count", [](auto& m) -> auto& { return m.held_count; }),
      column(
          "gripper_force_x", [](auto& m) -> auto& { return m.gripper_force.x; }),
      column(
          "gripper_force_y", [](auto& m) -> auto& { return m.gripper_force.y; }),
      column(
          "gripper_force_z", [](auto& m) -> auto& { return m.gripper_force.z; }),
      column(
          "strain_max", [](auto& m) -> auto& { return m.strain.max; }),
      column(
          "strain_p95", [](auto& m) -> auto& { return m.strain.p95; }),
      column(
          "strain_mean", [](auto& m) -> auto& { return m.strain.mean; }),
      column(
          "stretch_max", [](auto& m) -> auto& { return m.strain.stretch_max; }),
      column(
          "stretch_p95", [](auto& m) -> auto& { return m.strain.stretch_p95; }),
      column(
          "compression_max", [](auto& m) -> auto& { return m.strain.compression_max; }),
      column(
          "row_strain", [](auto& m) -> auto& { return m.row_strain; }),
      column(
          "residual", [](auto& m) -> auto& { return m.measures.residual; }),
      column(
          "area_error_total", [](auto& m) -> auto& { return m.measures.area_error_total; }),
      column(
          "area_error_mean", [](auto& m) -> auto& { return m.measures.area_error_mean; }),
      column(
          "area_error_dispersion", [](auto& m) -> auto& { return m.measures.area_error_dispersion; }),
      column(
          "area_error_element_max", [](auto& m) -> auto& { return m.measures.area_error_element_max; }),
      column(
          "kinetic_energy", [](auto& m) -> auto& { return m.measures.kinetic_energy; }),
      column(
          "potential_energy", [](auto& m) -> auto& { return m.measures.potential_energy; }),
      column(
          "linear_momentum_x", [](auto& m) -> auto& { return m.measures.linear_momentum.x; }),
      column(
          "linear_momentum_y", [](auto& m) -> auto& { return m.measures.linear_momentum.y; }),
      column(
          "linear_momentum_z", [](auto& m) -> auto& { return m.measures.linear_momentum.z; }),
      column(
          "angular_momentum_x", [](auto& m) -> auto& { return m.measures.angular_momentum.x; }),
      column(
          "angular_momentum_y", [](auto& m) -> auto& { return m.measures.angular_momentum.y; }),
      column(
          "angular_momentum_z", [](auto& m) -> auto& { return m.measures.angular_momentum.z; }),
  };
  return all;
}

void check_finite(const std::vector<FrameMetrics>& metrics, std::int64_t frame, const std::string& where) {
  for (std::size_t g = 0; g < metrics.size(); ++g) {
    for (const MetricColumn& each : metric_columns()) {
      if (!std::isfinite(each.get(metrics[g]))) {
        throw NumericalError(text(where, ": frame ", frame, ", garment ", g, ": found ", each.name, " ",
                                  each.get(metrics[g]),
                                  ", expected a finite number; the frame was not written"));
      }
    }
  }
}

}  // namespace isocloth

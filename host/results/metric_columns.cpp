#include "host/results/metric_columns.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

/// A column of the number at the end of these members.
template <auto... path>
MetricColumn column(const char* name) {
  using Number = std::remove_cvref_t<decltype((std::declval<FrameMetrics&>().*....*path))>;
  return {name, std::is_integral_v<Number>,
          [](const FrameMetrics& m) { return static_cast<double>((m.*....*path)); },
          [](FrameMetrics& m, double value) { (m.*....*path) = static_cast<Number>(value); }};
}

/// One that files written before it was there lack.
template <auto... path>
MetricColumn optional_column(const char* name) {
  MetricColumn optional = column<path...>(name);
  optional.is_optional = true;
  return optional;
}

template <std::size_t number>
double energy_of(const FrameMetrics& m) {
  return m.energy.*std::get<number>(EnergySums::fields()).member;
}
template <std::size_t number>
void set_energy(FrameMetrics& m, double value) {
  m.energy.*std::get<number>(EnergySums::fields()).member = value;
}

/// Those of EnergySums behind others.
template <std::size_t... numbers>
std::vector<MetricColumn> and_energies(std::vector<MetricColumn> columns, std::index_sequence<numbers...>) {
  constexpr auto fields = EnergySums::fields();
  static_assert(sizeof...(numbers) == member_count<EnergySums>());
  (columns.push_back(
       {std::get<numbers>(fields).name, false, energy_of<numbers>, set_energy<numbers>, true, true}),
   ...);
  return columns;
}
constexpr auto energy_numbers() {
  return std::make_index_sequence<std::tuple_size_v<decltype(EnergySums::fields())>>();
}

}  // namespace

const std::vector<MetricColumn>& metric_columns() {
  static const std::vector<MetricColumn> own = {
      column<&FrameMetrics::iterations>("iterations"),
      column<&FrameMetrics::substeps>("substeps"),
      column<&FrameMetrics::fallbacks>("fallbacks"),
      column<&FrameMetrics::residual_worst>("residual_worst"),
      column<&FrameMetrics::penetration>("penetration"),
      column<&FrameMetrics::contact_count>("contact_count"),
      column<&FrameMetrics::contact_force, &Vec3d::x>("contact_force_x"),
      column<&FrameMetrics::contact_force, &Vec3d::y>("contact_force_y"),
      column<&FrameMetrics::contact_force, &Vec3d::z>("contact_force_z"),
      column<&FrameMetrics::rubbing_count>("rubbing_count"),
      column<&FrameMetrics::sticking_count>("sticking_count"),
      column<&FrameMetrics::held_count>("held_count"),
      column<&FrameMetrics::gripper_force, &Vec3d::x>("gripper_force_x"),
      column<&FrameMetrics::gripper_force, &Vec3d::y>("gripper_force_y"),
      column<&FrameMetrics::gripper_force, &Vec3d::z>("gripper_force_z"),
      column<&FrameMetrics::cloth_contacts>("cloth_contacts"),
      column<&FrameMetrics::held_back>("held_back"),
      optional_column<&FrameMetrics::compression>("compression"),
      optional_column<&FrameMetrics::eased_depth>("eased_depth"),
      optional_column<&FrameMetrics::cloth_loaded>("cloth_loaded"),
      optional_column<&FrameMetrics::cloth_force>("cloth_force"),
      optional_column<&FrameMetrics::cloth_gap>("cloth_gap"),
      optional_column<&FrameMetrics::cg_iterations>("cg_iterations"),
      optional_column<&FrameMetrics::substeps_max>("substeps_max"),
      column<&FrameMetrics::strain, &Strain::max>("strain_max"),
      column<&FrameMetrics::strain, &Strain::p95>("strain_p95"),
      column<&FrameMetrics::strain, &Strain::mean>("strain_mean"),
      column<&FrameMetrics::strain, &Strain::stretch_max>("stretch_max"),
      column<&FrameMetrics::strain, &Strain::stretch_p95>("stretch_p95"),
      column<&FrameMetrics::strain, &Strain::compression_max>("compression_max"),
      optional_column<&FrameMetrics::strain, &Strain::thread_max>("thread_strain_max"),
      optional_column<&FrameMetrics::strain, &Strain::thread_p95>("thread_strain_p95"),
      optional_column<&FrameMetrics::strain, &Strain::shear_max>("shear_max"),
      optional_column<&FrameMetrics::strain, &Strain::shear_p95>("shear_p95"),
      column<&FrameMetrics::row_strain>("row_strain"),
      column<&FrameMetrics::measures, &Measures::residual>("residual"),
      column<&FrameMetrics::measures, &Measures::area_error_total>("area_error_total"),
      column<&FrameMetrics::measures, &Measures::area_error_mean>("area_error_mean"),
      column<&FrameMetrics::measures, &Measures::area_error_dispersion>("area_error_dispersion"),
      column<&FrameMetrics::measures, &Measures::area_error_element_max>("area_error_element_max"),
      column<&FrameMetrics::measures, &Measures::kinetic_energy>("kinetic_energy"),
      column<&FrameMetrics::measures, &Measures::potential_energy>("potential_energy"),
      column<&FrameMetrics::measures, &Measures::elastic_energy>("elastic_energy"),
      optional_column<&FrameMetrics::measures, &Measures::hourglass_energy>("hourglass_energy"),
      column<&FrameMetrics::measures, &Measures::seam_opening>("seam_opening"),
      column<&FrameMetrics::measures, &Measures::linear_momentum, &Vec3d::x>("linear_momentum_x"),
      column<&FrameMetrics::measures, &Measures::linear_momentum, &Vec3d::y>("linear_momentum_y"),
      column<&FrameMetrics::measures, &Measures::linear_momentum, &Vec3d::z>("linear_momentum_z"),
      column<&FrameMetrics::measures, &Measures::angular_momentum, &Vec3d::x>("angular_momentum_x"),
      column<&FrameMetrics::measures, &Measures::angular_momentum, &Vec3d::y>("angular_momentum_y"),
      column<&FrameMetrics::measures, &Measures::angular_momentum, &Vec3d::z>("angular_momentum_z"),
  };
  static const std::vector<MetricColumn> all = and_energies(own, energy_numbers());
  return all;
}

std::vector<MetricColumn> metric_columns(bool has_energies) {
  std::vector<MetricColumn> found;
  std::ranges::copy_if(metric_columns(), std::back_inserter(found),
                       [&](const MetricColumn& column) { return has_energies || !column.is_energy; });
  return found;
}

std::vector<MetricColumn> columns_of(const std::string& names) {
  std::vector<MetricColumn> found;
  std::string own;
  for (const MetricColumn& column : metric_columns()) {
    if (column.is_optional && ("," + names + ",").find("," + column.name + ",") == std::string::npos)
      continue;
    own += (own.empty() ? "" : ",") + column.name;
    found.push_back(column);
  }
  return own == names ? found : std::vector<MetricColumn>();
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

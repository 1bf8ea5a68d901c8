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

/// The columns of what is `found` in metrics.
template <class Part, class Find>
void append(std::vector<MetricColumn>& columns, const Find& found, const std::string& part = "") {
  for_each_quantity<Part>([&](const auto& quantity) {
    using Type = std::remove_cvref_t<decltype(std::declval<Part&>().*quantity.member)>;
    const auto value = [ found, member = quantity.member ](auto& metrics) -> auto& {
      return found(metrics).*member;
    };
    const std::string name =
        quantity.about.files.column == nullptr ? quantity.name : quantity.about.files.column;
    const auto add = [&](const std::string& own, const auto& number) {
      using Number = std::remove_cvref_t<decltype(number(std::declval<FrameMetrics&>()))>;
      columns.push_back({own, name, quantity.about, part, std::is_integral_v<Number>,
                         std::is_same_v<Part, EnergySums>,
                         [number](const FrameMetrics& m) { return static_cast<double>(number(m)); },
                         [number](FrameMetrics& m, double from) { number(m) = static_cast<Number>(from); }});
    };
    if constexpr (HasQuantities<Type>) {
      append<Type>(columns, value, part.empty() ? quantity.name : part);
    } else if constexpr (std::is_same_v<Type, Vec3d>) {
      add(
          name + "_x", [value](auto& m) -> auto& { return value(m).x; });
      add(
          name + "_y", [value](auto& m) -> auto& { return value(m).y; });
      add(
          name + "_z", [value](auto& m) -> auto& { return value(m).z; });
    } else if constexpr (std::is_arithmetic_v<Type>) {
      if (!name.empty()) add(name, value);
    }
  });
}

/// Files have these where they came first.
void move_before(std::vector<MetricColumn>& columns, const char* first, const char* last, const char* next) {
  const auto at = [&](const char* name) { return std::ranges::find(columns, name, &MetricColumn::name); };
  std::rotate(at(next), at(first), at(last) + 1);
}

}  // namespace

const std::vector<MetricColumn>& metric_columns() {
  static const std::vector<MetricColumn> all = [] {
    std::vector<MetricColumn> columns;
    append<FrameMetrics>(
        columns, [](auto& metrics) -> auto& { return metrics; });
    move_before(columns, "contact_count", "gripper_force_z", "cloth_contacts");
    move_before(columns, "substeps_max", "substeps_max", "strain_max");
    return columns;
  }();
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
    if (column.about.files.is_optional &&
        ("," + names + ",").find("," + column.name + ",") == std::string::npos)
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

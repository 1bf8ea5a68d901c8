// The numbers of FrameMetrics by name, once for the table, the trajectory and the checkpoint.
#pragma once

#include <string>
#include <vector>

#include "host/results/run_record.hpp"

namespace isocloth {

struct MetricColumn {
  std::string name;
  bool is_integer = false;
  double (*get)(const FrameMetrics&) = nullptr;
  void (*set)(FrameMetrics&, double) = nullptr;
  bool is_optional = false;  ///< files of this format may lack it, and have what FrameMetrics{} has
  bool is_energy = false;    ///< of EnergySums: files of runs without a balance lack it
};

/// Every number of FrameMetrics but the status.
const std::vector<MetricColumn>& metric_columns();

/// The same, of a run with a balance of energy or without.
std::vector<MetricColumn> metric_columns(bool has_energies);

/// The columns of a file that names them so (metric_names()), in its order; none where these are not those of
/// metric_columns() but for some that came later.
std::vector<MetricColumn> columns_of(const std::string& names);

/// Throws NumericalError naming frame, garment and column of the first number that is not finite.
void check_finite(const std::vector<FrameMetrics>& metrics, std::int64_t frame, const std::string& where);

}  // namespace isocloth

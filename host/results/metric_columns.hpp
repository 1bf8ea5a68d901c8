// The numbers of FrameMetrics by name, for the table, the trajectory, the checkpoint, the page and sweeps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/results/run_record.hpp"

namespace isocloth {

struct MetricColumn {
  std::string name;
  std::string vector;  ///< of the components of one its name, else the name itself
  About about;
  std::string part;  ///< member of FrameMetrics that has it, empty: it is one itself
  bool is_integer = false;
  bool is_energy = false;  ///< of EnergySums: files of runs without a balance lack it
  std::function<double(const FrameMetrics&)> get;
  std::function<void(FrameMetrics&, double)> set;
};

/// Every number of FrameMetrics but those that are in no file.
const std::vector<MetricColumn>& metric_columns();

/// The same, of a run with a balance of energy or without.
std::vector<MetricColumn> metric_columns(bool has_energies);

/// The columns of a file that names them so (metric_names()), in its order; none where these are not those of
/// metric_columns() but for some that came later.
std::vector<MetricColumn> columns_of(const std::string& names);

/// Throws NumericalError naming frame, garment and column of the first number that is not finite.
void check_finite(const std::vector<FrameMetrics>& metrics, std::int64_t frame, const std::string& where);

}  // namespace isocloth

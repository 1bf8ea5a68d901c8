// summary.json and metrics.csv.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/results/run_record.hpp"

namespace isocloth {

/// The summary as JSON, a key per number. A number that is not known, NaN in memory, is null; an infinite one
/// throws NumericalError.
std::string summary_json(const RunSummary& summary);

/// The keys of summary.json in order, and what is known of their values.
struct SummaryKey {
  std::string name;
  About about;
};
std::vector<SummaryKey> summary_keys();

/// The inverse of summary_json(); throws FileError naming `source` and the key that is missing or of another
/// type.
RunSummary parse_summary(const std::string& content, const std::string& source);
RunSummary read_summary(const std::filesystem::path& path);

/// Names of the metric columns in order, with commas between them; has_energies: of a run with a balance of
/// energy.
std::string metric_names(bool has_energies = true);

/// First line of metrics.csv, and the lines of one frame, a line per garment.
std::string metrics_header(bool has_energies);
std::string metrics_lines(std::int64_t frame, std::int64_t step, double time,
                          const std::vector<std::string>& garments, const std::vector<FrameMetrics>& metrics,
                          bool has_energies);

}  // namespace isocloth

// The report of a run that is on disk.
#pragma once

#include <vector>

#include "host/io/trajectory_file.hpp"
#include "host/report/report.hpp"

namespace isocloth {

/// What write_report needs, from a trajectory, which must outlive the result, and its summary. pinned_nodes:
/// per garment, counted from its first node; empty draws no pins. Throws ShapeError when pinned_nodes has
/// another number of garments.
ReportData report_from(const TrajectoryFile& trajectory, const RunSummary& summary,
                       const std::vector<std::vector<Index>>& pinned_nodes = {});

}  // namespace isocloth

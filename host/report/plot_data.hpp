// The curves of the report page.
#pragma once

#include <nlohmann/json.hpp>

#include "host/report/report.hpp"

namespace isocloth {

/// Sample times and one group of curves for all garments together, then, up to 16 garments, one for each: the
/// numbers of metric_columns that the page draws, those that are there. Of several garments or frames in one
/// sample the worst counts (of gaps the least); energies are summed over garments at the first frame of the
/// sample. Curves are base64 of float32, status of uint8; contacts and grippers are left out where there are
/// none.
nlohmann::ordered_json plot_json(const ReportData& data);

}  // namespace isocloth

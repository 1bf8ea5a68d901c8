// The curves of the report page.
#pragma once

#include <nlohmann/json.hpp>

#include "host/report/report.hpp"

namespace isocloth {

/// Sample times and one group of columns for all garments together, then, up to 16 garments, one for each.
/// Of several garments or frames in one sample the worst counts; strain_mean is the mean over garments,
/// energies are summed over garments at the first frame of the sample. Columns are base64 of float32, status
/// of uint8.
nlohmann::ordered_json plot_json(const ReportData& data);

}  // namespace isocloth

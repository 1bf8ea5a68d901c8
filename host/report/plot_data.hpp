// The curves of the report page.
#pragma once

#include <nlohmann/json.hpp>

#include "host/report/report.hpp"

namespace isocloth {

/// Sample times, the plots with their titles, units and labels, and one group of curves for all garments
/// together, then, up to 16 garments, one for each: the quantities with a plot (About::plot) that are not all
/// the time what they are without steps. Of several garments or frames in one sample the worst counts (of
/// gaps the least); energies are summed over garments at the first frame of the sample. Curves are base64 of
/// float32, status of uint8.
nlohmann::ordered_json plot_json(const ReportData& data);

}  // namespace isocloth

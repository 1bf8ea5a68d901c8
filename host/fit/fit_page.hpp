// A fit as one HTML page.
#pragma once

#include <string>

#include "host/fit/fit_record.hpp"

namespace isocloth {

/// Numbers, errors, plots, and of each experiment with positions the recording beside the fitted cloth to
/// play and turn; needs nothing else. Of many samples one in so many is kept, so that a player stays below 8
/// MiB.
std::string fit_page(const FitProblem& problem, const FitRecord& record);

}  // namespace isocloth

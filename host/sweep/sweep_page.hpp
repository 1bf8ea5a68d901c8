// A sweep as one HTML page.
#pragma once

#include <string>

#include "host/sweep/sweep_table.hpp"

namespace isocloth {

/// Every measure as a picture to choose from, and the table of the first thousand cases; needs nothing else.
std::string sweep_page(const SweepTable& table, const std::string& title);

}  // namespace isocloth

// The command `rest` with a recipe of particles.
#pragma once

#include <CLI/CLI.hpp>

#include "host/run/minimise_scene.hpp"

namespace isocloth {

/// Options of `rest` that belong to --recipe; `command` and `request` must outlive the parsing.
void add_minimise_options(CLI::App& command, MinimiseRequest& request);

/// Minimises, with progress and Ctrl-C, and prints how it went, as JSON if asked. Throws what
/// minimise_scene() throws.
MinimiseSummary run_minimise_command(MinimiseRequest request, bool json, bool quiet);

}  // namespace isocloth

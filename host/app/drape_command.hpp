// The command `drape`.
#pragma once

#include <CLI/CLI.hpp>

#include "host/run/drape_scene.hpp"

namespace isocloth {

/// Adds the options of `drape` but --json; `command` and `request` must outlive the parsing.
void add_drape_options(CLI::App& command, DrapeRequest& request);

/// Hangs the cloth and prints how well its lengths and areas are kept, as JSON if asked. Throws what
/// drape_scene() throws.
void run_drape_command(const DrapeRequest& request, bool json);

}  // namespace isocloth

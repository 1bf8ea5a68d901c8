// The command line of `isocloth sweep`.
#pragma once

#include <CLI/CLI.hpp>

#include "host/sweep/run_sweep.hpp"

namespace isocloth {

struct SweepCommand {
  SweepRequest request;
  bool quiet = false, overwrite = false, resume = false;
};

/// The options of a sweep but those of every simulation (backend, precision, threads).
void add_sweep_options(CLI::App& command, SweepCommand& sweep);

/// Runs it, with progress and Ctrl-C; prints a line or JSON.
SweepOutcome run_sweep_command(SweepCommand& sweep, bool json);

}  // namespace isocloth

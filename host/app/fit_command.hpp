// `isocloth fit`.
#pragma once

#include <CLI/CLI.hpp>

#include "host/fit/run_fit.hpp"

namespace isocloth {

struct FitCommand {
  FitRequest request;
  bool overwrite = false, resume = false, quiet = false, simulate = false, schema = false;
};

void add_fit_options(CLI::App& command, FitCommand& fit);

/// Returns the exit code: 0 done, 1 a search that is not at its end, 130 interrupted.
int run_fit_command(FitCommand& fit, bool json);

}  // namespace isocloth

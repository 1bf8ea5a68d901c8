// The command `run`.
#pragma once

#include "host/run/run_scene.hpp"

namespace isocloth {

/// Runs a scene, with progress and Ctrl-C, and prints how it went, as JSON if asked. Throws what run_scene
/// throws.
RunSummary run_scene_file(RunRequest request, bool json, bool quiet);

}  // namespace isocloth

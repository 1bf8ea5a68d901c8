// The command `check`: what `run` would do with a scene, short of running it.
#pragma once

#include <filesystem>

#include "host/files/file_access.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

/// Brings the scene to its first frame as `run` does and prints what was found: steps and frames, of each
/// garment its size, place, solver, pins and grippers, and warnings; as JSON if asked. Throws what
/// read_scene and start_simulation throw.
void check_scene_file(const std::filesystem::path& path, const FileAccess& access,
                      const ExecutionOptions& execution, bool json);

}  // namespace isocloth

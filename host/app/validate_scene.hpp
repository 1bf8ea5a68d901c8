// Compares kernels and reference over the first steps of a scene.
#pragma once

#include <cstdint>
#include <filesystem>

#include "host/files/file_access.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

/// Prints the worst difference of every quantity with its tolerance, as a table or as JSON. steps: 0 for the
/// whole scene. Returns whether all lie within their tolerances. Throws what read_scene and validate throw.
bool validate_scene_file(const std::filesystem::path& scene, const FileAccess& access,
                         const ExecutionOptions& execution, std::int64_t steps, bool json, bool quiet);

}  // namespace isocloth

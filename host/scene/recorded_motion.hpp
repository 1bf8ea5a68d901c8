// Recorded paths of driven nodes.
#pragma once

#include <filesystem>

#include "engine/model/motion.hpp"

namespace isocloth {

/// Reads rows t [s], x1, y1, z1, x2, y2, z2, ... [m], three columns per driven node (read_number_rows).
/// `name` is what RecordedMotion::file keeps. Throws FileError naming file and line: what read_number_rows
/// refuses, and times that do not ascend.
RecordedMotion read_recorded_motion(const std::filesystem::path& path, const std::string& name,
                                    std::size_t node_count);

}  // namespace isocloth

// Recorded paths of driven nodes.
#pragma once

#include <filesystem>

#include "engine/model/motion.hpp"

namespace isocloth {

/// Reads a CSV file of rows t [s], x1, y1, z1, x2, y2, z2, ... [m], three columns per driven node; the first
/// line may be a header; blank lines and lines that begin with # are skipped. `name` is what
/// RecordedMotion::file keeps. Throws FileError naming file and line: missing file, no rows, a wrong number
/// of columns, a word that is not a finite number, times that do not ascend.
RecordedMotion read_recorded_motion(const std::filesystem::path& path, const std::string& name,
                                    std::size_t node_count);

}  // namespace isocloth

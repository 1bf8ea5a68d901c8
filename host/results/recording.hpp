// What was seen: points over time, some of them missing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/core/vec3.hpp"
#include "host/results/trajectory_file.hpp"

namespace isocloth {

struct Recording {
  std::string file;  ///< name of the file for messages
  std::size_t point_count = 0;
  std::vector<double> times;  ///< times of the samples [s], ascending, shape [sample]
  std::vector<Vec3d> values;  ///< what was recorded of the points, shape [sample, point]; NaN: not seen

  const Vec3d& at(std::size_t sample, std::size_t point) const {
    return values[sample * point_count + point];
  }
  /// The value of a point at time t, linear between the samples in which it was seen and constant outside of
  /// them. Throws FileError for a point that was never seen.
  Vec3d at_time(std::size_t point, double t) const;
};

/// Whether all three coordinates are there.
bool is_seen(const Vec3d& value);

/// Every node of the first garment, at all frames; `path` is for messages. Throws FileError without garment
/// or frame, and where the file is damaged.
Recording first_garment_of(const TrajectoryFile& file, const std::filesystem::path& path);

/// `point_count`: how many are expected, 0 any; `meaning` of a row, for messages. By the name: rows of a .csv
/// (read_number_rows, with gaps), the first garment of a result folder or trajectory.h5, or datasets `times`
/// [sample] and `positions` [sample, point, 3] of an HDF5 file, NaN where a point was not seen. Throws
/// FileError naming file and line: what these cannot read, times that do not ascend, another number of
/// columns or points, a coordinate without the other two, no point that was seen at all.
Recording read_recording(const std::filesystem::path& path, std::size_t point_count,
                         const std::string& meaning);

/// Rows of a .csv that read_recording reads back as the same numbers.
std::string recording_csv(const Recording& recording, const std::string& header);

}  // namespace isocloth

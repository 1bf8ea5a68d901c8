// trajectory.h5 while a run writes it; what is in it: host/results/trajectory_file.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "host/files/hdf5_file.hpp"
#include "host/results/metric_columns.hpp"
#include "host/results/trajectory_layout.hpp"

namespace isocloth {

/// Writes frames, many at once: what was appended since the last flush is lost when the program is killed,
/// the frames before are readable.
class TrajectoryWriter {
 public:
  /// Keeps room for `reserve_bytes` more than the file needs, given back when it is closed: a full disk then
  /// leaves room for a last checkpoint. Throws FileError.
  TrajectoryWriter(const std::filesystem::path& path, const TrajectoryLayout& layout,
                   std::uint64_t reserve_bytes = 0);
  /// Throws ShapeError, NumericalError (a non-finite number) naming frame number `index`, as append does.
  void check(const TrajectoryFrame& frame, std::int64_t index) const;
  /// Throws ShapeError, NumericalError (nothing is written), FileError (disk full).
  void append(const TrajectoryFrame& frame);
  /// Positions [m] as a reader of the frame that was appended last gets them, shape [node, 3].
  std::vector<double> stored(std::vector<double> positions) const;
  void flush();
  void close();
  std::int64_t frame_count() const { return frame_count_; }

 private:
  struct Range {
    std::size_t begin = 0, end = 0;  // nodes
    double shortest_edge = 0;        // [m]
    Vec3d origin;
  };

  void write_obstacles(const TrajectoryLayout& layout);
  void update_origin(Range& garment, const std::vector<double>& positions) const;
  void write_rows();

  Hdf5File file_;
  std::size_t node_count_ = 0, garment_count_ = 0, pose_size_ = 0;
  std::vector<Range> ranges_;  // of garments whose positions are kept
  bool is_float64_ = false, has_contact_loads_ = false;
  std::int64_t frame_count_ = 0, chunk_rows_ = 1;
  std::uint64_t frame_bytes_ = 0, reserve_bytes_ = 0;
  // Rows that are not in the file yet, shape [row, ...] each.
  std::int64_t row_count_ = 0;
  std::vector<double> positions_, origins_, times_;
  std::vector<float> small_positions_, poses_, contact_loads_;
  std::vector<std::int64_t> steps_;
  std::vector<std::int32_t> statuses_;
  const std::vector<MetricColumn> metric_columns_;
  std::vector<std::vector<std::int32_t>> integer_columns_;  // by metric column, empty for the others
  std::vector<std::vector<double>> columns_;
};

}  // namespace isocloth

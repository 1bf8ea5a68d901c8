// trajectory.h5: where every node was at every frame, and how exact the frame is.
//
// Datasets: positions [frame, node, 3] (m, the garments of which they are kept, one after another: replicas
// of one sheet are positions.reshape(frames, sheets, nodes, 3)), relative to origins float64 [frame, garment,
// 3]: a node of garment g is at origins[frame, g] + positions[frame, node]. An origin is zero until float32
// would be off by more than 1e-5 of the garment's shortest edge, far from the world's origin; then it is the
// middle of the garment and stays until that is too far away in turn. Positions are float32, or float64 where
// an edge is so short beside its garment that no origin helps. times float64 [frame] (s), steps int64
// [frame], faces int32 [face, 4] (nodes of the whole scene; the fourth is -1 for a triangle), rest_positions
// float64 [node, 3], absolute; garments/name, node_begin, node_count, face_begin, face_count [garment];
// diagnostics/status (code_of(StepStatus)), int32, and a dataset of each metric column, int32 or float64,
// each [frame, garment]; files of before a column was added lack it (is_optional). Where cloth meets cloth,
// with an attribute of the same name, contact_loads float32 [frame, node] (N): sums of the sizes of the
// forces of contacts between cloths on the node, 4 bytes per node and frame beside the 12 of its position.
// Attribute obstacle_count; with obstacles: obstacles/name, obstacles/shape; of obstacle i in its own frame
// obstacles/i/vertices float32 [vertex, 3] (m) and obstacles/i/triangles int32 [triangle, 3];
// obstacles/clock_offsets float64 [clock] (s), obstacles/poses float32 [frame, clock, obstacle, 7] (centre in
// m, quaternion x, y, z, w); garments/clock: which clock each garment meets them by. Attributes format,
// version and columns (the metric columns, in order) say who can read it. All datasets carry Fletcher32
// checksums, and parts that are missing read as NaN or the least integer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/results/metric_columns.hpp"
#include "host/results/trajectory_layout.hpp"

namespace isocloth {

class Hdf5File;

/// A trajectory to read: small things in memory, frames on request. Not for several threads at once.
class TrajectoryFile {
 public:
  /// Throws FileError when the file is missing, damaged, of another kind, version or with other columns.
  explicit TrajectoryFile(const std::filesystem::path& path);
  ~TrajectoryFile();
  TrajectoryFile(TrajectoryFile&&) noexcept;

  const TrajectoryLayout& layout() const { return layout_; }
  std::size_t frame_count() const { return times_.size(); }
  /// Times of the frames [s], shape [frame].
  const std::vector<double>& times() const { return times_; }
  /// Step of each frame, shape [frame].
  const std::vector<std::int64_t>& steps() const { return steps_; }
  const FrameMetrics& metrics(std::size_t frame, std::size_t garment) const {
    return metrics_[frame * layout_.garments.size() + garment];
  }
  /// Positions of the nodes in a frame, origins added [m], shape [node, 3]. Throws FileError where the file
  /// is damaged.
  std::vector<double> positions(std::size_t frame) const;
  /// Poses of the obstacles in a frame, shape [clock, obstacle, 7].
  std::vector<float> obstacle_poses(std::size_t frame) const;
  /// Loads of contacts between cloths in a frame [N], shape [node]; empty where the file has none.
  std::vector<float> contact_loads(std::size_t frame) const;
  TrajectoryFrame frame(std::size_t frame) const;

 private:
  void check_version();
  void read_layout(std::uint64_t obstacle_count);
  void read_obstacles(std::size_t count);
  void read_metrics(std::size_t frame_count);
  bool has_numbers(std::size_t frame) const;
  bool is_whole(std::size_t frame) const;
  void read_positions(std::size_t frame) const;
  template <class T>
  void check_numbers(const char* name, std::size_t frame, const std::vector<T>& values) const;
  template <class T>
  std::vector<T> read_frames(const std::string& name, std::size_t frame_count,
                             std::optional<std::size_t> row_size) const;

  std::unique_ptr<Hdf5File> file_;     // no user needs its header
  std::vector<MetricColumn> columns_;  // of the file
  TrajectoryLayout layout_;
  std::vector<double> times_;
  std::vector<std::int64_t> steps_;
  std::vector<FrameMetrics> metrics_;  // shape [frame, garment]
  // Positions of some frames around the one that was asked for last.
  mutable std::size_t first_read_ = 0, read_count_ = 0;
  mutable std::vector<double> read_;
};

inline TrajectoryFile read_trajectory(const std::filesystem::path& path) { return TrajectoryFile(path); }

}  // namespace isocloth

// trajectory.h5: where every node was at every frame, and how exact the frame is.
//
// Datasets: positions float32 [frame, node, 3] (the garments of which they are kept, one after another, in
// m), times float64 [frame] (s), steps int64 [frame], faces int32 [face, 4] (nodes of the whole scene; the
// fourth is -1 for a triangle), rest_positions float64 [node, 3]; garments/name, node_begin, node_count,
// face_begin, face_count [garment]; diagnostics/status (0 converged, 1 stalled, 2 non_finite), iterations,
// substeps int32 and every other member of FrameMetrics float64, each [frame, garment].
// Attribute obstacle_count; with obstacles: obstacles/name, obstacles/shape; of obstacle i in its own frame
// obstacles/i/vertices float32 [vertex, 3] (m) and obstacles/i/triangles int32 [triangle, 3];
// obstacles/clock_offsets float64 [clock] (s), obstacles/poses float32 [frame, clock, obstacle, 7] (centre in
// m, quaternion x, y, z, w); garments/clock: which clock each garment meets them by.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/io/hdf5_file.hpp"
#include "host/io/run_record.hpp"

namespace isocloth {

/// One garment's part of the nodes and faces; both counts are 0 when its positions are not kept.
struct TrajectoryGarment {
  std::string name;
  Index node_begin = 0, node_count = 0, face_begin = 0, face_count = 0;
  Index clock = 0;  ///< of clock_offsets, 0 when its positions are not kept
};

/// What an obstacle looks like, in its own frame.
struct TrajectoryObstacle {
  std::string name, shape;       ///< shape: see shape_name
  std::vector<float> vertices;   ///< [m], shape [vertex, 3]
  std::vector<Index> triangles;  ///< shape [triangle, 3]
};

struct TrajectoryLayout {
  std::vector<TrajectoryGarment> garments;
  std::vector<std::array<Index, 4>> faces;  ///< nodes of the whole scene, -1 in fourth place for a triangle
  std::vector<Vec3d> rest_positions;        ///< [m], shape [node]
  std::vector<TrajectoryObstacle> obstacles;
  /// Distinct time offsets of the garments whose positions are kept [s], shape [clock]; empty without
  /// obstacles.
  std::vector<double> clock_offsets;
  /// All garments as one mesh.
  Mesh mesh() const;
  /// The first garments whose positions are kept.
  std::size_t frames_of() const;
  /// Numbers in the poses of one frame.
  std::size_t pose_size() const { return 7 * clock_offsets.size() * obstacles.size(); }
};
/// With positions of the first `frames_of` garments; diagnostics are of all.
TrajectoryLayout trajectory_layout(const Scene& scene,
                                   std::size_t frames_of = std::numeric_limits<std::size_t>::max());

struct TrajectoryFrame {
  std::int64_t step = 0;
  double time = 0;                    ///< [s]
  std::vector<float> positions;       ///< [m], shape [node, 3]
  std::vector<FrameMetrics> metrics;  ///< shape [garment]
  /// See obstacle_poses, shape [clock, obstacle, 7].
  std::vector<float> obstacle_poses = {};
};

/// Writes frames one by one; after each the file on disk is complete, so that a killed run leaves it
/// readable.
class TrajectoryWriter {
 public:
  /// Throws FileError.
  TrajectoryWriter(const std::filesystem::path& path, const TrajectoryLayout& layout);
  /// Throws ShapeError, NumericalError (a non-finite number; nothing is written), FileError (disk full).
  void append(const TrajectoryFrame& frame);
  void close();

 private:
  void write_obstacles(const TrajectoryLayout& layout);

  Hdf5File file_;
  std::size_t node_count_ = 0, garment_count_ = 0, pose_size_ = 0;
  std::int64_t frame_count_ = 0;
};

/// A trajectory to read: small things in memory, frames on request.
class TrajectoryFile {
 public:
  /// Throws FileError when the file is missing, damaged or of another kind.
  explicit TrajectoryFile(const std::filesystem::path& path);

  const TrajectoryLayout& layout() const { return layout_; }
  std::size_t frame_count() const { return times_.size(); }
  const std::vector<double>& times() const { return times_; }        ///< [s], shape [frame]
  const std::vector<std::int64_t>& steps() const { return steps_; }  ///< shape [frame]
  const FrameMetrics& metrics(std::size_t frame, std::size_t garment) const {
    return metrics_[frame * layout_.garments.size() + garment];
  }
  std::vector<float> positions(std::size_t frame) const;       ///< [m], shape [node, 3]
  std::vector<float> obstacle_poses(std::size_t frame) const;  ///< shape [clock, obstacle, 7]
  TrajectoryFrame frame(std::size_t frame) const;

 private:
  void read_obstacles(std::size_t count);

  Hdf5File file_;
  TrajectoryLayout layout_;
  std::vector<double> times_;
  std::vector<std::int64_t> steps_;
  std::vector<FrameMetrics> metrics_;  // shape [frame, garment]
};

inline TrajectoryFile read_trajectory(const std::filesystem::path& path) { return TrajectoryFile(path); }

}  // namespace isocloth

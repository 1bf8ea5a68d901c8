// What a trajectory has besides its frames, and one frame.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/results/run_record.hpp"

namespace isocloth {

/// One garment's part of the nodes and faces; both counts are 0 when its positions are not kept.
struct TrajectoryGarment {
  std::string name;
  Index node_begin = 0, node_count = 0, face_begin = 0, face_count = 0;
  Index clock = 0;  ///< number of the garment's clock in clock_offsets, 0 when its positions are not kept
};

/// What an obstacle looks like, in its own frame.
struct TrajectoryObstacle {
  std::string name, shape;       ///< name of the obstacle, and of its shape, see shape_name
  std::vector<float> vertices;   ///< vertices of the surface [m], shape [vertex, 3]
  std::vector<Index> triangles;  ///< vertices of the triangles, shape [triangle, 3]
};
/// The surface of an obstacle as obstacle_surface() has it.
TrajectoryObstacle trajectory_obstacle(const std::string& name, const ObstacleShape& shape);

struct TrajectoryLayout {
  std::vector<TrajectoryGarment> garments;
  std::vector<std::array<Index, 4>> faces;  ///< nodes of the whole scene, -1 in fourth place for a triangle
  std::vector<Vec3d> rest_positions;        ///< positions of the nodes at rest [m], shape [node]
  std::vector<TrajectoryObstacle> obstacles;
  /// Distinct time offsets of the garments whose positions are kept [s], shape [clock]; empty without
  /// obstacles.
  std::vector<double> clock_offsets;
  bool has_contact_loads = false;  ///< whether cloth meets cloth, so that frames have contact_loads
  bool has_energies = false;       ///< whether metrics have EnergySums
  /// Number of frames that the run will have, 0: not known. Files of short runs are laid out smaller.
  std::int64_t expected_frames = 0;
  /// All garments as one mesh.
  Mesh mesh() const;
  /// Number of the first garments whose positions are kept.
  std::size_t frames_of() const;
  /// How many numbers are in the poses of one frame.
  std::size_t pose_size() const { return 7 * clock_offsets.size() * obstacles.size(); }
};
/// Layout of a scene's trajectory with positions of the first `frames_of` garments; diagnostics are of all.
TrajectoryLayout trajectory_layout(const Scene& scene,
                                   std::size_t frames_of = std::numeric_limits<std::size_t>::max());

struct TrajectoryFrame {
  std::int64_t step = 0;
  double time = 0;                    ///< time of the scene [s]
  std::vector<double> positions;      ///< positions of the nodes [m], shape [node, 3]
  std::vector<FrameMetrics> metrics;  ///< metrics of the garments, shape [garment]
  /// Poses of the obstacles, see obstacle_poses(); shape [clock, obstacle, 7].
  std::vector<float> obstacle_poses = {};
  /// ClothLoads::loads of the nodes [N], shape [node]; empty unless the layout has them.
  std::vector<float> contact_loads = {};
};

}  // namespace isocloth

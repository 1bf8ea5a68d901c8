// The report of a run: one HTML file that shows the cloth in motion and plots its errors, without any
// network.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"
#include "engine/model/membrane_stress.hpp"
#include "host/results/run_record.hpp"

namespace isocloth {

/// One garment of the report; garments follow each other in the node order of a frame. The last ones may have
/// no nodes and faces: their frames were not kept, the page plots their metrics alone.
struct ReportGarment {
  std::string name;
  Index node_begin = 0;  ///< first node of the garment within a frame
  Index node_count = 0;
  std::vector<Index> face_begin;  ///< first corner of each face, shape [face_count + 1], as in Mesh
  /// Nodes of the faces, 3 or 4 per face, counted from node_begin, shape [corner_count].
  std::vector<Index> face_nodes;
  /// Coordinates of the corners in the pattern [m], as in Mesh, shape [corner_count] or empty.
  std::vector<Vec2d> corner_uvs;
  std::vector<Index> pinned_nodes;  ///< nodes drawn as dots, counted from node_begin; may be empty
  /// Number of the clock by which it meets the obstacles, see ReportData::obstacle_poses.
  Index clock = 0;
  /// Law of the garment's elements, which are coloured by their stress then.
  std::optional<MembraneLaw> law{};
  /// What faces differ in from the fabric of `law`, as in Mesh; shape [face_count] or empty.
  std::vector<FabricFactors> face_factors{};
  bool is_kinematic = false;  ///< a body (is_kinematic() of a garment): drawn plain, and without errors
};

/// What an obstacle looks like in its own frame; a plane is drawn as large as the run.
struct ReportObstacle {
  std::string name, shape;       ///< name of the obstacle, and of its shape: "plane", ... (shape_name)
  std::vector<float> vertices;   ///< vertices of the surface [m], shape [vertex_count, 3]
  std::vector<Index> triangles;  ///< vertices of the triangles, shape [triangle_count, 3]
};

/// All that the page shows.
struct ReportData {
  RunSummary summary;
  std::vector<ReportGarment> garments;
  /// Rest shape of all garments [m], shape [node_count, 3]; errors are measured from it.
  std::vector<double> rest_positions;
  std::vector<double> frame_times;  ///< times of the frames [s], ascending, shape [frame_count >= 1]
  /// Positions of one frame [m], shape [node_count, 3]; called once per frame that the page keeps, in order.
  std::function<std::vector<double>(std::size_t frame)> frame_positions;
  /// Loads of contacts between cloths in one frame [N], shape [node_count] (ClothLoads); called as
  /// frame_positions is; empty: there are none.
  std::function<std::vector<float>(std::size_t frame)> contact_loads{};
  /// Metrics of each garment in each frame, shape [frame_count, garment_count].
  std::vector<FrameMetrics> metrics;
  std::vector<ReportObstacle> obstacles;
  std::size_t clock_count = 1;  ///< number of distinct clocks of the garments
  /// Whether some garments may touch: shown together, wherever they are.
  bool garments_meet = false;
  /// Poses of the obstacles in one frame, shape [clock_count, obstacle_count, 7] (PackedPose); called as
  /// frame_positions is, unless there are no obstacles.
  std::function<std::vector<float>(std::size_t frame)> obstacle_poses;
  /// Most that the playback may take within the page; frames, then garments, are left out until it fits.
  std::size_t playback_limit_bytes = 12u << 20;
};

/// Writes the page to a temporary file beside `file`, then renames it. Positions are stored with 16 bits per
/// coordinate of the run's bounding box; frames are left out evenly, down to 48, then whole garments from
/// the last on, until the playback fits its limit (the first garment always stays); the page says so.
/// Obstacles are drawn as they are given, at their poses, those that stand still with one pose. Plots use all
/// frames, the worst of several where there are more than 4000. Colours are the signed area error of an
/// element, Coltraro 2022, (22), at each node the strain of the incident edge that is stretched or compressed
/// most, of garments with a law the stress of elements (ElementStresses), and where cloth meets cloth at each
/// node the load of contacts over its part of the rest shape's area. Throws ShapeError when sizes do
/// not belong together or there is no frame, NumericalError when a position or time is not finite or a number
/// of the summary infinite, FileError when the file cannot be written. Checked in tests/report.
void write_report(const std::filesystem::path& file, const ReportData& data);

}  // namespace isocloth

// Shapes of hanging cloth by geometry alone: initial shapes, and something to compare with.
#pragma once

#include <string>
#include <vector>

#include "engine/core/monitor.hpp"
#include "engine/drape/hanging_sheet.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// Positions [m], shape [node_count], of a mesh hung from points by weil_catenaries() and relax_distances(),
/// or by laplace_drape(). The same input has the same bits on any number of threads. Throws SceneError
/// beginning with `key` as HangingSheet and weil_catenaries() do, Interrupted when the monitor says stop.
std::vector<Vec3d> drape(const Mesh& mesh, const std::vector<HangingPoint>& points,
                         const DrapeSettings& settings, const std::string& key,
                         const MonitorView& monitor = {});

/// Where the garment's pins have their nodes at time t of its clock [s].
std::vector<HangingPoint> hanging_points(const Garment& garment, double t);

const char* to_string(DrapeMethod method);

/// How far a shape lies from one of unstretched cloth.
struct ShapeMeasures {
  /// Mean, 95th percentile and maximum of |l / l0 - 1| over the edges.
  double edge_error_mean = 0, edge_error_p95 = 0, edge_error_max = 0;
  /// Mean, 95th percentile and maximum of |A / A0 - 1| over the faces.
  double area_error_mean = 0, area_error_p95 = 0, area_error_max = 0;
  double area_error_total = 0;  ///< |A / A0 - 1| of the whole area
  double sag = 0;            ///< how far the lowest node hangs below the lowest hanging point, at least 0 [m]
  double center_height = 0;  ///< height of the centre of mass [m]; gravity's potential energy over weight
};
/// Faces are measured by element_area(), as those of a run. hanging: of nodes, at least one. Exact
/// percentiles.
ShapeMeasures measure_shape(const Mesh& mesh, const std::vector<Vec3d>& positions,
                            const std::vector<Index>& hanging);

}  // namespace isocloth

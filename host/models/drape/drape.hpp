// Shapes of hanging cloth by geometry alone: initial shapes, and something to compare with.
#pragma once

#include <string>
#include <vector>

#include "engine/core/monitor.hpp"
#include "engine/models/drape/hanging_sheet.hpp"

namespace isocloth {

/// Positions [m], shape [node_count], of a mesh hung from points by weil_catenaries() and relax_distances(),
/// or by laplace_drape(). The same input has the same bits on any number of threads. Throws SceneError
/// beginning with `key` as HangingSheet and weil_catenaries() do, Interrupted when the monitor says stop.
std::vector<Vec3d> drape(const Mesh& mesh, const std::vector<HangingPoint>& points,
                         const DrapeSettings& settings, const std::string& key,
                         const MonitorView& monitor = {});

}  // namespace isocloth

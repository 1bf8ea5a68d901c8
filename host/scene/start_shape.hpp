// The shape in which cloth starts that hangs from its pins.
#pragma once

#include <string>
#include <vector>

#include "engine/core/monitor.hpp"
#include "engine/model/drape_settings.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// Where the garment's pins have their nodes at time t of its clock [s].
std::vector<HangingPoint> hanging_points(const Garment& garment, double t);

const char* to_string(DrapeMethod method);

/// Positions [m], shape [node_count], of a mesh hung from points by geometry alone, as drape() of
/// host/models/drape. Throws what it throws, and SceneError where this build lacks the model.
std::vector<Vec3d> start_shape(const Mesh& mesh, const std::vector<HangingPoint>& points,
                               const DrapeSettings& settings, const std::string& key,
                               const MonitorView& monitor);

/// The model's function for that; null: not in this build. Of host/models/lists or host/without_models.
using DrapeFunction = std::vector<Vec3d> (*)(const Mesh& mesh, const std::vector<HangingPoint>& points,
                                             const DrapeSettings& settings, const std::string& key,
                                             const MonitorView& monitor);
DrapeFunction drape_function();

}  // namespace isocloth

// The page of a shape that no simulation made: one garment in one frame.
#pragma once

#include <map>
#include <string>

#include "engine/model/scene.hpp"
#include "host/files/json_text.hpp"
#include "host/models/shapes/shape_measures.hpp"
#include "host/report/report.hpp"
#include "host/results/working_folder.hpp"
#include "host/run/run_tally.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {

/// The scene with nothing but this garment, which starts in its shape.
Scene only_garment(Scene scene, Garment garment);

/// Errors of lengths and areas, and the height of the middle, as a summary has them.
Json shape_json(const ShapeMeasures& shape);

/// Measures of the shape and the page's data. `simulation` is of only_garment(); obstacles are drawn where
/// they are at the start. The result refers to `garment`.
ReportData shape_report(const Simulation& simulation, const std::string& scene_name, const Garment& garment,
                        const std::vector<Obstacle>& obstacles, const std::string& message);

/// Makes the folder of a shape and publishes it: the garment where it starts, as `obj_name`; texts by the
/// names of their files; the page. Of a folder that cannot be written nothing is left.
void publish_shape(WorkingFolder& folder, const std::string& obj_name, const Garment& garment,
                   const std::map<std::string, std::string>& texts, const ReportData& page);

}  // namespace isocloth

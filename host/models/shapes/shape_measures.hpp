// How far a shape that no simulation made lies from one of cloth.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// How far a shape lies from one of unstretched cloth.
struct ShapeMeasures {
  double edge_error_mean = 0, edge_error_p95 = 0, edge_error_max = 0;  ///< of |l / l0 - 1| over edges
  double area_error_mean = 0, area_error_p95 = 0, area_error_max = 0;  ///< of |A / A0 - 1| over faces
  double area_error_total = 0;                                         ///< |A / A0 - 1| of the whole
  double sag = 0;  ///< of the lowest node below the lowest hanging point [m], 0 if that is the lowest
  double center_height = 0;  ///< of the centre of mass [m]; gravity's potential energy over weight
};
/// Faces are measured by element_area(), as those of a run. hanging: of nodes, at least one. Exact
/// percentiles.
ShapeMeasures measure_shape(const Mesh& mesh, const std::vector<Vec3d>& positions,
                            const std::vector<Index>& hanging);

}  // namespace isocloth

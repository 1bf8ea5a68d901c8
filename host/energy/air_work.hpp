// Work of air and of forces that are given.
#pragma once

#include "host/energy/garment_part.hpp"

namespace isocloth::energy {

/// Drag (engine/material/wind.hpp) with the faces as they lie when the part begins, flow around panels, and
/// pressure p A n with the faces as they lie when it ends.
void add_air_work(const GarmentPart& part, MatrixX3d& force, EnergySums& sums);
/// F - K (x - place) - D (v - velocity) of each node.
void add_load_work(const GarmentPart& part, ArrayView<const Vec3d> forces, ArrayView<const ForceSlope> slopes,
                   MatrixX3d& force, EnergySums& sums);

}  // namespace isocloth::energy

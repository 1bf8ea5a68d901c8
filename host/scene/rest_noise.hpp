// Geometry of a rest shape that a scene file asks for: normals, centroid, seeded noise.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Adds Gaussian noise of that standard deviation [m] to each node along its normal (area-weighted mean of
/// the normals of its faces): Box-Muller on std::mt19937_64, so that a seed means the same noise with every
/// compiler.
void add_normal_noise(Mesh& mesh, double deviation, std::uint64_t seed);

/// Centre of the surface's area [m]; a quad counts as its two triangles (0, 1, 2) and (0, 2, 3).
Vec3d area_centroid(const Mesh& mesh);

}  // namespace isocloth

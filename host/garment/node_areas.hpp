// What part of a cloth's area belongs to each of its nodes.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// m_i = sum over the faces of the integral of N_i over the rest shape [m^2], shape [node_count]; of each
/// face times a factor that it has (Mesh::face_factors).
std::vector<double> node_areas(const Mesh& mesh, double FabricFactors::*factor = nullptr);

}  // namespace isocloth

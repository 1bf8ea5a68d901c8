// Rows of pairs of triangles (engine/rows/membrane.hpp), in words of their own.
#pragma once

#include <array>
#include <vector>

#include "host/reference/row_builder.hpp"

namespace isocloth::reference {

/// A triangle of a pair: its area, as much of it as belongs to the pair [m^2], and the derivatives along warp
/// and weft [1/m].
struct PairedTriangle {
  double area;
  Form warp, weft;
  FabricFactors factors{};  ///< of its face
};

/// Both triangles of each pair that has a free node, in the order of the rows.
std::vector<std::array<PairedTriangle, 2>> paired_triangles(const Mesh& mesh, const Topology& topology,
                                                            const std::vector<char>& is_free);

/// K of the rows of each pair [J]: the fabric's of the means, a share of it of the differences; its numbers
/// with the means of the factors of both triangles.
VectorXd membrane_stiffness(const std::vector<std::array<PairedTriangle, 2>>& pairs, const Fabric& fabric);

}  // namespace isocloth::reference

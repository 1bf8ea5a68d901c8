// Lengths of mesh edges held by springs: the sheet resists stretch as a membrane of stiffness k [N/m] does
// along its threads.
#pragma once

#include "engine/material/fabric.hpp"
#include "engine/rows/edge_lengths.hpp"

namespace isocloth {

struct ElasticEdgeRows : EdgeRows {
  /// K of each row [J]: with A the area that belongs to the edge, half of each quad and a third of each
  /// triangle beside it, k A e^2 / 2 = K C^2 / 2 for the strain e = C / 2.
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

}  // namespace isocloth

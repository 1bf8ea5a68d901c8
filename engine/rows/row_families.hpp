// The list of row families. A family is a file with its stencils and tensors, and a line in each of the two
// lists below.
#pragma once

#include "engine/rows/edge_lengths.hpp"
#include "engine/rows/isometry.hpp"

namespace isocloth {

enum class RowFamily {
  isometry,        ///< E, F, G at interior nodes
  corner_shear,    ///< F at corners
  boundary_edges,  ///< lengths of boundary edges
  edges,           ///< lengths of all edges
};

/// visit(family), with `family` of the family's own type.
template <class Visit>
auto visit_family(RowFamily family, const Visit& visit) {
  switch (family) {
    case RowFamily::isometry:
      return visit(IsometryRows{});
    case RowFamily::corner_shear:
      return visit(CornerShearRows{});
    case RowFamily::boundary_edges:
      return visit(BoundaryEdgeRows{});
    default:
      return visit(EdgeRows{});
  }
}

}  // namespace isocloth

// The list of row families. A family is a file with its stencils, tensors and law, and a line in each of the
// two lists below. One that has no stiffness() is rigid, one with a bound() is an inequality; of
// singles one with laws() has laws by number.
#pragma once

#include "engine/rows/bands.hpp"
#include "engine/rows/edge_lengths.hpp"
#include "engine/rows/edge_limits.hpp"
#include "engine/rows/hinges.hpp"
#include "engine/rows/isometry.hpp"
#include "engine/rows/large_angles.hpp"
#include "engine/rows/membrane.hpp"
#include "engine/rows/principal_limits.hpp"
#include "engine/rows/springs.hpp"

namespace isocloth {

enum class RowFamily {
  isometry,          ///< E, F, G at interior nodes
  corner_shear,      ///< F at corners
  boundary_edges,    ///< lengths of boundary edges
  edges,             ///< lengths of all edges
  elastic_edges,     ///< lengths of all edges, compliant
  edge_limits,       ///< lengths of all edges, bounded from above
  principal_limits,  ///< stretch at points of elements in some directions, bounded from above
  membrane,          ///< E, F, G of pairs of triangles, means and differences, compliant
  springs,           ///< lengths of edges and of diagonals of quads, compliant
  flexion_springs,   ///< lengths between structural neighbours at distance two, compliant
  bands,             ///< lengths of pieces of elastic band, compliant
  hinges,            ///< angles between triangles, compliant
  large_angles,      ///< what a constant matrix of bending leaves out of angles between triangles
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
    case RowFamily::elastic_edges:
      return visit(ElasticEdgeRows{});
    case RowFamily::edge_limits:
      return visit(EdgeLimitRows{});
    case RowFamily::principal_limits:
      return visit(PrincipalLimitRows{});
    case RowFamily::membrane:
      return visit(MembraneRows{});
    case RowFamily::springs:
      return visit(SpringRows{});
    case RowFamily::flexion_springs:
      return visit(FlexionSpringRows{});
    case RowFamily::bands:
      return visit(BandRows{});
    case RowFamily::hinges:
      return visit(HingeRows{});
    case RowFamily::large_angles:
      return visit(LargeAngleRows{});
    default:
      return visit(EdgeRows{});
  }
}

}  // namespace isocloth

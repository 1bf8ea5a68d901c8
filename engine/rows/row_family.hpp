// Names of the families of rows.
#pragma once

namespace isocloth {

/// In the order in which a garment has them. Their types: engine/rows/row_families.hpp.
enum class RowFamily {
  isometry,          ///< E, F, G at interior nodes
  corner_shear,      ///< F at corners
  boundary_edges,    ///< lengths of boundary edges
  edges,             ///< lengths of all edges
  elastic_edges,     ///< the same, compliant
  membrane,          ///< E, F, G of pairs of triangles, means and differences, compliant
  springs,           ///< lengths of edges and of diagonals of quads, compliant
  flexion_springs,   ///< lengths between structural neighbours at distance two, compliant
  edge_limits,       ///< lengths of all edges, bounded from above
  principal_limits,  ///< stretch at points of elements in some directions, bounded from above
  bands,             ///< lengths of pieces of elastic band, compliant
  hinges,            ///< angles between triangles, compliant
  large_angles,      ///< the same, what a constant matrix of bending leaves out of them
  folds,             ///< angles at pressed creases and stiff seams, compliant
};

/// Whether a family has a law of its own.
bool is_compliant(RowFamily family);

}  // namespace isocloth

// Angles at pressed creases and stiff seams (Mesh::folds).
//
// C = theta - theta_0 with the energy K C^2 / 2, theta the angle between the normals of two triangles as of
// hinges (engine/rows/hinges.hpp), theta_0 that of the fold. Of a C beyond three quarters of a turn a full
// turn is taken, so that a fold with theta_0 = pi may be pressed further without a jump. Hinges and matrices
// of bending have no part at these edges (engine/mesh/cut_folds.hpp). A seam has two folds per edge, one of
// each of its sides with the node beyond the other.
#pragma once

#include "engine/rows/hinges.hpp"

namespace isocloth {

struct FoldRows {
  static constexpr int width = 1;
  static constexpr Index law = RowLaw::fold;
  static bool are_asked(const AskedRows& by) { return !by.mesh.folds.empty(); }
  /// Places are numbers of Mesh::folds; those that turn freely have no row.
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places);
  /// They have none.
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) {
    a.tensors[a.stencils.entry_begin[a.stencils.stencil_begin[a.first_stencil + i]]] = 0;
  }
  /// theta_0 of each row [rad].
  static std::vector<double> rest_values(const Mesh& mesh, const std::vector<Index>& places);
  /// K of each row [J].
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

}  // namespace isocloth

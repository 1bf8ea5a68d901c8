// Angles between triangles that share an edge: bending by discrete shells (Grinspun, Hirani, Desbrun,
// Schroeder 2003; Bridson, Marino, Fedkiw 2003), and with a stiffness that depends on the bend (Miguel et al.
// 2012, sections 4.1 and 4.2).
//
// C = theta - theta_0, theta the angle between the normals, has the energy K C^2 / 2 with
//   K = kappa |e|^2 / A,  A = A_1 + A_2,
// |e| the length of the edge and A_i the areas beside it, at rest. The curvature of a hinge is c = C |e| / A,
// and its energy kappa / 2 c^2 A, or by a curve m(c) of moment per width A times the integral of m by c. A
// grid of right triangles that is bent along its threads, and equilateral triangles in any direction, cost
// kappa / 2 R^-2 per area of a cylinder of radius R. (With thirds of the triangles, as Grinspun et al. have
// them, these cylinders cost three times as much: only one of three edges bends, or all in part.)
//
// Other bends depend on the mesh. Of squares with parallel diagonals the second derivatives H cost
//   kappa / 2 ((H_xx + H_xy)^2 + (H_yy + H_xy)^2 + 4 H_xy^2)
// per area: three times as much along one diagonal as along the other, and a strip that may twist has 4/5 of
// kappa.
#pragma once

#include "engine/model/fabric.hpp"
#include "engine/rows/row_setup.hpp"

namespace isocloth {

struct HingeRows {
  static constexpr int width = 1;
  /// Slots: the ends a, b of the edge, the node beyond it in the triangle that goes from a to b, and that in
  /// the other. No pair of nodes is coupled by T; the one entry of the stencil is |e| / A [1/m].
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places);
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) {
    const Index slot = a.stencils.stencil_begin[a.first_stencil + i];
    const auto at = [&](Index k) { return a.mesh.positions[a.stencils.slot_nodes[slot + k]]; };
    const Vec3d e = at(1) - at(0);
    const double twice = norm(cross(e, at(2) - at(0))) + norm(cross(e, at(3) - at(0)));
    a.tensors[a.stencils.entry_begin[slot]] = 2 * norm(e) / twice;
  }
  static std::vector<Index> laws(const RowSetup&, const std::vector<Index>& places) {
    return std::vector<Index>(places.size(), RowLaw::bend);
  }
  /// K of each row [J].
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

}  // namespace isocloth

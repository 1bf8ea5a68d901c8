// Angles between triangles that share an edge: bending by discrete shells (Grinspun, Hirani, Desbrun,
// Schroeder 2003; Bridson, Marino, Fedkiw 2003), and with a stiffness that depends on the bend (Miguel et al.
// 2012, sections 4.1 and 4.2).
//
// C = theta - theta_0, theta the angle between the normals, has the energy K C^2 / 2 with
//   K = kappa |e|^2 / A,  A = A_1 + A_2,
// |e| the length of the edge and A_i the areas beside it, at rest. A triangle whose nodes are all held does
// not bend: a hinge at such a clamp has the other's area alone. The curvature of a hinge is c = C |e| / A,
// and its energy kappa / 2 c^2 A, or by a curve m(c) of moment per width A times the integral of m by c. A
// grid of right triangles that is bent along its threads, and equilateral triangles in any direction, cost
// kappa / 2 R^-2 per area of a cylinder of radius R. (With thirds of the triangles, as Grinspun et al. have
// them, these cylinders cost three times as much: only one of three edges bends, or all in part.)
//
// Other bends depend on the mesh. Of squares with parallel diagonals the second derivatives H cost
//   kappa / 2 ((H_xx + H_xy)^2 + (H_yy + H_xy)^2 + 4 H_xy^2)
// per area: three times as much along one diagonal as along the other, and a strip that may twist has 4/5 of
// kappa. Refinement does not mend that: angles weighted one by one have one ratio of twist to bend, which the
// mesh gives, and what bends freely is 10 to 40 % off.
#pragma once

#include "engine/material/fabric.hpp"
#include "engine/rows/row_setup.hpp"

namespace isocloth {

/// An edge between two triangles.
struct HingeOfEdge {
  std::array<Index, 4> nodes;  ///< ends of the edge, node beyond it in the triangle from the first to the
                               ///< second, and in the other
  std::array<Index, 2> faces;  ///< faces in which the triangles lie
};
/// Hinges of all edges between triangles of a mesh, quads cut (cut_quads()), but its folds, in the order of
/// their nodes.
std::vector<HingeOfEdge> hinges_of(const Mesh& mesh);

/// Adds the stencils of hinges with a free node: slots in the order of HingeOfEdge::nodes. No pair of nodes
/// is coupled by T; the one entry of a stencil is |e| / A [1/m]. places: numbers of hinges_of().
void add_hinges(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places);

/// |e| and A of a hinge at rest.
struct HingeShape {
  double length = 0, area = 0;
  ISOCLOTH_HD HingeShape(const Vec3d (&p)[4], const bool (&is_held)[4]) {
    const Vec3d e = p[1] - p[0];
    length = norm(e);
    const bool is_edge_held = is_held[0] && is_held[1];
    for (int k = 2; k < 4; ++k)
      if (!is_edge_held || !is_held[k]) area += norm(cross(e, p[k] - p[0])) / 2;
  }
  HingeShape(const RowSetup& setup, const HingeOfEdge& hinge);
  /// Factor of the bending stiffness of its triangles, the mean by those areas of A.
  static double bending_factor(const RowSetup& setup, const HingeOfEdge& hinge);
  ISOCLOTH_HD double curvature() const { return length / area; }         ///< curvature over the angle [1/m]
  ISOCLOTH_HD double stiffness() const { return length * curvature(); }  ///< K / kappa
};

ISOCLOTH_HD void set_hinge_tensor(const TensorSetup& a, Index i) {
  const Index slot = a.stencils.stencil_begin[a.first_stencil + i];
  Vec3d p[4];
  bool is_held[4];
  for (Index k = 0; k < 4; ++k) {
    const Index node = a.stencils.slot_nodes[slot + k];
    p[k] = a.mesh.positions[node];
    is_held[k] = a.is_pinned[node] != 0;
  }
  a.tensors[a.stencils.entry_begin[slot]] = HingeShape(p, is_held).curvature();
}

/// Rows of angles between triangles.
struct AngleRows {
  static constexpr int width = 1;
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places) {
    add_hinges(setup, pattern, places);
  }
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) { set_hinge_tensor(a, i); }
};

struct HingeRows : AngleRows {
  static constexpr Index law = RowLaw::bend;
  static bool are_asked(const AskedRows& by) { return by.bend_by_hinges; }
  /// K of each row [J].
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

}  // namespace isocloth

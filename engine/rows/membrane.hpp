// Elements as elastic membranes: strain along warp and weft, and shear, of pairs of triangles.
//
// With F_u, F_v the derivatives of the positions along warp and weft of the rest shape,
//   C = (F_u . F_u - 1, F_u . F_v, F_v . F_v - 1) = (2 e_uu, gamma, 2 e_vv)
// are Green's strain, and their energy is that of St. Venant and Kirchhoff (Volino, Magnenat-Thalmann, Faure
// 2009, section 3), orthotropic:
//   A (k_u (e_uu + a e_vv)^2 / (1 - nu^2) + k_v e_vv^2 + G gamma^2) / 2,  a = nu sqrt(k_v / k_u),
// so that k_u and k_v are what a strip resists along its threads. The first row is C_uu + a C_vv: each row
// has a stiffness of its own then.
//
// Rows of every triangle lock: with two stiff ones on each of two triangles per node there are more of them
// than ways to move, and a sheet that threads should let bend is a board. Hence six rows on the two triangles
// of a pair (engine/mesh/triangle_pairs.hpp) of areas A_1, A_2, A = A_1 + A_2:
//   mean        C_m = (A_1 C_1 + A_2 C_2) / A   with the area A, which has all laws of the fabric,
//   difference  C_d = C_1 - C_2                 with the area A_1 A_2 / A and a small share of the stiffness.
// With the full share their energy is that of both triangles, A_1 C_1^2 + A_2 C_2^2. The share of warp and
// weft is 1 N/m or 5e-4 of the fabric's, whichever is more, that of shear 0.03; and stress of differences of
// warp and weft rises as C + C^3 / c_0^2, c_0 = 0.025, straight from 20 c_0 on: what a fold needs is free,
// and no more. Uniform strain has no differences, so its forces are those of elements (patch test).
//
// With stress-strain curves, and no Poisson coupling, each row has an energy whose derivative by C is K f(C);
// see thread_law(). By the engineering measure of threads, e_uu = |F_u| - 1, the energy is that of the
// constraints of Baraff and Witkin (1998). By the corotational one rows are (2 (S_uu - 1), 2 S_uv, 2 (S_vv -
// 1)) of the polar decomposition F = R S, with the same energy: engine/material/corotational_strain.hpp.
#pragma once

#include <array>

#include "engine/material/fabric.hpp"
#include "engine/mesh/triangle_pairs.hpp"
#include "engine/rows/isometry.hpp"

namespace isocloth {

/// The gradients of the shape functions at a point of a face along its warp and weft, for stencil i of a
/// family of elements.
ISOCLOTH_HD void set_gradients(const TensorSetup& a, Index i, const FaceCorners& face,
                               const GaussPoint<double>& point, Vec3d warp) {
  const auto gradient = material_gradient(point, surface_point(point, face.p, face.size), warp, face.size);
  double* const of_slots = a.tensors.data() + 2 * a.stencils.stencil_begin[a.first_stencil + i];
  for (int m = 0; m < face.size; ++m) {
    of_slots[2 * m] = gradient.warp[m];
    of_slots[2 * m + 1] = gradient.weft[m];
  }
}

struct MembraneRows {
  static constexpr int width = membrane_width;
  /// A stencil is a pair of triangles, (0, 1, 2) and (0, 2, 3) of its slots, or one, of which both are (0, 1,
  /// 2). Its place is the first face. Pairs have a free node in each triangle.
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places);
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i);
  /// K of the three mean rows of a pair of area A [J]: A k_u / (4 (1 - nu^2)), A G, A k_v / 4.
  static std::array<double, 3> stiffness_of(double area, const Fabric& fabric);
  /// K of the three rows of differences of a pair [J]; area: A_1 A_2 / A of its triangles.
  static std::array<double, 3> difference_stiffness_of(double area, const Fabric& fabric);
  /// K of each row: of a stencil those of its means, then those of its differences.
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

/// The pairs of triangles that have rows, in the order of their stencils.
std::vector<TrianglePair> membrane_pairs(const Mesh& mesh, const Topology& topology,
                                         const std::vector<char>& is_pinned);

/// The pairs of membrane_pairs(), then pairs of the faces all of whose nodes are pinned: every face is in
/// one.
std::vector<TrianglePair> all_pairs(const Mesh& mesh, const Topology& topology,
                                    const std::vector<char>& is_pinned);

/// Areas of both triangles of a pair at rest [m^2].
std::array<double, 2> areas_of(const Mesh& mesh, const TrianglePair& pair);

/// The face with the corners a, b and c, which the mesh has.
ISOCLOTH_HD Index face_of(const MeshView& mesh, Index a, Index b, Index c) {
  for (Index i = mesh.node_corner_begin[a];; ++i) {
    const Index face = mesh.corner_faces[mesh.node_corners[i]];
    bool has_b = false, has_c = false;
    for (Index corner = mesh.face_begin[face]; corner < mesh.face_begin[face + 1]; ++corner) {
      has_b = has_b || mesh.face_nodes[corner] == b;
      has_c = has_c || mesh.face_nodes[corner] == c;
    }
    if (has_b && has_c) return face;
  }
}

ISOCLOTH_HD void MembraneRows::set_tensors(const TensorSetup& a, Index i) {
  const Index stencil = a.first_stencil + i, slot0 = a.stencils.stencil_begin[stencil];
  const bool is_single = a.stencils.stencil_begin[stencil + 1] - slot0 == 3;
  const Index* const nodes = a.stencils.slot_nodes.data() + slot0;
  double* const gradients = a.tensors.data() + 4 * slot0;
  double areas[2];
  for (int t = 0; t < 2; ++t) {
    const int corners[3] = {0, t == 0 || is_single ? 1 : 2, t == 0 || is_single ? 2 : 3};
    Vec3d p[3];
    for (int m = 0; m < 3; ++m) p[m] = a.mesh.positions[nodes[corners[m]]];
    const auto point = strain_point<double>(3, 0);
    const auto surface = surface_point(point, p, 3);
    const Index face = face_of(a.mesh, nodes[corners[0]], nodes[corners[1]], nodes[corners[2]]);
    const auto gradient = material_gradient(point, surface, a.face_warps[face], 3);
    areas[t] = surface.area;
    for (Index slot = 0; slot < (is_single ? 3 : 4); ++slot)
      gradients[4 * slot + 2 * t] = gradients[4 * slot + 2 * t + 1] = 0;
    for (int m = 0; m < 3; ++m) {
      gradients[4 * corners[m] + 2 * t] = gradient.warp[m];
      gradients[4 * corners[m] + 2 * t + 1] = gradient.weft[m];
    }
  }
  a.tensors[4 * a.stencils.slot_nodes.size() + static_cast<std::size_t>(stencil)] =
      areas[0] / (areas[0] + areas[1]);
}

}  // namespace isocloth

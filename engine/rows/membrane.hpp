// Elements as elastic membranes: strain along warp and weft, and shear, at points of them.
//
// With F_u, F_v the derivatives of the positions along warp and weft of the rest shape,
//   (F_u . F_u - 1, F_u . F_v, F_v . F_v - 1) = (2 e_uu, gamma, 2 e_vv)
// are Green's strain, and their energy is that of St. Venant and Kirchhoff (Volino, Magnenat-Thalmann, Faure
// 2009, section 3), orthotropic:
//   A (k_u (e_uu + a e_vv)^2 / (1 - nu^2) + k_v e_vv^2 + G gamma^2) / 2,  a = nu sqrt(k_v / k_u),
// so that k_u and k_v are what a strip resists along its threads. The first row is C_uu + a C_vv: each row
// has a stiffness of its own then.
//
// With stress-strain curves, and no Poisson coupling, each row has an energy whose derivative by C is K f(C);
// see thread_law(). By the engineering measure of threads, e_uu = |F_u| - 1, the energy is that of the
// constraints of Baraff and Witkin (1998). By the corotational one rows are (2 (S_uu - 1), 2 S_uv, 2 (S_vv -
// 1)) of the polar decomposition F = R S, with the same energy: kernels/tensors/stretch_tensor.hpp.
//
// On triangles one point, where strain is even. On quads two of the 2 x 2 Gauss points, on a diagonal: their
// six rows leave none of the five ways to strain an element free, integrate what is linear in it exactly and
// hold elements as tightly as all four, at half the price.
#pragma once

#include <array>

#include "engine/model/fabric.hpp"
#include "engine/rows/isometry.hpp"

namespace isocloth {

ISOCLOTH_HD int membrane_point_count(int corner_count) { return corner_count == 3 ? 1 : 2; }
constexpr int most_membrane_points = 2;

/// Point q of an element; on quads for two strain points each.
template <class Real>
ISOCLOTH_HD GaussPoint<Real> membrane_point(int corner_count, int q) {
  GaussPoint<Real> g = strain_point<Real>(corner_count, 3 * q);
  if (corner_count > 3) g.weight = Real(2);
  return g;
}

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
  static constexpr int width = 3;
  static constexpr bool is_element = true;
  /// A stencil is a point of an element; its place is most_membrane_points face + point.
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places);
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) {
    const Index face = a.places[i] / most_membrane_points;
    const FaceCorners f = face_corners(a.mesh, face);
    set_gradients(a, i, f, membrane_point<double>(f.size, a.places[i] % most_membrane_points),
                  a.face_warps[face]);
  }
  /// K of the three rows of a point of area A [J]: A k_u / (4 (1 - nu^2)), A G, A k_v / 4.
  static std::array<double, 3> stiffness_of(double area, const Fabric& fabric);
  /// The same of each row, by the area of its point at rest.
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

}  // namespace isocloth

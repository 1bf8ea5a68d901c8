// Elements as elastic membranes: strain along warp and weft, and shear, at their Gauss points.
//
// With F_u, F_v the derivatives of the positions along warp and weft of the rest shape, the rows
//   C = (F_u . F_u - 1, F_u . F_v, F_v . F_v - 1) = (2 e_uu, gamma, 2 e_vv)
// are Green's strain, and their energy A (k_u e_uu^2 + G gamma^2 + k_v e_vv^2) / 2 is that of St. Venant and
// Kirchhoff without Poisson's ratio (Volino, Magnenat-Thalmann, Faure 2009, section 3). On quads 2 x 2
// points, which leave no mode of an element free; on triangles one, where strain is even.
#pragma once

#include "engine/model/fabric.hpp"
#include "engine/rows/isometry.hpp"

namespace isocloth {

ISOCLOTH_HD int membrane_point_count(int corner_count) { return corner_count == 3 ? 1 : 4; }
constexpr int most_membrane_points = 4;

/// Point q of an element.
template <class Real>
ISOCLOTH_HD GaussPoint<Real> membrane_point(int corner_count, int q) {
  if (corner_count == 3) {
    GaussPoint<Real> g = gauss_point<Real>(3, 0);  // its derivatives are even
    for (int i = 0; i < 3; ++i) g.value[i] = Real(1) / 3;
    g.weight = Real(0.5);
    return g;
  }
  const Real node = Real(0.577350269189625764509148780502);  // 1 / sqrt(3)
  return quad_point(q / 2 == 0 ? -node : node, q % 2 == 0 ? -node : node, Real(1));
}

struct MembraneRows {
  static constexpr int width = 3;
  /// A stencil is a point of an element; its place is most_membrane_points face + point.
  static void add_stencils(const RowSetup& setup, StencilPattern& pattern, std::vector<Index>& places);
  static ISOCLOTH_HD void set_tensors(const TensorSetup& a, Index i) {
    const Index face = a.places[i] / most_membrane_points;
    const FaceCorners f = face_corners(a.mesh, face);
    const auto g = membrane_point<double>(f.size, a.places[i] % most_membrane_points);
    const auto gradient = material_gradient(g, surface_point(g, f.p, f.size), a.face_warps[face], f.size);
    for (int m = 0; m < f.size; ++m)
      for (int n = 0; n < f.size; ++n) {
        const Index entry = a.stencils.entry(a.first_stencil + i, a.mesh.face_nodes[f.first + m],
                                             a.mesh.face_nodes[f.first + n]);
        double efg[3] = {};
        add_isometry_tensor(gradient, m, n, 1.0, efg);
        for (int w = 0; w < width; ++w) a.tensors[entry * width + w] = efg[w];
      }
  }
  /// K of each row [J]: of its point's area A k_u / 4, A G, A k_v / 4.
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

}  // namespace isocloth

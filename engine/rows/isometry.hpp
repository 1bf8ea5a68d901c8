// Element formulas of the isometry rows E, F, G.
#pragma once

#include "engine/rows/surface_element.hpp"

namespace isocloth {

/// Derivatives of the shape functions along warp and weft at one Gauss point.
template <class Real>
struct MaterialGradient {
  Real warp[4];  ///< dN_i / dwarp [1/m]
  Real weft[4];  ///< dN_i / dweft [1/m]
};

/// Shape function derivatives along the projection of `warp` onto the tangent plane and along n x warp.
/// Material directions take the place of each element's own (xi, eta): E and G are 1 and F is 0 at rest at
/// every point, so the averages of (11) mix like with like on any mesh.
template <class Real>
ISOCLOTH_HD MaterialGradient<Real> material_gradient(const GaussPoint<Real>& g, const SurfacePoint<Real>& s,
                                                     Vec3<Real> warp, int corner_count) {
  warp = normalized(warp - dot(warp, s.normal) * s.normal);
  const Vec3<Real> weft = cross(s.normal, warp);
  MaterialGradient<Real> m{};
  for (int i = 0; i < corner_count; ++i) {
    const Vec3<Real> gradient = surface_gradient(g, s, i);
    m.warp[i] = dot(warp, gradient);
    m.weft[i] = dot(weft, gradient);
  }
  return m;
}

/// Integrands of t_E, t_F, t_G for corners i, j (Coltraro 2022, Algorithm 1, lines 11 to 13; line 11 means
/// t_E). `weight` is N_k dA / m_k.
template <class Real>
ISOCLOTH_HD void add_isometry_tensor(const MaterialGradient<Real>& m, int i, int j, Real weight, Real* efg) {
  efg[0] += weight * m.warp[i] * m.warp[j];
  efg[1] += weight / 2 * (m.warp[i] * m.weft[j] + m.weft[i] * m.warp[j]);
  efg[2] += weight * m.weft[i] * m.weft[j];
}

}  // namespace isocloth

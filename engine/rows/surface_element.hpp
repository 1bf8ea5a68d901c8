// Finite elements on a surface: linear triangles and bilinear quads in space, their Gauss points and
// gradients.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// Shape functions and their reference derivatives at one Gauss point of an element with 3 or 4 corners.
template <class Real>
struct GaussPoint {
  Real value[4];    ///< N_i
  Real d_xi[4];     ///< dN_i / dxi
  Real d_eta[4];    ///< dN_i / deta
  Real weight = 0;  ///< weight of the point on the reference element (area 1/2 for triangles, 4 for quads)
};

/// Shape functions of a bilinear quad at (xi, eta); Coltraro 2022, (4), with N_4 = 1/4 (1 - xi)(1 + eta).
template <class Real>
ISOCLOTH_HD GaussPoint<Real> quad_point(Real xi, Real eta, Real weight) {
  GaussPoint<Real> g{};
  g.weight = weight;
  const Real corner_xi[4] = {-1, 1, 1, -1}, corner_eta[4] = {-1, -1, 1, 1};
  for (int i = 0; i < 4; ++i) {
    g.value[i] = (1 + corner_xi[i] * xi) * (1 + corner_eta[i] * eta) / 4;
    g.d_xi[i] = corner_xi[i] * (1 + corner_eta[i] * eta) / 4;
    g.d_eta[i] = corner_eta[i] * (1 + corner_xi[i] * xi) / 4;
  }
  return g;
}

/// 3 points on triangles, 3 x 3 on quads.
ISOCLOTH_HD int gauss_point_count(int corner_count) { return corner_count == 3 ? 3 : 9; }

/// Point q of the rule; triangles: exact for degree 2 (all integrands of Algorithm 1 are linear there);
/// quads: exact for degree 5 in each direction.
template <class Real>
ISOCLOTH_HD GaussPoint<Real> gauss_point(int corner_count, int q) {
  GaussPoint<Real> g{};
  if (corner_count == 3) {
    const Real far = Real(2) / 3, near = Real(1) / 6;
    for (int i = 0; i < 3; ++i) g.value[i] = i == q ? far : near;
    g.d_xi[0] = -1;
    g.d_xi[1] = 1;
    g.d_eta[0] = -1;
    g.d_eta[2] = 1;
    g.weight = near;
    return g;
  }
  const Real node = Real(0.774596669241483377035853079956);  // sqrt(3/5)
  const Real abscissa[3] = {-node, 0, node};
  const Real weight[3] = {Real(5) / 9, Real(8) / 9, Real(5) / 9};
  return quad_point(abscissa[q / 3], abscissa[q % 3], weight[q / 3] * weight[q % 3]);
}

/// Points of an element where strain is measured and bounded: 2 x 2 Gauss points of a quad, the centre of a
/// triangle (where it is the same everywhere).
ISOCLOTH_HD constexpr int strain_point_count(int corner_count) { return corner_count == 3 ? 1 : 4; }
/// Strain points of quads: xi and eta are - or + this; point q has the sign of q / 2 in xi and of q % 2 in
/// eta.
constexpr double strain_point_abscissa = 0.577350269189625764509148780502;  // 1 / sqrt(3)
template <class Real>
ISOCLOTH_HD GaussPoint<Real> strain_point(int corner_count, int q) {
  if (corner_count == 3) {
    GaussPoint<Real> g = gauss_point<Real>(3, 0);  // its derivatives are even
    for (int i = 0; i < 3; ++i) g.value[i] = Real(1) / 3;
    g.weight = Real(0.5);
    return g;
  }
  const Real node = Real(strain_point_abscissa);
  return quad_point(q / 2 == 0 ? -node : node, q % 2 == 0 ? -node : node, Real(1));
}

/// The surface at one Gauss point.
template <class Real>
struct SurfacePoint {
  Vec3<Real> x_xi, x_eta;  ///< tangents
  Vec3<Real> normal;       ///< unit
  Real area = 0;           ///< dA = weight |x_xi x x_eta| [m^2] (= weight sqrt(EG - F^2))
};

/// Evaluates the element with corners p[0..corner_count) at a Gauss point.
template <class Real>
ISOCLOTH_HD SurfacePoint<Real> surface_point(const GaussPoint<Real>& g, const Vec3<Real>* p,
                                             int corner_count) {
  SurfacePoint<Real> s;
  for (int i = 0; i < corner_count; ++i) {  // relative to the first corner: exact far from the origin
    s.x_xi += g.d_xi[i] * (p[i] - p[0]);
    s.x_eta += g.d_eta[i] * (p[i] - p[0]);
  }
  const Vec3<Real> n = cross(s.x_xi, s.x_eta);
  const Real length = norm(n);
  s.area = g.weight * length;
  s.normal = length > 0 ? (1 / length) * n : Vec3<Real>{};
  return s;
}

/// Surface gradient of N_i, a vector tangent to the surface [1/m]: [x_xi x_eta] g^-1 [dN/dxi; dN/deta] with
/// the metric g = [E F; F G].
template <class Real>
ISOCLOTH_HD Vec3<Real> surface_gradient(const GaussPoint<Real>& g, const SurfacePoint<Real>& s, int i) {
  const Real e = dot(s.x_xi, s.x_xi), f = dot(s.x_xi, s.x_eta), gg = dot(s.x_eta, s.x_eta);
  const Real inverse = 1 / (e * gg - f * f);
  const Real a = inverse * (gg * g.d_xi[i] - f * g.d_eta[i]);
  const Real b = inverse * (e * g.d_eta[i] - f * g.d_xi[i]);
  return a * s.x_xi + b * s.x_eta;
}

/// Area of one element [m^2] with corners p[0..corner_count).
template <class Real>
ISOCLOTH_HD Real element_area(const Vec3<Real>* p, int corner_count) {
  Real area = 0;
  for (int q = 0; q < gauss_point_count(corner_count); ++q)
    area += surface_point(gauss_point<Real>(corner_count, q), p, corner_count).area;
  return area;
}

}  // namespace isocloth

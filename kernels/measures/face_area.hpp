// Area of one face, for a thread or lane by lane.
#pragma once

#include "engine/rows/surface_element.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// element_area() of the corners positions[nodes[0..corner_count)] [m^2].
template <class S>
ISOCLOTH_HD S face_area(const Vec3<S>* positions, const Index* nodes, int corner_count) {
  using Scalar = typename Lanes<S>::Scalar;
  S area{};
  for (int q = 0; q < gauss_point_count(corner_count); ++q) {
    const GaussPoint<Scalar> g = gauss_point<Scalar>(corner_count, q);
    Vec3<S> x_xi, x_eta;
    for (int i = 1; i < corner_count; ++i) {  // relative to the first corner: exact far from the origin
      const Vec3<S> p = positions[nodes[i]] - positions[nodes[0]];
      x_xi = multiply_add(S(g.d_xi[i]), p, x_xi);
      x_eta = multiply_add(S(g.d_eta[i]), p, x_eta);
    }
    const Vec3<S> n = cross(x_xi, x_eta);
    area = multiply_add(S(g.weight), square_root(dot_add(n, n, S{})), area);
  }
  return area;
}

}  // namespace isocloth::ISOCLOTH_BACKEND

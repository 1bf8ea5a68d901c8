// Drag of the air on one cloth.
#pragma once

#include "kernels/contact/signed_distance.hpp"
#include "kernels/forces/node_site.hpp"

namespace isocloth {

/// See Drag (engine/material/wind.hpp).
template <class Real>
struct DragView {
  Real normal{}, tangential{};                ///< q_n, q_t [kg/(m^2 s)]
  Vec3<Real> wind{};                          ///< u [m/s]
  Real normal_square{}, tangential_square{};  ///< 1/2 rho C_n, 1/2 rho C_t [kg/m^3]

  ISOCLOTH_HD bool exists() const { return normal > 0 || tangential > 0 || is_quadratic(); }
  ISOCLOTH_HD bool is_quadratic() const { return normal_square > 0 || tangential_square > 0; }
};

namespace ISOCLOTH_BACKEND {

/// D of a node, a third or quarter of that of its faces: sum of A (q_n n n^T + q_t (I - n n^T)), xx, xy, xz,
/// yy, yz, zz [kg/s]. position(node): where the nodes are [m].
template <class Real, class PositionOf>
ISOCLOTH_HD void drag_of_node(const FacesView& faces, const DragView<Real>& drag, Index node,
                              const PositionOf& position, Real (&d)[6]) {
  for (Real& entry : d) entry = 0;
  for_each_face(faces, node, position, [&](Vec3<Real> twice, Real corners) {
    const Real area = length(twice), part = area / (Real(2) * corners);
    if (!(area > 0)) return;
    const Vec3<Real> n = (Real(1) / area) * twice;
    const Real across = part * (drag.normal - drag.tangential), along = part * drag.tangential;
    const Real n_[3] = {n.x, n.y, n.z};
    for (int i = 0, entry = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++entry) d[entry] += across * n_[i] * n_[j] + (i == j ? along : Real(0));
  });
}

/// The quadratic part of the drag on a node by the slip w [m/s] of the air, a sum of A (1/2 rho C_n |w_n| w_n
/// + 1/2 rho C_t |w_t| w_t) [N], and added to `d` its derivative by w, with 2 |w_n| n n^T and |w_t| (I - n
/// n^T) + w_t w_t^T / |w_t|: both positive semidefinite [kg/s].
template <class Real, class PositionOf>
ISOCLOTH_HD Vec3<Real> quadratic_drag_of_node(const FacesView& faces, const DragView<Real>& drag, Index node,
                                              const PositionOf& position, Vec3<Real> w, Real (&d)[6]) {
  Vec3<Real> force;
  for_each_face(faces, node, position, [&](Vec3<Real> twice, Real corners) {
    const Real area = length(twice), part = area / (Real(2) * corners);
    if (!(area > 0)) return;
    const Vec3<Real> n = (Real(1) / area) * twice;
    const Real w_n = dot(n, w);
    const Vec3<Real> w_t = w - w_n * n;
    const Real speed = length(w_t), across = part * drag.normal_square * (w_n < Real(0) ? -w_n : w_n),
               along = part * drag.tangential_square * speed;
    force += (across * w_n) * n + along * w_t;
    const Vec3<Real> t = speed > Real(0) ? (Real(1) / speed) * w_t : Vec3<Real>{};
    const Real n_[3] = {n.x, n.y, n.z}, t_[3] = {t.x, t.y, t.z};
    for (int i = 0, entry = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++entry)
        d[entry] +=
            (Real(2) * across - along) * n_[i] * n_[j] + along * t_[i] * t_[j] + (i == j ? along : Real(0));
  });
  return force;
}

/// Adds the drag on a node to its sample, with the faces as they lie when the step begins, of the velocity at
/// its end: h^2 D (u - rate (x - x^) / h), and quadratic drag by its force and derivative at the iterate.
/// Without pulls the stiffness h rate D alone.
template <class Real>
ISOCLOTH_DEVICE void add_force(const DragView<Real>& drag, const NodeSite<Real>& site) {
  Real d[6];
  const auto position = [&](Index i) { return site.start.vector(static_cast<std::size_t>(i)); };
  drag_of_node(site.faces, drag, static_cast<Index>(site.node), position, d);
  const Vec3<Real> moved = site.rate * (site.iterate.vector(site.node) - site.base.vector(site.node));
  Vec3<Real> force = multiplied(d, site.h * (site.h * drag.wind - moved));
  if (drag.is_quadratic())
    force += (site.h * site.h) * quadratic_drag_of_node(site.faces, drag, static_cast<Index>(site.node),
                                                        position, drag.wind - (Real(1) / site.h) * moved, d);
  for (std::size_t i = 0; i < 6; ++i)
    site.samples.sample_stiffness[site.node * 6 + i] += site.h * site.rate * d[i];
  if (site.pulls) site.add(force);
}

}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

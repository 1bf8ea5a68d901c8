// Drag of the air on one cloth.
#pragma once

#include "kernels/contact/signed_distance.hpp"
#include "kernels/forces/node_site.hpp"

namespace isocloth {

/// See Drag (engine/material/wind.hpp).
template <class Real>
struct DragView {
  Real normal{}, tangential{};  ///< q_n, q_t [kg/(m^2 s)]
  Vec3<Real> wind{};            ///< u [m/s]

  ISOCLOTH_HD bool exists() const { return normal > 0 || tangential > 0; }
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

/// Adds the drag on a node to its sample: with D as the faces lie when the step begins, the force of the
/// velocity at its end, h^2 D (u - rate (x - x^) / h). Without pulls the stiffness h rate D alone.
template <class Real>
ISOCLOTH_DEVICE void add_force(const DragView<Real>& drag, const NodeSite<Real>& site) {
  Real d[6];
  drag_of_node(
      site.faces, drag, static_cast<Index>(site.node),
      [&](Index i) { return site.start.vector(static_cast<std::size_t>(i)); }, d);
  for (std::size_t i = 0; i < 6; ++i)
    site.samples.sample_stiffness[site.node * 6 + i] += site.h * site.rate * d[i];
  if (!site.pulls) return;
  const Vec3<Real> moved = site.rate * (site.iterate.vector(site.node) - site.base.vector(site.node));
  site.add(multiplied(d, site.h * (site.h * drag.wind - moved)));
}

}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

// Pressure on one side of a cloth, as in a cushion or a balloon.
#pragma once

#include "kernels/forces/node_site.hpp"

namespace isocloth {

/// See Garment::pressure (engine/model/scene.hpp).
template <class Real>
struct PressureView {
  Real pressure{};  ///< p [Pa]

  ISOCLOTH_HD bool exists() const { return pressure != 0; }
};

namespace ISOCLOTH_BACKEND {

/// Adds h^2 p A n of a node's part of its faces to its sample, as they lie in the iterate: of linear
/// triangles exactly, the forces of a closed surface cancel. It follows the surface and has no stiffness of
/// its own: that of a membrane is larger by its k / (p size).
template <class Real>
ISOCLOTH_DEVICE void add_force(const PressureView<Real>& of_cloth, const NodeSite<Real>& site) {
  if (!site.pulls) return;
  Vec3<Real> sum;
  for_each_face(
      site.faces, static_cast<Index>(site.node),
      [&](Index i) { return site.iterate.vector(static_cast<std::size_t>(i)); },
      [&](Vec3<Real> twice, Real corners) { sum += (Real(1) / (Real(2) * corners)) * twice; });
  site.add((site.h * site.h * of_cloth.pressure) * sum);
}

}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

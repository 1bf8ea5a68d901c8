// Given forces on the nodes of one cloth, and how they go with places and velocities.
#pragma once

#include "kernels/forces/node_site.hpp"

namespace isocloth {

/// See ForceSlope (engine/model/force_slope.hpp).
template <class Real>
struct LoadSlope {
  Real stiffness[6], damping[6];  ///< K [N/m], D [N s/m]
  Vec3<double> position;          ///< [m]
  Vec3<Real> velocity;            ///< [m/s]
};

/// See Garment::forces (engine/model/scene.hpp).
template <class Real>
struct LoadView {
  ArrayView<const Vec3<Real>> forces;         ///< [N], shape [node_count]; empty: none
  ArrayView<const LoadSlope<Real>> slopes{};  ///< shape [node_count]; empty: none

  ISOCLOTH_HD bool exists() const { return !forces.empty(); }
};

namespace ISOCLOTH_BACKEND {

/// Where a node is from where its force was given [m].
template <class Real>
ISOCLOTH_HD Vec3<Real> way_of(const LoadSlope<Real>& slope, Vec3<double> position) {
  const Vec3<double> way = position - slope.position;
  return {static_cast<Real>(way.x), static_cast<Real>(way.y), static_cast<Real>(way.z)};
}

/// Adds h^2 (F - K (x - place) - D (v - velocity)) of a node at the end of the step to its sample. Without
/// pulls the stiffness h^2 K + h rate D alone.
template <class Real>
ISOCLOTH_DEVICE void add_force(const LoadView<Real>& load, const NodeSite<Real>& site) {
  const Real square = site.h * site.h;
  if (site.pulls) site.add(square * load.forces[site.node]);
  if (load.slopes.empty()) return;
  const LoadSlope<Real>& slope = load.slopes[site.node];
  for (std::size_t i = 0; i < 6; ++i)
    site.samples.sample_stiffness[site.node * 6 + i] +=
        square * slope.stiffness[i] + site.h * site.rate * slope.damping[i];
  if (!site.pulls) return;
  const Vec3<Real> x = site.iterate.vector(site.node);
  const Vec3<Real> way =
      way_of(slope, {static_cast<double>(x.x), static_cast<double>(x.y), static_cast<double>(x.z)});
  const Vec3<Real> moved = site.rate * (x - site.base.vector(site.node)) - site.h * slope.velocity;
  site.add(-square * multiplied(slope.stiffness, way) - site.h * multiplied(slope.damping, moved));
}

}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

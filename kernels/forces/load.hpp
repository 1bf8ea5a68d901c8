// Given forces on the nodes of one cloth.
#pragma once

#include "kernels/forces/node_site.hpp"
#include "kernels/forces/step_sets.hpp"

namespace isocloth {

/// See Garment::forces (engine/model/scene.hpp).
template <class Real>
struct LoadView {
  ArrayView<const Vec3<Real>> forces;  ///< [N], shape [node_count]; empty: none

  ISOCLOTH_HD bool exists() const { return !forces.empty(); }
};

template <class Real>
using LoadSets = StepSets<LoadView<Real>>;

namespace ISOCLOTH_BACKEND {

/// Adds h^2 F of a node to its sample; it has no stiffness.
template <class Real>
ISOCLOTH_DEVICE void add_force(const LoadView<Real>& load, const NodeSite<Real>& site) {
  if (site.pulls) site.add((site.h * site.h) * load.forces[site.node]);
}

}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

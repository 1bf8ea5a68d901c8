// The list of forces that act on nodes from outside. A force is a file with a view of its numbers, exists()
// of these, and add_force(view, site); and a line in each of the two structs.
#pragma once

#include "kernels/forces/drag.hpp"
#include "kernels/forces/load.hpp"
#include "kernels/forces/pressure.hpp"

namespace isocloth {

/// Forces on the nodes of one cloth in one step.
template <class Real>
struct NodeForces {
  DragView<Real> drag;
  LoadView<Real> load;
  PressureView<Real> pressure{};

  /// visit(view) of all that exist.
  template <class Visit>
  ISOCLOTH_HD void for_each(const Visit& visit) const {
    if (drag.exists()) visit(drag);
    if (load.exists()) visit(load);
    if (pressure.exists()) visit(pressure);
  }
  ISOCLOTH_HD bool exist() const {
    bool any = false;
    for_each([&](const auto&) { any = true; });
    return any;
  }
};

/// Forces on the nodes of several cloths in several steps.
template <class Real>
struct NodeForceSets {
  DragSets<Real> drag;
  LoadSets<Real> load;
  PressureSets<Real> pressure{};

  ISOCLOTH_HD bool exist() const { return drag.exist() || load.exist() || pressure.exist(); }
  ISOCLOTH_HD NodeForces<Real> of(std::size_t cloth, Index step) const {
    return {drag.of(cloth, step), load.of(cloth, step), pressure.of(cloth, step)};
  }
};

}  // namespace isocloth

// The list of forces that act on nodes from outside. A force is a file with a view of its numbers, exists()
// of these, and add_force(view, site); and two lines below.
#pragma once

#include "kernels/forces/drag.hpp"
#include "kernels/forces/load.hpp"
#include "kernels/forces/pressure.hpp"
#include "kernels/forces/step_sets.hpp"

namespace isocloth {

/// Forces on the nodes of one cloth in one step.
template <class Real>
struct NodeForces {
  DragView<Real> drag{};
  LoadView<Real> load{};
  PressureView<Real> pressure{};

  /// visit(view) of all that exist.
  template <class Visit>
  ISOCLOTH_HD void for_each(const Visit& visit) const {
    if (drag.exists()) visit(drag);
    if (load.exists()) visit(load);
    if (pressure.exists()) visit(pressure);
  }
  ISOCLOTH_HD bool exists() const {
    bool any = false;
    for_each([&](const auto&) { any = true; });
    return any;
  }
};

/// Forces on the nodes of several cloths in several steps.
template <class Real>
using NodeForceSets = StepSets<NodeForces<Real>>;

}  // namespace isocloth

// What acts on one cloth from outside besides contact.
#pragma once

#include "kernels/forces/drag.hpp"
#include "kernels/grasp/grippers.hpp"

namespace isocloth {

template <class Real>
struct OuterForces {
  GrippersView<Real> grippers;
  HoldArrays<Real> holds;
  FacesView faces;
  DragView<Real> drag;

  ISOCLOTH_HD bool exist() const { return grippers.size() > 0 || drag.exists(); }
};

/// The same of several cloths in several steps; arrays of holds are elsewhere.
template <class Real>
struct OuterSets {
  GripperSets<Real> grippers;
  FacesView faces;
  DragSets<Real> drag;
};

}  // namespace isocloth

// What acts on one cloth from outside besides contact.
#pragma once

#include "kernels/forces/node_forces.hpp"
#include "kernels/grasp/grippers.hpp"

namespace isocloth {

template <class Real>
struct ExternalForces {
  GrippersView<Real> grippers;
  HoldArrays<Real> holds;
  FacesView faces;
  NodeForces<Real> forces;

  ISOCLOTH_HD bool exist() const { return grippers.size() > 0 || forces.exist(); }
};

}  // namespace isocloth

// Contacts of one cloth, kernel by kernel.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

template <class Real>
struct FindContacts {
  SamplePattern pattern;
  ObstaclesView<Real> obstacles;
  ContactControl<Real> control;
  ContactPlaces<Real> places;
  NearObstacles<Real> near;
  ContactArrays<Real> arrays;
};

template <class Real>
struct UpdateContacts {
  FindContacts<Real> found;
  FreeNodesView free;
  ArrayView<const Vec3<Real>> correction;  ///< d [m], shape [free_count]
};

namespace ISOCLOTH_BACKEND {
/// Obstacles whose boxes the cloth's box meets, over the step so far. One block.
template <class Real>
void list_near_obstacles(const Queue& queue, const FindContacts<Real>& args);
/// Contacts at the iterate, their forces and stiffness; see ContactTerms. One item per sample.
template <class Real>
void find_contacts(const Queue& queue, const FindContacts<Real>& args);
/// Forces of the contacts after a correction. One item per sample.
template <class Real>
void update_contacts(const Queue& queue, const UpdateContacts<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

// Contacts of one cloth and what else acts on it from outside, kernel by kernel.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/grasp/external_forces.hpp"
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
  ExternalForces<Real> external;
};

template <class Real>
struct PlaceHeld {
  FindContacts<Real> found;
  Strided<Real> positions;  ///< [m], shape [node_count, 3]
};

template <class Real>
struct UpdateContacts {
  FindContacts<Real> found;
  FreeNodesView free;
  ArrayView<const Vec3<Real>> correction;  ///< d [m], shape [free_count]
  // Of bodies, which are the obstacles from first_body on; see kernels/contact/body_system.hpp.
  Index first_body = ObstaclesView<Real>::no_body;
  ArrayView<const Vec3<Real>> centers;  ///< of mass, before the move [m], shape [body]
  ArrayView<const Real> moves;          ///< b: translations [m] and rotations [rad], shape [body, 6]
};

namespace ISOCLOTH_BACKEND {
/// Grippers let go and take hold at the beginning of a step. One item per node.
template <class Real>
void grasp_nodes(const Queue& queue, const FindContacts<Real>& args);
/// Nodes that are held rigidly, where their grippers are when the step ends. One item per node.
template <class Real>
void place_held(const Queue& queue, const PlaceHeld<Real>& args);
/// Forces and stiffness of grippers and air alone, for the step without constraints. One item per sample.
template <class Real>
void act_without_contacts(const Queue& queue, const FindContacts<Real>& args);
/// Obstacles whose boxes the cloth's box meets, over the step so far. One block.
template <class Real>
void list_near_obstacles(const Queue& queue, const FindContacts<Real>& args);
/// Contacts at the iterate, and forces and stiffness of the samples; see ContactTerms, ExternalTerms. One
/// item per sample.
template <class Real>
void find_contacts(const Queue& queue, const FindContacts<Real>& args);
/// Forces of contacts and grippers after a correction. One item per sample.
template <class Real>
void update_contacts(const Queue& queue, const UpdateContacts<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

// What acts on the samples of one cloth, kernel by kernel: contacts, grippers and forces on nodes.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/forces/node_forces.hpp"
#include "kernels/grippers/grippers.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// All that SampleTerms know of one cloth in an iteration.
template <class Real>
struct ActOnSamples {
  SamplePattern pattern;
  ContactControl<Real> control;
  ContactPositions<Real> positions;
  ObstaclesView<Real> obstacles;
  NearObstacles<Real> near;
  ContactArrays<Real> contacts;
  GrippersView<Real> grippers;
  HoldArrays<Real> holds;
  FreeNodesView free;
  GatherView node_slots;  ///< per free node: (slot, its sample)
  FacesView faces;
  NodeForces<Real> forces;
  bool without_contacts = false;  ///< for the step without constraints: their forces are kept, and do not act

  /// Whether anything but contacts acts.
  ISOCLOTH_HD bool has_external_forces() const { return grippers.size() > 0 || forces.exists(); }
  /// Samples that have anything to begin a step with.
  ISOCLOTH_HD Index begin_count() const {
    return pattern.element_count() > 0 ? pattern.sample_count() : pattern.node_count;
  }
  /// Whether forces act, or their stiffness alone: where they are not kept, those of the step act already.
  ISOCLOTH_HD bool pulls() const { return without_contacts || control.keeps_forces; }
};

template <class Real>
struct PlaceHeld {
  ActOnSamples<Real> samples;
  Strided<Real> positions;  ///< [m], shape [node_count, 3]
};

template <class Real>
struct UpdateSamples {
  ActOnSamples<Real> samples;
  FreeNodesView free;
  ArrayView<const Vec3<Real>> correction;  ///< d [m], shape [free_count]
  // Of bodies, which are the obstacles from first_body on; see kernels/projection/body_system.hpp.
  Index first_body = ObstaclesView<Real>::no_body;
  ArrayView<const Vec3<Real>> centers;  ///< centres of mass before the move [m], shape [body]
  ArrayView<const Real> moves;          ///< b: translations [m] and rotations [rad], shape [body, 6]
};

namespace ISOCLOTH_BACKEND {
// The hooks of SampleTerms.

/// At the beginning of a step grippers let go and take hold, and depths at the start go on. One item per
/// node, per sample where edges and faces meet obstacles.
template <class Real>
void begin_samples(const Queue& queue, const ActOnSamples<Real>& args);
/// Nodes that are held rigidly, where their grippers are when the step ends. One item per node.
template <class Real>
void place_held(const Queue& queue, const PlaceHeld<Real>& args);
/// Obstacles whose boxes the cloth's box meets, over the step so far, and the ways of its nodes. One block.
template <class Real>
void list_near_obstacles(const Queue& queue, const ActOnSamples<Real>& args);
/// Forces and stiffness at the iterate. One item per sample.
template <class Real>
void act_on_samples(const Queue& queue, const ActOnSamples<Real>& args);
/// Forces after a correction. One item per sample.
template <class Real>
void update_samples(const Queue& queue, const UpdateSamples<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

// Cloths that step together, from their surfaces to the contacts between them.
#pragma once

#include <utility>

#include "host/cloth_collision/broad_phase.hpp"
#include "host/cloth_collision/ccd_limits.hpp"
#include "host/cloth_collision/contact_warm_start.hpp"
#include "host/cloth_collision/narrow_phase.hpp"

namespace isocloth {

/// The stages one after the other: BroadPhase finds candidates for the displacements of all nodes,
/// NarrowPhase the contacts among them at every iterate. How cloths answer to contacts is the matter of who
/// has it; what their forces were in the last step is kept here.
class ClothCollision {
 public:
  /// All garments that meet; they and the device must outlive it.
  ClothCollision(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments);
  ClothCollision(const ClothCollision&) = delete;

  const CollisionGeometry& geometry() const { return geometry_; }
  const SurfaceFeatures& features() const { return search_.features(); }
  /// Ways of the nodes in the part of a step, which whoever steps them writes.
  NodalTrajectories& nodes() { return nodes_; }
  const NodalTrajectories& nodes() const { return nodes_; }
  const Candidates& candidates() const { return broad_phase_.candidates(); }
  const Contacts& contacts() const { return contacts_; }

  void begin_step() { broad_phase_.begin_step(); }
  /// A part of a step begins with nodes().from, which of a device the host must know by detect_contacts().
  void begin_substep();
  /// On a device: launches what detect_contacts() needs at the next iterate of nodes(), and asks for it.
  void begin_detection(Downloads& downloads);
  /// Finds contacts() on the ways of nodes(). Throws DeviceError where memory runs out for pairs.
  void detect_contacts();
  /// Whether some pair is within reach at the end of the displacements of all nodes from one place to
  /// another, or perhaps does not stay apart on them. No step is under way.
  bool has_contact(std::vector<Vec3d> from, std::vector<Vec3d> to);
  /// Limits of the ways of nodes(); velocities [m/s] of what meets on the way to `predicted` [m] become those
  /// of inelastic impulses. inverse_masses [1/kg]; all of shape [node_count]. Throws DeviceError as
  /// detect_contacts().
  CcdLimits ccd_limits(const std::vector<Vec3d>& predicted, const std::vector<double>& inverse_masses,
                       std::vector<Vec3d>& velocities);
  /// Least distance of a pair that forces can part over its thickness, at most 1.
  double least_gap() const;

  /// Forces of contacts in the last step.
  const ContactWarmStart& kept() const { return kept_; }
  void set_kept(ContactWarmStart kept) { kept_ = std::move(kept); }
  /// The contacts that a garment keeps: each contact is kept by the first of its two garments.
  std::vector<ClothContactState> kept(std::size_t garment) const {
    return contacts_of(features(), kept_, garment);
  }
  void set_kept(std::size_t garment, const std::vector<ClothContactState>& kept) {
    set_contacts_of(features(), garment, kept, kept_);
  }
  /// Loads of kept() with all nodes at `positions`, see contact_loads().
  std::vector<ClothLoads> loads(const std::vector<Vec3d>& positions) const {
    return contact_loads(features(), kept_, positions);
  }
  Index loaded_count() const;  ///< number of contacts() that keep a force
  std::size_t memory_bytes() const;

 private:
  /// Returns false where nothing can be said of the ways.
  bool detect_on_device();

  const Device& device_;
  PairSearch search_;
  CollisionGeometry geometry_;
  NodalTrajectories nodes_;
  BroadPhase broad_phase_;
  NarrowPhase narrow_phase_;
  bool has_begun_ = false;     ///< what begin_detection() asked for is of this iterate
  bool has_new_part_ = false;  ///< a part began, of which nothing is detected yet
  Contacts contacts_;
  ContactWarmStart kept_;
};

}  // namespace isocloth

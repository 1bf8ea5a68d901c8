// Work of what touches or holds a garment.
#pragma once

#include "engine/model/scene.hpp"
#include "host/energy/garment_part.hpp"
#include "host/garment/contact_samples.hpp"

namespace isocloth::energy {

/// Contacts of a garment with obstacles and bodies act on points of its nodes, edges and faces.
class ContactWork {
 public:
  ContactWork(const Scene& scene, const Garment& garment) : samples_(scene, garment) {}
  /// p . dx of each contact's force p on its point at the end of the part: p . dy goes to work_obstacles, dy
  /// the way of the obstacle at that point, and -p . (dx - dy) to loss_contact.
  void act(const GarmentPart& part, MatrixX3d& force, EnergySums& sums) const;

 private:
  ContactSamples samples_;
};

/// Adds forces and work of a garment's contacts with cloth.
void add_cloth_work(const GarmentPart& part, MatrixX3d& force, EnergySums& sums);
/// Adds forces and work of grippers that hold softly.
void add_hold_work(const GarmentPart& part, MatrixX3d& force, EnergySums& sums);

}  // namespace isocloth::energy

// Forces from outside on the nodes of garments, in the memory of a device, in the steps to come.
#pragma once

#include "engine/model/scene.hpp"
#include "host/surroundings/step_table.hpp"
#include "kernels/forces/node_forces.hpp"

namespace isocloth {

/// Forces on nodes in the memory of a device, see NodeForces.
template <class Real>
class NodeForceTable {
 public:
  /// A table without forces.
  NodeForceTable() = default;
  /// `garments` of one mesh in the order of their clocks.
  NodeForceTable(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments);

  /// Sets the forces of the next `steps` steps of h [s].
  void set(const std::vector<Clock>& clocks, double h, int steps);
  /// Forces on a member in one of the steps of set().
  NodeForces<Real> view(std::size_t member, int step) const { return forces_.view(member, step); }
  NodeForceSets<Real> sets() const { return forces_.sets(); }
  FacesView faces(const GarmentArrays<Real>& arrays) const;
  std::size_t memory_bytes() const {
    return forces_.memory_bytes() + node_face_begin_.bytes() + node_faces_.bytes() + loads_.bytes() +
           slopes_.bytes();
  }

 private:
  /// On a member in a step that ends at t [s].
  NodeForces<Real> forces_at(std::size_t member, double t) const;
  LoadView<Real> load_on(std::size_t member) const;
  void write_loads();
  void write_slopes(std::size_t nodes);

  const Device* device_ = nullptr;
  const Scene* scene_ = nullptr;
  std::vector<const Garment*> garments_;
  bool act_on_faces_ = false;  ///< drag or pressure
  StepTable<NodeForces<Real>> forces_;
  Buffer<Index> node_face_begin_, node_faces_;
  /// Loads on the nodes [N], shape [member, node_count]; of members without loads undefined.
  Buffer<Vec3<Real>> loads_;
  std::vector<Vec3<Real>> staging_;
  /// Slopes of the loads, shape [member, node_count]; empty until there are some.
  Buffer<LoadSlope<Real>> slopes_;
  std::vector<LoadSlope<Real>> staged_slopes_;
};

}  // namespace isocloth

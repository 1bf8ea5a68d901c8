// The air around garments in the memory of a device, in the steps to come.
#pragma once

#include "engine/model/scene.hpp"
#include "host/garment/garment_arrays.hpp"
#include "host/memory/buffer.hpp"
#include "host/solver/garment_solver.hpp"
#include "kernels/forces/drag.hpp"

namespace isocloth {

template <class Real>
class AirTable {
 public:
  /// No air.
  AirTable() = default;
  /// `garments` of one mesh in the order of their clocks.
  AirTable(const Device& device, const Scene& scene, const std::vector<const Garment*>& garments);

  bool exists() const { return !garments_.empty(); }
  /// What the garments feel of the wind at the ends of the next `steps` steps of h [s].
  void set_winds(const std::vector<Clock>& clocks, double h, int steps);
  /// What a member feels in one of the steps.
  DragView<Real> view(std::size_t member, int step) const;
  DragSets<Real> sets() const;
  FacesView faces(const GarmentArrays<Real>& arrays) const;
  std::size_t memory_bytes() const;

 private:
  const Device* device_ = nullptr;
  const Scene* scene_ = nullptr;
  int steps_ = 0;
  std::vector<const Garment*> garments_;    ///< none: no air
  std::vector<Real> coefficients_, winds_;  ///< host copies
  Buffer<Real> device_coefficients_;        ///< shape [member, 2]
  Buffer<Real> device_winds_;               ///< shape [member, step, 3]
  Buffer<Index> node_face_begin_, node_faces_;
};

}  // namespace isocloth

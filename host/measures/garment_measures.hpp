// What the states of garments are worth: rows, areas, energies, momenta.
#pragma once

#include "engine/material/fabric.hpp"
#include "engine/model/scene.hpp"
#include "host/garment/garment_arrays.hpp"
#include "host/state/measures.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

/// The rest shape in a garment's own arrays.
template <class Real>
RestShapesView<Real> rest_view(const GarmentArrays<Real>& arrays);

/// Measures garments of one pattern, `width` of them side by side as in StepCloths.
template <class Real>
class GarmentMeasures {
 public:
  GarmentMeasures(const Device& device, const GarmentArrays<Real>& arrays, std::size_t width = 1);
  /// `count` of the garments from number `first` on; positions [m] and velocities [m/s] of all, shape [tile,
  /// node_count, 3, width]; energies: of the rows of all; gravity [m/s^2] of those that have none of their
  /// own; rows_are_lengths: the residual is |l / l0 - 1| in place of |l^2 / l0^2 - 1|.
  std::vector<Measures> measure(const RestShapesView<Real>& rest, ArrayView<const Real> positions,
                                ArrayView<const Real> velocities, const RowEnergies<Real>& energies,
                                const std::vector<const Garment*>& garments, std::size_t first,
                                std::size_t count, double gravity, bool rows_are_lengths = false);
  std::size_t memory_bytes() const { return physics_.bytes() + reports_.bytes(); }

 private:
  const Device& device_;
  const StepKernels<Real>& kernels_;
  const std::size_t width_;
  MeasureCloths<Real> arguments_;
  Buffer<Real> physics_, reports_;
  std::vector<Real> staging_, sent_physics_;  ///< sent_physics_: what physics_ begins with
};

}  // namespace isocloth

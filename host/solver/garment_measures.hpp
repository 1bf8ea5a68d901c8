// What the state of a garment is worth: rows, areas, energies, momenta.
#pragma once

#include "engine/model/fabric.hpp"
#include "host/simulation.hpp"
#include "host/solver/row_evaluator.hpp"

namespace isocloth {

template <class Real>
class GarmentMeasures {
 public:
  GarmentMeasures(const Device& device, const GarmentArrays<Real>& arrays);
  /// Evaluates `rows` at `positions` on the way. gravity: [m/s^2]
  Measures measure(RowEvaluator<Real>& rows, const Buffer<Vec3<Real>>& positions,
                   const Buffer<Vec3<Real>>& velocities, const Fabric& fabric, double gravity);
  std::size_t memory_bytes() const;

 private:
  const Device& device_;
  const StepKernels<Real>& kernels_;
  const GarmentArrays<Real>& arrays_;
  Buffer<Real> areas_, area_errors_, node_values_;
};

}  // namespace isocloth

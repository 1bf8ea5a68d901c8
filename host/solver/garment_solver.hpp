// One garment in motion: its rows, its matrix, its state.
#pragma once

#include <memory>

#include "host/simulation.hpp"

namespace isocloth {

class Device;

/// A garment of either precision on either backend.
class GarmentSolver {
 public:
  virtual ~GarmentSolver() = default;
  /// From time t to t + h [s]; a step that misses its tolerance is tried again in parts if settings allow. A
  /// non-finite step leaves the state as it was.
  virtual StepReport step(double t, double h) = 0;
  virtual Measures measure() = 0;
  virtual GarmentInfo info() const = 0;
  virtual GarmentState state() const = 0;
  virtual void set_state(const GarmentState& state) = 0;
};

/// Analyses the mesh, builds tensors and bending on the device. `garment` must outlive the solver.
std::unique_ptr<GarmentSolver> make_garment_solver(const Device& device, Precision precision,
                                                   const Garment& garment, const Scene& scene);

}  // namespace isocloth

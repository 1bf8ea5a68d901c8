// Which linear solver serves a large mesh.
#pragma once

#include "host/linear/linear_solver.hpp"
#include "host/memory/device.hpp"

namespace isocloth {

/// Solver of the nodal system of one garment for every choice but `batched`; `automatic` is direct. Throws
/// DeviceError for mixed in single precision: there is nothing to refine to.
template <class Real>
std::unique_ptr<LinearSolver<Real>> make_nodal_solver(const Device& device, const BlockPattern& pattern,
                                                      StepSolver choice);

}  // namespace isocloth

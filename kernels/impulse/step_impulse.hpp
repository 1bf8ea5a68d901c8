// Whole steps of cloths held by impulses: one launch, no return to the host.
#pragma once

#include "kernels/impulse/impulse_arrays.hpp"

namespace isocloth {

/// Most threads of a block.
constexpr int max_impulse_threads = 256;

/// Bytes of work arrays of one cloth.
template <class Real>
ISOCLOTH_HD std::size_t impulse_scratch(const ImpulsePattern<Real>& pattern) {
  const std::size_t nodes = static_cast<std::size_t>(pattern.node_count) + 1;
  const std::size_t of_positions = sizeof(Real) == sizeof(double) ? 0 : nodes * sizeof(Vec3<double>);
  return nodes * sizeof(Vec4<Real>) * (pattern.has_forces() ? 3 : 2) + of_positions +
         max_impulse_threads * sizeof(double);
}

template <class Real>
struct StepImpulse {
  ImpulseCloths<Real> cloths;
  Index steps = 1;
  ArrayView<Real> alive;             ///< 1; 0: frozen, not to be touched; shape [cloth]
  ArrayView<ImpulseReport> reports;  ///< written anew, shape [cloth]
  MonitorView monitor;  ///< monitor of the queue; where it says stop, states and reports are worth nothing
};

namespace ISOCLOTH_BACKEND {
/// ImpulseStep of each cloth by a block. A cloth whose step is not finite or diverges keeps the places and
/// velocities before it and is no longer alive.
template <class Real>
void step_impulse(const Queue& queue, const StepImpulse<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

// A phase: what is done to each of many items at once, as a type with arguments of its own.
//
// Phases of a step stand in one list; who steps a cloth does them by a block of threads or by a launch each.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

template <class Args>
using Kernel = void (*)(const Queue&, const Args&);

/// A phase on items [first, first + count) of some arrays.
template <class Arrays, class Phase>
struct RunPhase {
  Arrays arrays;
  Phase phase;
  Index first = 0, count = 0;
};

template <class Args>
struct PhaseKernel {
  Kernel<Args> launch;
};

/// A kernel for each phase of a list.
template <class Arrays, class... Phases>
struct PhaseKernels : PhaseKernel<RunPhase<Arrays, Phases>>... {
  template <class Phase>
  void run(const Queue& queue, const RunPhase<Arrays, Phase>& args) const {
    const PhaseKernel<RunPhase<Arrays, Phase>>& kernel = *this;
    kernel.launch(queue, args);
  }
};

}  // namespace isocloth

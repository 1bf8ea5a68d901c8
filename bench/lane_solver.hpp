// Systems of one pattern solved side by side in vector lanes, as the engine does with small cloths.
#pragma once

#include "bench/nodal_system.hpp"
#include "bench/timing.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth::bench {

/// Times of one system: those of all of them over their number.
struct LaneFigures {
  int width = 0, systems = 0;  ///< lanes; systems solved at once
  double analysis = 0;         ///< of the pattern, once for all [s, wall]
  Seconds factor{}, both{};    ///< of one system; both: factorisation and solve
  double backward_error = 0;   ///< worst of all systems
  double nonzeros = 0, flops = 0;
  double memory_bytes = 0;  ///< of a tile's factor per system
  bool ok = true;
};

/// Fills several tiles with the system, each multiplied by a number of its own, on one thread. The block rows
/// of `system` are in the order of elimination; analysis: time that finding it took [s].
LaneFigures solve_in_lanes(const NodalSystem& system, double analysis, Simd simd, Precision precision,
                           double budget);

}  // namespace isocloth::bench

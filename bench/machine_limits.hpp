// What this machine can do at most, measured by two plain loops.
#pragma once

#include "host/simulation/simulation.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth::bench {

struct MachineLimits {
  double flops_per_second = 0;  ///< in registers, fused where there is an instruction for it, all threads
  double bytes_per_second = 0;  ///< read and written by a = b + s c over arrays larger than the caches
};

/// By processor time of each thread, the best of several tries, so that other programs matter little.
/// `simd`: instructions of the arithmetic, which must be there.
MachineLimits measure_limits(Simd simd, Precision precision, int threads);

}  // namespace isocloth::bench

// Nodal systems of real sheets, assembled by the reference implementation.
#pragma once

#include "host/linear/block_pattern.hpp"
#include "tests/linear/patterns.hpp"

namespace isocloth {

/// A symmetric positive definite matrix of blocks; values row-major, shape [block_count, block, block].
struct BlockSystem {
  BlockPattern pattern;
  std::vector<double> values;
};

/// B + G+ + J^T (eps D)^-1 J at step 0.01 s on the garment's free nodes, each coordinate displaced by up to
/// `noise` [m], with random multipliers of size `multiplier` [kg m^2].
BlockSystem nodal_system(const Garment& garment, double eps, double noise, double multiplier = 0);

/// A random diagonally dominant matrix.
BlockSystem dominant_system(const BlockPattern& pattern, unsigned seed);

}  // namespace isocloth

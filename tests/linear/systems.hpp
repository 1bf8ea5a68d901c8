// Nodal systems of real sheets, assembled by the reference implementation.
#pragma once

#include <Eigen/Core>
#include <vector>

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

/// The same of a sheet of 0.9 m x 0.8 m that hangs by two corners, displaced by up to 3 mm.
BlockSystem sheet_system(Index columns, Index rows, double eps);

/// A random diagonally dominant matrix.
BlockSystem dominant_system(const BlockPattern& pattern, unsigned seed);

/// A dense band, 71 blocks wide: fronts of many tiles, with a remainder in every direction.
BlockSystem band_system();

/// S A S with powers of two from 2^-20 to 2^20 in S. Blocks of 3.
BlockSystem scaled_over_twelve_orders(BlockSystem system);

/// The system as `Real` stores it.
template <class Real>
BlockSystem rounded(BlockSystem system) {
  for (double& value : system.values) value = static_cast<Real>(value);
  return system;
}

/// The matrix whole.
Eigen::MatrixXd dense(const BlockSystem& system);

/// max |b - A x| / (|A|_inf max |x| + max |b|), worst of `count` right sides of shape [size, block, count];
/// summed in long double.
template <class Real>
double backward_error(const BlockSystem& system, const std::vector<Real>& b, const std::vector<Real>& x,
                      int count = 1);

}  // namespace isocloth

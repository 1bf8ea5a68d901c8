// The linear system of a step, as the engine's kernels assemble it.
#pragma once

#include "engine/model/scene.hpp"
#include "host/linear/block_pattern.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth::bench {

/// H d = b of the first iteration of a step of the proximal Newton in the metric B.
struct NodalSystem {
  BlockPattern pattern;
  std::vector<double> values;      ///< row-major blocks, shape [block_count, 9]
  std::vector<double> right_side;  ///< [kg m], shape [size, 3]
  std::size_t unknowns() const { return right_side.size(); }
};

/// A sheet of side x side nodes, shaken for half a second: the state of 33 x 33 nodes at that time, moved to
/// the mesh by bilinear interpolation, and two steps more.
struct MovingSheet {
  Scene scene;
  GarmentState state;
  double residual = 0;  ///< largest of the last two steps
};
MovingSheet moving_sheet(Index side);

/// The system of the sheet's next step. eps: softness of the rows, 0: the default. Block rows ascend with the
/// nodes, or follow an order of elimination with little fill.
NodalSystem next_system(const MovingSheet& sheet, double eps, bool elimination_order);

/// The larger number; NaN if one of them is.
inline double larger_or_nan(double a, double b) { return a >= b || a != a ? a : b; }

/// max |b - A x| / (|A|_inf max |x| + max |b|); NaN where a number of x is not finite.
double backward_error(const NodalSystem& system, const double* x);

}  // namespace isocloth::bench

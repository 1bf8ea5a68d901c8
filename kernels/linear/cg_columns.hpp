// Conjugate gradients for several right sides whose numbers stay where kernels run: the pieces of
// conjugate_gradients() (conjugate_gradients.hpp) as launches that are the same in every iteration.
#pragma once

#include "engine/core/vec3.hpp"
#include "kernels/launch/queue.hpp"
#include "kernels/linear/columns.hpp"

namespace isocloth {

/// What is known of one right side between the kernels of an iteration.
struct CgColumn {
  double energy = 0;     ///< r . z
  double goal = 0;       ///< energy at which it is done
  double length = 0;     ///< alpha
  double weight = 0;     ///< beta
  double idle = 0;       ///< length of a column that is done: 0, or no number where the first energy is none
  Index is_active = 0;   ///< it is above its goal, and A positive along p
  Index is_updated = 0;  ///< x, r and p change; 0 from the iteration on after which it is done
};

/// Of all columns together.
struct CgProgress {
  Index goes_on = 0;     ///< 1: some column is active; 0: iterations change nothing any more
  Index iterations = 0;  ///< iterations that some column needed
};

/// The numbers after a scalar product. One block.
struct AdvanceCg {
  /// Which: r . z before the iterations, p . A p, r . z of the next iteration.
  enum class Phase : Index { begin, curvature, energy };
  Phase phase = Phase::begin;
  Index count = 0;                   ///< columns
  double goal_factor = 0;            ///< rtol^2
  Index most_iterations = 0;         ///< most that there may be
  ArrayView<const double> partials;  ///< of PartialDots, shape [count, partials of a column]
  ArrayView<CgColumn> columns;       ///< shape [count]
  ArrayView<CgProgress> progress;    ///< shape [1]
};

/// Vectors of all columns. One item per block row and column.
template <class Real>
struct CgVectors {
  Index size = 0;  ///< block rows of a column
  Columns columns;
  ArrayView<const CgColumn> numbers;                                             ///< shape [columns.count]
  ArrayView<Vec3<Real>> solution, residual, preconditioned, direction, product;  ///< x, r, z, p, A p
};

namespace ISOCLOTH_BACKEND {
void advance_cg(const Queue& queue, const AdvanceCg& args);
/// x = z - z, which is not 0 where z is not finite; p = z.
template <class Real>
void begin_cg(const Queue& queue, const CgVectors<Real>& args);
/// x += alpha p, r -= alpha A p.
template <class Real>
void descend_cg(const Queue& queue, const CgVectors<Real>& args);
/// p = z + beta p.
template <class Real>
void turn_cg(const Queue& queue, const CgVectors<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth

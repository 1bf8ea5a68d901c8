// One step of garments that are projected together.
#pragma once

#include "host/projection/body_coupling.hpp"

namespace isocloth {

/// The `number`-th step of h [s] of all garments' requests: iterations until every garment meets its
/// tolerances, bodies (null: none) solved with them; where one does not, again in 2, 4, ... parts up to
/// projection.max_substeps. One report per garment. Where a step is not finite, all is as before it, and the
/// garments that made it so say so.
template <class Real>
std::vector<StepReport> take_step(const std::vector<ProjectionSolver<Real>*>& garments,
                                  BodyCoupling<Real>* bodies, int number, double h);

}  // namespace isocloth

// One step of garments that are projected together.
#pragma once

#include "host/projection/step_participant.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

/// How steps of h [s] of a scene are iterated.
StepControl step_control(const ResolvedScene& resolved, Precision precision, double h);

/// The `number`-th step of h [s] of all garments' requests (StepController): iterations until every garment
/// and every participant meets its tolerances. One report per garment. Where a step is not finite, all is as
/// before it, and the garments that made it so say so.
template <class Real>
std::vector<StepReport> take_step(const Device& device, const ResolvedScene& resolved,
                                  const std::vector<ProjectionSolver<Real>*>& garments,
                                  const std::vector<StepParticipant<Real>*>& participants, int number,
                                  double h);

}  // namespace isocloth

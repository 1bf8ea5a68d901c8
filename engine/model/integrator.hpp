// How a step follows from those before it.
#pragma once

#include "engine/core/platform.hpp"

namespace isocloth {

/// Backward Euler damps: what swings with the angular frequency w loses w h / 2 of its amplitude per radian.
/// BDF2 is of second order. Their coefficients: kernels/projection/integrator.hpp. automatic, the last: see
/// ResolvedScene::integrator.
enum class Integrator { backward_euler, bdf2, automatic };

/// As in scene files, in the order of Integrator.
constexpr const char* integrator_names[] = {"backward_euler", "bdf2", "automatic"};
constexpr const char* integrator_doc =
    "backward Euler damps what swings; BDF2, of second order, hardly does; automatic: BDF2 where elements "
    "are elastic, else backward Euler";

/// Whether it wants to know the step before.
ISOCLOTH_HD constexpr bool remembers_step(Integrator integrator) { return integrator == Integrator::bdf2; }

}  // namespace isocloth

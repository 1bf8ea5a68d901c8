// How a step follows from those before it.
#pragma once

namespace isocloth {

/// Backward Euler damps: what swings with the angular frequency w loses w h / 2 of its amplitude per radian.
/// BDF2 is of second order. Their coefficients: kernels/projection/integrator.hpp. automatic: see
/// ResolvedScene::integrator.
enum class Integrator { backward_euler, bdf2, automatic };

/// Whether it wants to know the step before.
constexpr bool remembers_step(Integrator integrator) { return integrator == Integrator::bdf2; }

}  // namespace isocloth

// What velocities and places are of steps that remember the one before.
#pragma once

#include "engine/model/integrator.hpp"

namespace isocloth::reference {

/// v = rate (x - x^) / h with x^ = x_n + memory (x_n - x_{n-1}), and accelerations likewise, after a step of
/// length `before`, 0: there was none. BDF2 (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations
/// I, III.5): the derivative at its end of the parabola through three values, w the ratio of the steps;
/// backward Euler where w is 0 or above 2.
struct IntegratorFormula {
  double rate = 1, memory = 0;
  IntegratorFormula(Integrator integrator, double h, double before) {
    const double w = before > 0 ? h / before : 0;
    if (integrator != Integrator::bdf2 || w == 0 || w > 2) return;
    rate = (1 + 2 * w) / (1 + w);
    memory = w * w / (1 + 2 * w);
  }
};

}  // namespace isocloth::reference

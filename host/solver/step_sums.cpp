#include "host/solver/step_sums.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/solver/garment_solver.hpp"

namespace isocloth {

void require_step_count(int steps) {
  if (steps < 0) throw ShapeError(text("steps: found ", steps, ", expected >= 0"));
}

std::vector<StepReport> add_up_steps(int steps, std::size_t garments,
                                     const std::function<std::vector<StepReport>()>& step) {
  require_step_count(steps);
  std::vector<StepReport> sums(garments);
  for (StepReport& sum : sums) sum.substeps = 0;
  for (int i = 0; i < steps; ++i) {
    const std::vector<StepReport> own = step();
    for (std::size_t g = 0; g < own.size(); ++g) add_up(own[g], sums[g]);
  }
  return sums;
}

}  // namespace isocloth

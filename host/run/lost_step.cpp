#include "host/run/lost_step.hpp"

#include "engine/core/bound_text.hpp"
#include "engine/core/text.hpp"
#include "kernels/core/divergence.hpp"

namespace isocloth {

std::string lost_because(const StepReport& report, const ResolvedScene& resolved) {
  if (report.status == StepStatus::non_finite) return "is not finite";
  const double strain = resolved.row_strain(report.residual);
  const double most = resolved.projects && resolved.recipe.is_elastic()
                          ? resolved.row_strain(largest_linear_strain)
                          : largest_strain;
  if (strain > most) {
    const ToldApart told = told_apart(strain, most, 9);
    return text("diverges: strain ", told.found, ", expected <= ", told.bound);
  }
  return text("diverges: a node is thrown by more than ", largest_way, " times the size of the garment");
}

}  // namespace isocloth

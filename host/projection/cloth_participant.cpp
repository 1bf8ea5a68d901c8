#include "host/projection/cloth_participant.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {
namespace {

/// Parts of a step of h [s] in which no node goes farther than an element against another: more do not make
/// an impact easier.
template <class Real>
int parts_of_elements(const Device& device, const std::vector<ProjectionSolver<Real>*>& garments, double h) {
  constexpr int most = 256;
  std::vector<std::vector<Vec3<Real>>> staging(garments.size());
  std::vector<const Vec3<Real>*> all(garments.size());
  Downloads downloads(device);
  for (std::size_t g = 0; g < garments.size(); ++g)
    garments[g]->fetch_velocities(downloads, staging[g], all[g]);
  downloads.run();
  BoundingBox velocities;
  double shortest = HUGE_VAL;
  for (std::size_t g = 0; g < garments.size(); ++g) {
    for (std::size_t i = 0; i < garments[g]->pattern().free_number.size(); ++i) {
      const Vec3d v{static_cast<double>(all[g][i].x), static_cast<double>(all[g][i].y),
                    static_cast<double>(all[g][i].z)};
      velocities = joined(velocities, {v, v});
    }
    shortest = std::min(shortest, garments[g]->element_size());
  }
  const double way = h * norm(velocities.high - velocities.low);
  int parts = 1;
  while (parts < most && way > parts * shortest) parts *= 2;
  return parts;
}

/// Where cloth was held back in a smallest part, the motions of the step cannot be followed, and parts that
/// are left would spend as much as it did.
template <class Real>
void spare_solves(const Substep<double>& part, StepUnderWay<Real>& step) {
  constexpr int most_of_step = 100;
  const int left = static_cast<int>(part.parts - part.done) - 1,
            spent = step.progress.front().report.iterations;
  int& most = step.control.max_iterations;
  if (left > 0) most = std::clamp((most_of_step - spent) / left, 1, most);
}

}  // namespace

template <class Real>
void ClothParticipant<Real>::begin_step(Step& step) {
  contacts_.begin_step();
  int& parts = step.control.max_substeps;
  if (has_own_parts_) parts = std::max(parts, parts_of_elements(device_, step.garments, step.control.step));
}

template <class Real>
void ClothParticipant<Real>::begin_assess(Step& step, int iteration, Downloads& downloads) {
  for (std::size_t g = 0; iteration == 1 && g < step.garments.size(); ++g)
    step.garments[g]->launch_escape(downloads);
  contacts_.begin_find(downloads);
}

template <class Real>
ParticipantFit ClothParticipant<Real>::assess(Step& step, int iteration) {
  // Among contacts it would take all iterations of all parts to miss its tolerances.
  for (std::size_t g = 0; iteration == 1 && g < step.garments.size(); ++g) {
    GarmentProgress& own = step.progress[g];
    own.thrown = !own.done && step.garments[g]->has_escaped();
    if (own.thrown) own.lose();
  }
  if (step.has_lost_any()) return {};
  const double depth = contacts_.find(iteration);
  return {.met = depth <= step.control.contact_tolerance && !contacts_.may_penetrate(),
          .depth = depth,
          .may_penetrate = contacts_.may_penetrate(),
          .moved_nodes = iteration == 0 && contacts_.stop_blocked_kinematic_nodes()};
}

template <class Real>
bool ClothParticipant<Real>::couple(Step& step) {
  step.coupled = contacts_.exist() ? &contacts_ : nullptr;
  return step.coupled == nullptr || contacts_.solve(step.control.cg_tolerance, step.outcomes);
}

template <class Real>
void ClothParticipant<Real>::end_substep(Step& step, const PartEnd<double, bool>& end) {
  constexpr double far_off = 10;  // tolerances
  const auto keeps_parts = [](const Solver* garment) { return garment->keeps_parts(); };
  if (end.accept && std::ranges::any_of(step.garments, keeps_parts)) contacts_.respond();
  std::vector<const Solver*> failed_garments;
  for (std::size_t g = 0; g < step.garments.size(); ++g)
    if (step.progress[g].residual > far_off * step.control.tolerance)
      failed_garments.push_back(step.garments[g]);
  if (contacts_.end_part(end, cpu::starts_warm(end.residual, end.bad_pivot), failed_garments)) {
    // What is held back is another state than the iterates, and judged as such.
    for (std::size_t g = 0; g < step.garments.size(); ++g)
      step.progress[g].residual = step.garments[g]->rows().evaluate(0);
    spare_solves(end.part, step);
  }
  for (std::size_t g = 0; end.accept && g < step.garments.size(); ++g)
    if (contacts_.blocked_kinematic_nodes(*step.garments[g]) > 0) step.progress[g].miss();
}

template <class Real>
void ClothParticipant<Real>::end_step(bool is_kept) {
  contacts_.end_step(is_kept);
  least_gap_ = contacts_.least_gap();
}

template <class Real>
void ClothParticipant<Real>::report(const Step& step, const Solver& garment, StepReport& report) const {
  report.cloth_contacts = contacts_.count();
  report.cloth_loaded = contacts_.loaded_count();
  report.cloth_force = 1 / (step.control.step * step.control.step) * contacts_.kept().largest();
  if (!has_failed(report.status)) report.cloth_gap = least_gap_;
  report.cg_iterations = contacts_.cg_iterations();
  report.held_back = contacts_.ccd_stopped_nodes(garment);
  report.blocked = contacts_.blocked_kinematic_nodes(garment);
}

template class ClothParticipant<float>;
template class ClothParticipant<double>;

}  // namespace isocloth

#include "host/projection/coupled_solver.hpp"

#include <algorithm>

namespace isocloth {

template <class Real>
CoupledSolver<Real>::CoupledSolver(const Device& device, const ResolvedScene& resolved,
                                   const std::shared_ptr<const ObstacleShapes<Real>>& shapes,
                                   StepSolver choice)
    : bodies_(device, shapes), resolved_(resolved) {
  for (const Garment& garment : resolved.scene.garments)
    garments_.push_back(std::make_unique<ProjectionSolver<Real>>(device, garment, resolved, shapes, choice));
}

template <class Real>
void CoupledSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, StartOptions options) {
  for (std::size_t g = 0; g < garments_.size(); ++g) garments_[g]->start({clocks[g]}, h, steps, options);
  before_ = bodies_.states();
  bodies_.set_clock(clocks.front());
  step_ = h;
  steps_ = steps;
}

template <class Real>
void CoupledSolver<Real>::undo() {
  for (const auto& garment : garments_) garment->undo();
  bodies_.set_states(before_);
}

template <class Real>
std::vector<AdvanceReport> CoupledSolver<Real>::finish() {
  std::vector<AdvanceReport> results;
  for (const auto& garment : garments_) results.push_back(garment->begin_request());
  for (int n = 0; n < steps_; ++n) {
    for (bool again = true; again;) {
      std::vector<ProjectionSolver<Real>*> active;
      std::vector<std::size_t> numbers;
      for (std::size_t g = 0; g < garments_.size(); ++g) {
        if (garments_[g]->frozen()) continue;
        active.push_back(garments_[g].get());
        numbers.push_back(g);
      }
      const std::vector<StepReport> reports = take_step<Real>(active, &bodies_, resolved_, n, step_);
      again =
          std::any_of(reports.begin(), reports.end(), [](const StepReport& r) { return is_lost(r.status); });
      for (std::size_t i = 0; i < reports.size(); ++i)
        if (!again || is_lost(reports[i].status))
          garments_[numbers[i]]->note(reports[i], results[numbers[i]]);
    }
  }
  return results;
}

template <class Real>
std::vector<Measures> CoupledSolver<Real>::measure(std::size_t first, std::size_t count) {
  std::vector<Measures> all;
  for (std::size_t g = first; g < first + count; ++g) all.push_back(garments_[g]->measure(0, 1).front());
  return all;
}

template <class Real>
std::vector<FieldView> CoupledSolver<Real>::views(GarmentField field) {
  std::vector<FieldView> all;
  for (std::size_t g = 0; g < garments_.size(); ++g)
    for (FieldView& view : garments_[g]->views(field)) {
      view.garments = {g};
      all.push_back(std::move(view));
    }
  return all;
}

template <class Real>
std::vector<Strain> CoupledSolver<Real>::strains() {
  std::vector<Strain> all;
  for (const auto& garment : garments_) all.push_back(garment->strains().front());
  return all;
}

template <class Real>
GarmentInfo CoupledSolver<Real>::info(std::size_t member) const {
  GarmentInfo info = garments_[member]->info(0);
  info.memory_bytes += bodies_.memory_bytes() / garments_.size();
  return info;
}

template class CoupledSolver<float>;
template class CoupledSolver<double>;

}  // namespace isocloth

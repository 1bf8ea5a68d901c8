#include "host/projection/coupled_solver.hpp"

#include <algorithm>

namespace isocloth {

template <class Real>
CoupledSolver<Real>::CoupledSolver(const Device& device, const std::vector<const Garment*>& garments,
                                   const ResolvedScene& resolved,
                                   const std::shared_ptr<const ObstacleShapes<Real>>& shapes,
                                   StepSolver choice)
    : resolved_(resolved) {
  if (!resolved.scene.bodies.empty()) bodies_ = std::make_unique<BodyCoupling<Real>>(device, shapes);
  std::vector<ProjectionSolver<Real>*> solvers;
  for (const Garment* garment : garments) {
    garments_.push_back(std::make_unique<ProjectionSolver<Real>>(device, *garment, resolved, shapes, choice));
    solvers.push_back(garments_.back().get());
  }
  if (resolved.scene.contact.cloth)
    cloth_ = std::make_unique<ClothContacts<Real>>(device, resolved.scene, garments, solvers);
}

template <class Real>
void CoupledSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) {
  Base::start(clocks, h, steps, undoable);
  before_ = bodies();
  if (bodies_) bodies_->set_clock(clocks.front());
}

template <class Real>
void CoupledSolver<Real>::undo() {
  Base::undo();
  set_bodies(before_);
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
      if (active.empty() && !bodies_) return results;
      const std::vector<StepReport> reports =
          take_step<Real>(active, bodies_.get(), cloth_.get(), resolved_, n, step_);
      again = std::any_of(reports.begin(), reports.end(),
                          [](const StepReport& r) { return has_failed(r.status); });
      for (std::size_t i = 0; i < reports.size(); ++i)
        if (!again || has_failed(reports[i].status))
          garments_[numbers[i]]->note(reports[i], results[numbers[i]]);
    }
  }
  return results;
}

template class CoupledSolver<float>;
template class CoupledSolver<double>;

}  // namespace isocloth

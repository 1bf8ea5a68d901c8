#include "host/projection/coupled_solver.hpp"

#include <algorithm>

#include "host/projection/projection_step.hpp"

namespace isocloth {

template <class Real>
CoupledSolver<Real>::CoupledSolver(const Device& device, const std::vector<const Garment*>& garments,
                                   const ResolvedScene& resolved,
                                   const std::shared_ptr<const ObstacleShapes<Real>>& shapes,
                                   StepSolver choice)
    : device_(device), resolved_(resolved), cloths_(garments) {
  if (!resolved.scene.bodies.empty()) bodies_ = std::make_unique<BodyCoupling<Real>>(device, shapes);
  std::vector<ProjectionSolver<Real>*> solvers;
  for (const Garment* garment : garments) {
    garments_.push_back(std::make_unique<ProjectionSolver<Real>>(device, *garment, resolved, shapes, choice));
    solvers.push_back(garments_.back().get());
  }
  if (resolved.scene.contact.cloth)
    cloth_ = std::make_unique<ClothParticipant<Real>>(device, resolved, garments, solvers);
  // Whatever takes part in the steps has a line here.
  if (bodies_) participants_.push_back(bodies_.get());
  if (cloth_) participants_.push_back(cloth_.get());
}

template <class Real>
std::size_t CoupledSolver<Real>::shared_bytes() const {
  std::size_t sum = 0;
  for (const auto* participant : participants_) sum += participant->memory_bytes();
  return sum;
}

template <class Real>
void CoupledSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) {
  Base::start(clocks, h, steps, undoable);
  before_ = bodies();
  for (auto* participant : participants_) participant->begin_request(clocks.front());
}

template <class Real>
void CoupledSolver<Real>::wake() {
  for (const auto& garment : garments_) garment->wake();
}

template <class Real>
void CoupledSolver<Real>::let_sleep(int number) {
  if (!(resolved_.scene.projection.sleep.after > 0)) return;
  std::vector<char> sleeps;
  for (const auto& garment : garments_) sleeps.push_back(garment->may_sleep(number));
  const bool any = std::ranges::find(sleeps, 1) != sleeps.end();
  std::vector<BoundingBox> boxes;
  for (const auto& garment : garments_) boxes.push_back(any ? garment->box(number) : BoundingBox{});
  for (bool wakes = any && cloth_; wakes;) {
    wakes = false;
    for (std::size_t a = 0; a < sleeps.size(); ++a)
      for (std::size_t b = 0; b < sleeps.size() && sleeps[a] == 0 && !garments_[a]->frozen(); ++b) {
        if (sleeps[b] == 0 || is_kinematic(*cloths_[b]) || !overlap(boxes[a], boxes[b])) continue;
        sleeps[b] = 0;
        wakes = true;
      }
  }
  for (std::size_t g = 0; g < sleeps.size(); ++g) garments_[g]->sleep(sleeps[g] != 0);
}

template <class Real>
void CoupledSolver<Real>::refresh_cloth_friction() {
  wake();
  if (cloth_) cloth_->contacts().set_friction(friction_classes(resolved_.scene, cloths_));
}

template <class Real>
void CoupledSolver<Real>::undo() {
  Base::undo();
  set_bodies(before_);
}

template <class Real>
std::vector<Strain> CoupledSolver<Real>::strains() {
  Downloads downloads(device_);
  for (const auto& garment : garments_) garment->begin_strains(downloads);
  downloads.run();
  std::vector<Strain> all;
  for (const auto& garment : garments_) all.push_back(garment->end_strains().front());
  return all;
}

template <class Real>
std::vector<AdvanceReport> CoupledSolver<Real>::finish() {
  std::vector<AdvanceReport> results;
  for (const auto& garment : garments_) results.push_back(garment->begin_request());
  const bool goes_on_alone =
      std::ranges::any_of(participants_, [](const auto* p) { return p->moves_alone(); });
  for (int n = 0; n < steps_; ++n) {
    let_sleep(n);
    bool any_sleeps = false;
    for (std::size_t g = 0; g < garments_.size(); ++g) {
      if (!garments_[g]->is_asleep()) continue;
      garments_[g]->sleep_through(results[g]);
      any_sleeps = true;
    }
    for (bool again = true; again;) {
      std::vector<ProjectionSolver<Real>*> active;
      std::vector<std::size_t> numbers;
      for (std::size_t g = 0; g < garments_.size(); ++g) {
        if (garments_[g]->stands()) continue;
        active.push_back(garments_[g].get());
        numbers.push_back(g);
      }
      if (active.empty() && any_sleeps) break;
      if (active.empty() && !goes_on_alone) return results;
      const std::vector<StepReport> reports =
          take_step<Real>(device_, resolved_, active, participants_, n, step_);
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

#include "host/projection/coupled_solver.hpp"

#include <algorithm>

#include "engine/core/flat_vectors.hpp"

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
  for (std::size_t g = 0; g < garments_.size(); ++g) garments_[g]->start({clocks[g]}, h, steps, undoable);
  before_ = bodies();
  if (bodies_) bodies_->set_clock(clocks.front());
  if (cloth_) contacts_before_ = cloth_->kept();
  step_ = h;
  steps_ = steps;
}

template <class Real>
std::size_t CoupledSolver<Real>::threads() const {
  std::size_t sum = 0;
  for (const auto& garment : garments_) sum += garment->threads();
  return sum;
}

template <class Real>
void CoupledSolver<Real>::undo() {
  for (const auto& garment : garments_) garment->undo();
  set_bodies(before_);
  if (cloth_) cloth_->set_kept(contacts_before_);
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
std::vector<ClothLoads> CoupledSolver<Real>::cloth_loads() const {
  if (!cloth_) return GarmentSolver::cloth_loads();
  std::vector<Vec3d> positions;
  for (const auto& garment : garments_) {
    const std::vector<Vec3d> own = as_vectors(garment->state(0).positions);
    positions.insert(positions.end(), own.begin(), own.end());
  }
  return cloth_->loads(positions);
}

template <class Real>
GarmentInfo CoupledSolver<Real>::info(std::size_t member) const {
  GarmentInfo info = garments_[member]->info(0);
  const std::size_t shared = (bodies_ ? bodies_->memory_bytes() : 0) + (cloth_ ? cloth_->memory_bytes() : 0);
  info.memory_bytes += shared / garments_.size();
  return info;
}

template <class Real>
GarmentState CoupledSolver<Real>::state(std::size_t member) const {
  GarmentState state = garments_[member]->state(0);
  if (!cloth_) return state;
  const KeptContacts kept = cloth_->kept(member);
  for (std::size_t c = 0; c < kept.keys.size(); ++c)
    state.cloth_contacts.push_back({.key = static_cast<std::int64_t>(kept.keys[c]), .force = kept.forces[c]});
  return state;
}

template <class Real>
void CoupledSolver<Real>::set_state(std::size_t member, const GarmentState& state) {
  garments_[member]->set_state(0, state);
  if (!cloth_) return;
  KeptContacts kept;
  for (const ClothContactState& contact : state.cloth_contacts) {
    kept.keys.push_back(static_cast<std::uint64_t>(contact.key));
    kept.forces.push_back(contact.force);
  }
  cloth_->set_kept(member, kept);
}

template class CoupledSolver<float>;
template class CoupledSolver<double>;

}  // namespace isocloth

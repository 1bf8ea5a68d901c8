#include "host/impulse/coupled_impulses.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace isocloth {

template <class Real>
CoupledImpulses<Real>::CoupledImpulses(const Device& device, const std::vector<const Garment*>& garments,
                                       const ResolvedScene& resolved,
                                       const std::shared_ptr<const ObstacleShapes<Real>>& shapes,
                                       ImpulseSolverFactory<Real> make)
    : device_(device),
      scene_(resolved.scene),
      cloths_(garments),
      may_part_(resolved.scene.impulse.substeps == 0),
      are_lost_(garments.size(), 0) {
  std::vector<ImpulseSolver<Real>*> solvers;
  for (const Garment* garment : garments) {
    garments_.push_back(make(device, *garment, resolved, shapes));
    solvers.push_back(garments_.back().get());
  }
  even_parts();
  cloth_ = std::make_unique<ClothImpulses<Real>>(device, resolved.scene, garments, solvers);
}

template <class Real>
void CoupledImpulses<Real>::even_parts() {
  double rate = 0;
  for (const auto& garment : garments_) rate = std::max(rate, garment->force_rate());
  for (const auto& garment : garments_) garment->set_least_rate(rate);
}

template <class Real>
bool CoupledImpulses<Real>::step_in_parts(const std::vector<std::size_t>& moving, Index number) {
  const ImpulseSolver<Real>& one = *garments_[moving.front()];
  const int parts = one.parts();
  const double length = parts * one.part();
  bool alive = step(moving, number);
  for (int more = 2; may_part_ && more <= most_more_parts && alive && cloth_->misses(); more *= 2) {
    side_by_side(moving, [&](std::size_t g) {
      garments_[g]->undo_step();
      garments_[g]->set_least_rate(more * parts / length);
    });
    are_parted_ = true;
    alive = step(moving, number);
  }
  return alive;
}

template <class Real>
void CoupledImpulses<Real>::refresh() {
  Base::refresh();
  even_parts();
}

template <class Real>
std::vector<std::size_t> CoupledImpulses<Real>::moving() const {
  std::vector<std::size_t> numbers;
  for (std::size_t g = 0; g < garments_.size(); ++g)
    if (!garments_[g]->frozen()) numbers.push_back(g);
  return numbers;
}

template <class Real>
template <class Work>
void CoupledImpulses<Real>::side_by_side(const std::vector<std::size_t>& moving, const Work& work) {
  std::vector<std::size_t> widths;
  for (const std::size_t g : moving) widths.push_back(garments_[g]->threads());
  isocloth::side_by_side(device_.queue().pool, widths, [&](std::size_t i) { work(moving[i]); });
}

template <class Real>
bool CoupledImpulses<Real>::step(const std::vector<std::size_t>& moving, Index number) {
  side_by_side(moving, [&](std::size_t g) { garments_[g]->begin_step(number); });
  cloth_->begin_step();
  const int parts = garments_[moving.front()]->parts();
  for (int part = 0; part < parts; ++part) {
    device_.monitor().check();
    side_by_side(moving, [&](std::size_t g) { garments_[g]->preview(number, part); });
    cloth_->begin_substep();
    side_by_side(moving, [&](std::size_t g) { garments_[g]->hold_rows(); });
    if (!cloth_->has_contact()) {
      are_lost_ = cloth_->are_astray();
      for (const std::size_t g : moving)
        if (are_lost_[g] != 0) garments_[g]->lose_step();
      return false;
    }
    side_by_side(moving, [&](std::size_t g) { garments_[g]->advance(part); });
    cloth_->release();
    side_by_side(moving, [&](std::size_t g) { garments_[g]->end_part(); });
  }
  std::fill(are_lost_.begin(), are_lost_.end(), 0);
  side_by_side(moving, [&](std::size_t g) { are_lost_[g] = !garments_[g]->judge(); });
  return std::ranges::none_of(are_lost_, [](char has_failed) { return has_failed != 0; });
}

template <class Real>
std::vector<AdvanceReport> CoupledImpulses<Real>::finish() {
  std::vector<AdvanceReport> results;
  for (const auto& garment : garments_) results.push_back(garment->begin_request());
  for (int n = 0; n < steps_; ++n)
    for (bool again = true; again;) {
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<std::size_t> moving = this->moving();
      if (moving.empty()) return results;
      again = !step_in_parts(moving, n);
      if (!again) cloth_->end_step();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      for (const std::size_t g : moving) {
        if (again && are_lost_[g] == 0) {
          garments_[g]->undo_step();
          continue;
        }
        AdvanceReport report = garments_[g]->end_step();
        if (!again) cloth_->tell(g, report.total);
        report.total.wall_seconds = seconds / static_cast<double>(moving.size());
        add_up(report.total, results[g].total);
        results[g].steps += report.steps;
      }
      if (std::exchange(are_parted_, false)) even_parts();
    }
  for (std::size_t g = 0; g < garments_.size(); ++g) results[g].total.fallbacks = garments_[g]->fallbacks();
  return results;
}

template class CoupledImpulses<float>;
template class CoupledImpulses<double>;

}  // namespace isocloth

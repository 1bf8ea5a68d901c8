#include "host/impulse/impulse_group.hpp"

#include <chrono>

namespace isocloth {

template <class Real>
ImpulseGroup<Real>::ImpulseGroup(const Device& device, std::vector<const Garment*> garments,
                                 const ResolvedScene& resolved,
                                 const std::shared_ptr<const ObstacleShapes<Real>>& obstacles)
    : Base(device, std::move(garments), resolved, obstacles),
      alive_(device, std::vector<Real>(this->size(), Real(1))),
      reports_(device, this->size()),
      queue_(device) {
  scratch_bytes_ = impulse_scratch(this->cloths().pattern);
  // In a device's memory once for all, so that no step waits for an allocation.
  if (!device.backend().memory.host_accessible)
    this->set_targets(std::vector<Clock>(this->size()), resolved.scene.step, largest_start);
  queue_.reserve(scratch_bytes_, this->size());
}

template <class Real>
void ImpulseGroup<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) {
  const auto begin = std::chrono::steady_clock::now();
  this->keep_before(undoable);
  this->set_targets(clocks, h, steps);
  kernels_.step_impulse(queue_.get(), {.cloths = this->cloths(),
                                       .steps = steps,
                                       .alive = alive_.view(),
                                       .reports = reports_.view(),
                                       .monitor = {}});
  start_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class Real>
std::vector<AdvanceReport> ImpulseGroup<Real>::finish() {
  const auto begin = std::chrono::steady_clock::now();
  queue_.wait();
  const ImpulseReport* const found = reports_.read(staging_);
  std::vector<AdvanceReport> result;
  for (std::size_t c = 0; c < this->size(); ++c) result.push_back(this->take_report(c, found[c]));
  const double seconds =
      start_seconds_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (AdvanceReport& report : result)
    report.total.wall_seconds = seconds / static_cast<double>(this->size());
  return result;
}

template <class Real>
void ImpulseGroup<Real>::set_state(std::size_t member, const GarmentState& state) {
  Base::set_state(member, state);
  alive_.edit(member, 1, [&](Real* alive) { *alive = state.frozen ? Real(0) : Real(1); });
}

template <class Real>
void ImpulseGroup<Real>::undo() {
  Base::undo();
  std::vector<Real> alive;
  for (const StepStatus status : lost_) alive.push_back(has_failed(status) ? Real(0) : Real(1));
  alive_.upload(alive);
}

template <class Real>
std::size_t ImpulseGroup<Real>::work_bytes() const {
  const std::size_t bytes = alive_.bytes() + reports_.bytes();
  // Work arrays: those of one cloth per thread of the host, or what lies in a device's memory.
  if (!device_.backend().memory.host_accessible) return bytes + queue_.get().workspace_bytes;
  return bytes + scratch_bytes_ * std::min(this->size(), static_cast<std::size_t>(device_.threads()));
}

template <class Real>
std::string ImpulseGroup<Real>::solver_name() const {
  return "impulses, cloth by cloth, " + this->instructions();
}

template class ImpulseGroup<float>;
template class ImpulseGroup<double>;

}  // namespace isocloth

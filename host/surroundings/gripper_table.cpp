#include "host/surroundings/gripper_table.hpp"

#include <algorithm>

#include "host/surroundings/shape_views.hpp"

namespace isocloth {

template <class Real>
GripperTable<Real>::GripperTable(const Device& device, const std::vector<const Garment*>& garments)
    : device_(&device), garments_(garments) {
  for (const Garment* garment : garments) count_ = std::max(count_, garment->grippers.size());
  std::vector<GripperView<Real>> views(garments.size() * count_);
  for (std::size_t m = 0; m < garments.size(); ++m)
    for (std::size_t g = 0; g < garments[m]->grippers.size(); ++g) {
      const Gripper& gripper = garments[m]->grippers[g];
      const auto view = [](const auto& region) { return shape_view<Real>(region.solid()); };
      views[m * count_ + g] = {.region = std::visit(view, gripper.region),
                               .stiffness = static_cast<Real>(gripper.stiffness)};
    }
  grippers_ = {device, views};
}

template <class Real>
void GripperTable<Real>::set_motions(const std::vector<Clock>& clocks, double h, int steps) {
  steps_ = steps;
  if (count_ == 0) return;
  const std::size_t each = static_cast<std::size_t>(steps) * count_;
  if (grips_.size() < garments_.size() * each) {
    poses_ = {*device_, garments_.size() * (each + count_)};
    grips_ = {*device_, garments_.size() * each};
  }
  poses_.write(garments_.size() * (each + count_), staging_poses_, [&](PoseView<Real>* poses) {
    std::fill_n(poses, garments_.size() * (each + count_), PoseView<Real>{});
    for (std::size_t m = 0; m < garments_.size(); ++m)
      for (int n = 0; n <= steps; ++n, poses += count_)
        for (std::size_t g = 0; g < garments_[m]->grippers.size(); ++g)
          poses[g] = narrow<Real>(gripper_pose(garments_[m]->grippers[g], clocks[m].time(h, n)));
  });
  grips_.write(garments_.size() * each, staging_grips_, [&](Real* grips) {
    std::fill_n(grips, garments_.size() * each, Real(0));
    for (std::size_t m = 0; m < garments_.size(); ++m)
      for (int n = 0; n < steps; ++n, grips += count_)
        for (std::size_t g = 0; g < garments_[m]->grippers.size(); ++g) {
          const Gripper& gripper = garments_[m]->grippers[g];
          // The middle of the step: spans that end with a step do not depend on rounding.
          const double middle = 0.5 * (clocks[m].time(h, n) + clocks[m].time(h, n + 1));
          const bool was_closed = clocks[m].steps + n > 0 && is_closed(gripper, middle - h);
          const Grip grip = !is_closed(gripper, middle) ? Grip::open
                            : was_closed                ? Grip::closed
                                                        : Grip::closing;
          grips[g] = static_cast<Real>(static_cast<int>(grip));
        }
  });
}

template <class Real>
void GripperTable<Real>::set_poses(ArrayView<const std::array<Pose, 2>> poses) {
  if (count_ == 0) return;
  poses_.edit(0, 2 * count_, [&](PoseView<Real>* to) {
    for (const std::size_t at : {0, 1})
      for (std::size_t g = 0; g < poses.size(); ++g) *to++ = narrow<Real>(poses[g][at]);
  });
  grips_.edit(0, count_, [&](Real* grips) {
    std::fill_n(grips, count_, static_cast<Real>(static_cast<int>(Grip::closed)));
  });
}

template <class Real>
GrippersView<Real> GripperTable<Real>::view(std::size_t member, int step) const {
  return sets().of(member, step);
}

template <class Real>
GripperSets<Real> GripperTable<Real>::sets() const {
  if (count_ == 0) return {};
  return {.grippers = grippers_.view(),
          .poses = poses_.view(),
          .grips = grips_.view(),
          .count = static_cast<Index>(count_),
          .steps = steps_};
}

template class GripperTable<float>;
template class GripperTable<double>;

}  // namespace isocloth

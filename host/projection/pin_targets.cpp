#include "host/projection/pin_targets.hpp"

#include <algorithm>
#include <utility>

#include "host/memory/growing_buffer.hpp"

namespace isocloth {
namespace {

/// All pinned nodes: one that is fixed here and driven there must not know of its neighbours.
std::vector<Index> nodes_of_pins(const std::vector<const Garment*>& garments) {
  std::vector<Index> nodes;
  for (const Garment* garment : garments)
    for (const Pin& pin : garment->pins) nodes.insert(nodes.end(), pin.nodes.begin(), pin.nodes.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

bool have_same_arrays(const MotionView& a, const MotionView& b) {
  const auto same = [](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  };
  return same(a.times, b.times) && same(a.translations, b.translations) && same(a.rotations, b.rotations) &&
         same(a.positions, b.positions);
}

}  // namespace

template <class Real>
PinTargets<Real>::PinTargets(const Device& device, std::vector<const Garment*> garments, std::size_t width)
    : device_(&device), garments_(std::move(garments)), width_(width), nodes_(nodes_of_pins(garments_)) {}

template <class Real>
void PinTargets<Real>::reserve(int steps) {
  const std::size_t count = static_cast<std::size_t>(steps) * values_per_step();
  if (targets_.size() < count) targets_ = {*device_, count};
  if (nodes_.empty() || device_->backend().memory.host_accessible) return;
  if (!is_sent_) send();
  if (clocks_.size() > 0) return;
  clocks_ = {*device_, garments_.size()};
  locked_clocks_ = {*device_, garments_.size()};
}

template <class Real>
std::vector<PinView> PinTargets<Real>::collect(const double* times, const Vec3d* points,
                                               Tables& tables) const {
  std::vector<PinView> pins;
  const auto put = [](const auto* place, const auto& values, auto& all) {
    const std::remove_cvref_t<decltype(values)> moved{place == nullptr ? place : place + all.size(),
                                                      values.size()};
    all.insert(all.end(), values.begin(), values.end());
    return moved;
  };
  for (std::size_t g = 0; g < garments_.size(); ++g)
    for (std::size_t p = 0; p < garments_[g]->pins.size(); ++p) {
      PinView pin = view_of(*garments_[g], garments_[g]->pins[p]);
      MotionView& motion = pin.motion;
      // Copies of a garment, which lie side by side, share what is recorded once.
      if (g > 0 && p < garments_[g - 1]->pins.size() &&
          have_same_arrays(motion, view_of(garments_[g - 1]->pins[p].motion))) {
        const MotionView& same = pins[pins.size() - garments_[g - 1]->pins.size()].motion;
        motion.times = same.times;
        motion.translations = same.translations;
        motion.rotations = same.rotations;
        motion.positions = same.positions;
      } else {
        motion.times = put(times, motion.times, tables.times);
        motion.translations = put(points, motion.translations, tables.points);
        motion.rotations = put(points, motion.rotations, tables.points);
        motion.positions = put(points, motion.positions, tables.points);
      }
      pins.push_back(pin);
    }
  return pins;
}

template <class Real>
void PinTargets<Real>::send() {
  Tables tables;
  collect(nullptr, nullptr, tables);
  isocloth::reserve(*device_, tables.times.size(), times_);
  isocloth::reserve(*device_, tables.points.size(), points_);
  tables = {};
  const std::vector<PinView> pins =
      collect(std::as_const(times_).view().data(), std::as_const(points_).view().data(), tables);
  fill(*device_, tables.times, times_);
  fill(*device_, tables.points, points_);
  fill(*device_, pins, pins_);
  std::vector<PinnedNode> pinned(garments_.size() * nodes_.size());
  Index number = 0;
  for (std::size_t g = 0; g < garments_.size(); ++g)
    for (const Pin& pin : garments_[g]->pins) {
      for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
        const auto place = std::lower_bound(nodes_.begin(), nodes_.end(), pin.nodes[i]) - nodes_.begin();
        pinned[g * nodes_.size() + static_cast<std::size_t>(place)] = {
            .start = start_positions(*garments_[g])[pin.nodes[i]], .pin = number, .i = static_cast<Index>(i)};
      }
      ++number;
    }
  fill(*device_, pinned, pinned_);
  is_sent_ = true;
}

template <class Real>
void PinTargets<Real>::set(const Queue& queue, const std::vector<Clock>& clocks, double h, int steps) {
  if (nodes_.empty()) return;
  reserve(steps);
  if (!device_->backend().memory.host_accessible) {
    for (std::size_t g = 0; g < clocks.size(); ++g)
      locked_clocks_.data()[g] = {.offset = clocks[g].offset, .steps = static_cast<double>(clocks[g].steps)};
    begin_upload(*device_, queue, locked_clocks_, clocks.size(), clocks_);
    step_kernels<Real>(device_->backend())
        .place_pins(queue, {.width = static_cast<int>(width_),
                            .tile_count = static_cast<Index>(garments_.size() / width_),
                            .step_count = steps,
                            .node_count = static_cast<Index>(nodes_.size()),
                            .step = h,
                            .pins = std::as_const(pins_).view(),
                            .nodes = std::as_const(pinned_).view(),
                            .clocks = std::as_const(clocks_).view(),
                            .targets = targets_.view()});
    return;
  }
  Real* const targets = targets_.view().data();
  for (std::size_t g = 0; g < garments_.size(); ++g)
    for (const Pin& pin : garments_[g]->pins) {
      const PinView view = view_of(*garments_[g], pin);
      for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
        const Vec3d& start = start_positions(*garments_[g])[pin.nodes[i]];
        const auto place = std::lower_bound(nodes_.begin(), nodes_.end(), pin.nodes[i]) - nodes_.begin();
        Real* to = targets + (g / width_ * nodes_.size() + static_cast<std::size_t>(place)) * 3 * width_ +
                   g % width_;
        for (int n = 0; n < steps; ++n, to += values_per_step()) {
          const Vec3d x = view.position(start, i, clocks[g].time(h, n + 1));
          to[0] = static_cast<Real>(x.x);
          to[width_] = static_cast<Real>(x.y);
          to[2 * width_] = static_cast<Real>(x.z);
        }
      }
    }
}

template <class Real>
ArrayView<const Real> PinTargets<Real>::from(int step) const {
  return slice(targets_.view(), static_cast<std::size_t>(step) * values_per_step(), targets_.size());
}

template <class Real>
std::size_t PinTargets<Real>::memory_bytes() const {
  return targets_.bytes() + times_.bytes() + points_.bytes() + pins_.bytes() + pinned_.bytes() +
         clocks_.bytes();
}

template <class Real>
std::size_t PinTargets<Real>::bytes_needed(int steps) const {
  Tables tables;
  const std::size_t pins = collect(nullptr, nullptr, tables).size();
  const std::size_t reserved = pins * sizeof(PinView) +
                               nodes_.size() * garments_.size() * sizeof(PinnedNode) +
                               tables.times.size() * sizeof(double) + tables.points.size() * sizeof(Vec3d);
  return static_cast<std::size_t>(steps) * values_per_step() * sizeof(Real) +
         garments_.size() * sizeof(StepClock) + 3 * reserved / 2;  // what grows leaves room
}

template class PinTargets<float>;
template class PinTargets<double>;

}  // namespace isocloth

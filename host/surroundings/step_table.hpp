// One kind of force on several garments in the steps to come, in the memory of a device.
#pragma once

#include "host/garment/garment_arrays.hpp"
#include "host/solver/garment_solver.hpp"
#include "kernels/forces/step_sets.hpp"

namespace isocloth {

/// Views that change from step to step, in the memory of a device; see StepSets.
template <class View>
class StepTable {
 public:
  /// Sets view_of(member, time [s]) at the ends of the next `steps` steps of h [s]; none where no view
  /// exists.
  template <class ViewOf>
  void set(const Device& device, const std::vector<Clock>& clocks, double h, int steps,
           const ViewOf& view_of) {
    steps_ = steps;
    views_.clear();
    exists_ = false;
    for (std::size_t m = 0; m < clocks.size(); ++m)
      for (int n = 0; n < steps; ++n) {
        views_.push_back(view_of(m, clocks[m].time(h, n + 1)));
        exists_ = exists_ || views_.back().exists();
      }
    if (!exists_) return;
    if (buffer_.size() < views_.size()) buffer_ = {device, views_.size()};
    buffer_.write(views_.size(), staging_, [&](View* to) { std::copy(views_.begin(), views_.end(), to); });
  }
  View view(std::size_t member, int step) const {
    return exists_ ? views_[member * static_cast<std::size_t>(steps_) + static_cast<std::size_t>(step)]
                   : View{};
  }
  StepSets<View> sets() const {
    if (!exists_) return {};
    return {.views = slice(buffer_.view(), 0, views_.size()), .steps = steps_};
  }
  std::size_t memory_bytes() const { return buffer_.bytes(); }

 private:
  int steps_ = 0;
  bool exists_ = false;
  std::vector<View> views_, staging_;  ///< views of the members in the steps, shape [member, step]
  Buffer<View> buffer_;
};

}  // namespace isocloth

#include "host/garment/reducer.hpp"

#include <algorithm>
#include <utility>

namespace isocloth {

template <class Real>
void Reducer<Real>::launch(std::size_t number, ArrayView<const Real> values) {
  if (partials_.size() <= number) partials_.resize(number + 1);
  Partials& own = partials_[number];
  own.count = static_cast<std::size_t>(reduction_count(values.size()));
  own.is_wanted = true;
  if (own.count > own.on_device.size()) own.on_device = {device_, own.count};
  step_kernels<Real>(device_.backend())
      .reduce(device_.queue(), {.values = values, .partials = slice(own.on_device.view(), 0, own.count)});
}

template <class Real>
void Reducer<Real>::fetch(Downloads& downloads) {
  for (Partials& own : partials_)
    if (std::exchange(own.is_wanted, false))
      downloads.add(slice(std::as_const(own.on_device).view(), 0, own.count), own.staging, own.at);
}

template <class Real>
Reduction<Real> Reducer<Real>::total(std::size_t number) const {
  const Partials& own = partials_[number];
  Reduction<Real> total;
  for (std::size_t i = 0; i < own.count; ++i) {
    const Reduction<Real>& partial = own.at[i];
    total.maximum = std::max(total.maximum, partial.maximum);
    total.sum += partial.sum;
    total.magnitude_sum += partial.magnitude_sum;
    total.square_sum += partial.square_sum;
    if (total.first_bad < 0) total.first_bad = partial.first_bad;
  }
  return total;
}

template <class Real>
Reduction<Real> Reducer<Real>::reduce(ArrayView<const Real> values) {
  Downloads downloads(device_);
  launch(0, values);
  fetch(downloads);
  downloads.run();
  return total(0);
}

template <class Real>
std::size_t Reducer<Real>::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Partials& own : partials_) bytes += own.on_device.bytes();
  return bytes;
}

template class Reducer<float>;
template class Reducer<double>;

}  // namespace isocloth

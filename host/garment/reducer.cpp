#include "host/garment/reducer.hpp"

#include <algorithm>
#include <utility>

namespace isocloth {

template <class Real>
Reduction<Real> Reducer<Real>::reduce(ArrayView<const Real> values) {
  const auto count = static_cast<std::size_t>(reduction_count(values.size()));
  if (count > partials_.size()) partials_ = {device_, count};
  step_kernels<Real>(device_.backend())
      .reduce(device_.queue(), {.values = values, .partials = slice(partials_.view(), 0, count)});
  const Reduction<Real>* const partials = std::as_const(partials_).read(0, count, staging_);
  Reduction<Real> total;
  for (std::size_t i = 0; i < count; ++i) {
    total.maximum = std::max(total.maximum, partials[i].maximum);
    total.sum += partials[i].sum;
    total.magnitude_sum += partials[i].magnitude_sum;
    total.square_sum += partials[i].square_sum;
    if (total.first_bad < 0) total.first_bad = partials[i].first_bad;
  }
  return total;
}

template class Reducer<float>;
template class Reducer<double>;

}  // namespace isocloth

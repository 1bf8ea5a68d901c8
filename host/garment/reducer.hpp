// Sums and largest values of arrays that a device holds.
#pragma once

#include <vector>

#include "host/memory/buffer.hpp"

namespace isocloth {

/// Owns the partial results of a reduction, as many as the longest array so far asked for: nobody else has to
/// know what will be reduced.
template <class Real>
class Reducer {
 public:
  /// The device must outlive it.
  explicit Reducer(const Device& device) : device_(device) {}

  /// Largest |x|, sums of x, |x|, x^2, and the first x that is not finite; waits for the device's queue.
  /// O(size). Throws DeviceError when memory runs out.
  Reduction<Real> reduce(ArrayView<const Real> values);

  std::size_t memory_bytes() const { return partials_.bytes(); }

 private:
  const Device& device_;
  Buffer<Reduction<Real>> partials_;
  std::vector<Reduction<Real>> staging_;
};

}  // namespace isocloth

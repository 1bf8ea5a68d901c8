// Sums and largest values of arrays that a device holds.
#pragma once

#include <vector>

#include "host/memory/transfers.hpp"

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

  // The same in three steps, so that one wait serves several arrays, each under a number of its own.
  void launch(std::size_t number, ArrayView<const Real> values);
  /// Asks for the results of all launches since the last time.
  void fetch(Downloads& downloads);
  Reduction<Real> total(std::size_t number) const;

  std::size_t memory_bytes() const;

 private:
  struct Partials {
    Buffer<Reduction<Real>> on_device;
    std::vector<Reduction<Real>> staging;
    const Reduction<Real>* at = nullptr;  ///< where the host can read them
    std::size_t count = 0;
    bool is_wanted = false;
  };
  const Device& device_;
  std::vector<Partials> partials_;  ///< by number
};

}  // namespace isocloth

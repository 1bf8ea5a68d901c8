// The schedule of a batched factorisation where the kernels of a device read it.
#pragma once

#include <array>

#include "host/linear/cholesky_plan.hpp"
#include "host/memory/buffer.hpp"
#include "kernels/batch/block_cholesky.hpp"

namespace isocloth {

/// The arrays of a CholeskyPlan in a device's memory. The device must outlive it.
class DeviceCholeskyPlan {
 public:
  DeviceCholeskyPlan() = default;
  /// Throws DeviceError when memory runs out.
  DeviceCholeskyPlan(const Device& device, const CholeskyPlan& plan);

  CholeskyPlanView view() const;
  /// Block of the pattern at each block of L, -1: fill.
  ArrayView<const Index> system_blocks() const { return system_blocks_.view(); }
  std::size_t bytes() const;

 private:
  static constexpr std::size_t array_count = 19;
  std::array<Buffer<Index>, array_count> arrays_;  ///< in the order of the list in the .cpp file
  Buffer<Index> system_blocks_;
};

}  // namespace isocloth

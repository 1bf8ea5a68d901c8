// Rows of one garment and the reduction of arrays, kernel by kernel.
#pragma once

#include <limits>
#include <utility>

#include "host/garment/garment_arrays.hpp"
#include "host/garment/reducer.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

/// Work arrays of the rows.
template <class Real>
class RowEvaluator {
 public:
  RowEvaluator(const Device& device, const GarmentArrays<Real>& arrays);
  /// C, s and s J at `positions`; eps: relative softness over the metric's inertia. Returns max |C|,
  /// infinite if any row is not finite.
  double evaluate(const Buffer<Vec3<Real>>& positions, Real eps) {
    launch(positions, eps, arrays_.inverse_masses.view());
    return largest(reduce(std::as_const(residuals).view()));
  }
  /// Launches what evaluate(positions, eps) does but for the reduction, with nodes held that the garment's
  /// own inverse masses [1/m^2] leave free.
  void launch(const Buffer<Vec3<Real>>& positions, Real eps, ArrayView<const Real> inverse_masses,
              const RowLaws<Real>& laws = {});
  /// The largest magnitude, infinite if any value is not finite.
  static double largest(const Reduction<Real>& values) {
    return values.first_bad < 0 ? static_cast<double>(values.maximum)
                                : std::numeric_limits<double>::infinity();
  }
  /// Reduces values on the device, see Reducer.
  Reduction<Real> reduce(ArrayView<const Real> values) { return reducer_.reduce(values); }
  Reducer<Real>& reducer() { return reducer_; }
  Reduction<Real> total(std::size_t number) const { return reducer_.total(number); }

  void keep_jacobians() { jacobian_before = {device_, jacobian.size()}; }
  std::size_t row_count() const { return residuals.size(); }
  std::size_t memory_bytes() const;

  Buffer<Real> residuals, scales;  ///< residuals C and scales s of the rows, shape [row_count]
  Buffer<Vec3<Real>> jacobian;
  Buffer<Vec3<Real>> jacobian_before;  ///< s J of the evaluation before; empty unless keep_jacobians()
  Buffer<Real> at_limit;               ///< > 0 at slots of stencils of which a row pulls, see LimitGroup

 private:
  const Device& device_;
  const StepKernels<Real>& kernels_;
  const GarmentArrays<Real>& arrays_;
  Reducer<Real> reducer_;
};

}  // namespace isocloth

// Every operation of a lane value, on vectors and on scalars, as one instruction set compiles them.
#pragma once

namespace isocloth {

/// The operations in one instruction set.
template <class Real>
struct LaneOperations {
  int width;            ///< lanes of a vector
  int operation_count;  ///< operations with a result per lane
  const char* (*name)(int operation);
  /// Results of an operation on a, b, c lane by lane, all of shape [width]: of one vector, and of scalars.
  void (*run)(int operation, const Real* a, const Real* b, const Real* c, Real* of_vector, Real* of_scalars);
  /// any() of a[lane] > b[lane], and the mask's lanes.
  bool (*any_greater)(const Real* a, const Real* b, bool* lanes);
};

namespace cpu {
template <class Real>
LaneOperations<Real> lane_operations();
}
namespace cpu_avx2 {
template <class Real>
LaneOperations<Real> lane_operations();
}
namespace cpu_avx512 {
template <class Real>
LaneOperations<Real> lane_operations();
}

}  // namespace isocloth

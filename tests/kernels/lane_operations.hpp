// Every operation of a lane value, on vectors and on scalars, as one instruction set compiles them.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

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
  /// x, y, z of the sum of the differences of `values` and of `more` over pairs (a, b), shape [width, 2], all
  /// of shape [3, width]: of one vector, and of scalars.
  void (*quad_differences)(const Vec4<Real>* values, const Vec4<Real>* more, const Index* pairs,
                           Real* of_vector, Real* of_scalars);
  /// x, y, z, shape [3, width], to one node per lane and back.
  void (*quad_round_trip)(const Real* xyz, Real* back);
  /// Exchanges the vectors xyz among the pairs, with factors of shape [width]: at once, and one by one.
  void (*quad_exchange)(const Real* xyz, const Index* pairs, const Real* to_a, const Real* to_b,
                        Vec4<Real>* by_vector, Vec4<Real>* by_scalars);
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

#include <initializer_list>

#include "kernels/linear/dense_kernels.hpp"

namespace isocloth {

namespace simd_sse2 {
extern const DenseKernels<float> float32;
extern const DenseKernels<double> float64;
}  // namespace simd_sse2
#if defined(__x86_64__)
namespace simd_avx2 {
extern const DenseKernels<float> float32;
extern const DenseKernels<double> float64;
}  // namespace simd_avx2
namespace simd_avx512 {
extern const DenseKernels<float> float32;
extern const DenseKernels<double> float64;
}  // namespace simd_avx512
#endif

template <class Real>
const DenseKernels<Real>* find_dense_kernels(InstructionSet set) {
  constexpr bool single = sizeof(Real) == sizeof(float);
#if defined(__x86_64__)
  if (set == InstructionSet::avx512) {
    if (!__builtin_cpu_supports("avx512f")) return nullptr;
    if constexpr (single)
      return &simd_avx512::float32;
    else
      return &simd_avx512::float64;
  }
  if (set == InstructionSet::avx2) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return nullptr;
    if constexpr (single)
      return &simd_avx2::float32;
    else
      return &simd_avx2::float64;
  }
#endif
  if (set != InstructionSet::sse2) return nullptr;
  if constexpr (single)
    return &simd_sse2::float32;
  else
    return &simd_sse2::float64;
}

template <class Real>
const DenseKernels<Real>& dense_kernels() {
  for (const InstructionSet set : {InstructionSet::avx512, InstructionSet::avx2})
    if (const DenseKernels<Real>* kernels = find_dense_kernels<Real>(set)) return *kernels;
  return *find_dense_kernels<Real>(InstructionSet::sse2);
}

template const DenseKernels<float>* find_dense_kernels(InstructionSet);
template const DenseKernels<double>* find_dense_kernels(InstructionSet);
template const DenseKernels<float>& dense_kernels();
template const DenseKernels<double>& dense_kernels();

}  // namespace isocloth

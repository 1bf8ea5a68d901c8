#include "bench/machine_limits.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "bench/runner.hpp"
#include "bench/timing.hpp"

#if defined(__x86_64__)
#define ISOCLOTH_TARGET(set) __attribute__((target(set)))
#else
#define ISOCLOTH_TARGET(set)
#endif

namespace isocloth::bench {
namespace {

constexpr int chains = 12;  ///< independent, to hide the latency of a product

template <class Real, int Bytes>
struct Vector {
  typedef Real type __attribute__((vector_size(Bytes)));
};

/// chains * rounds vector products, each added to a sum.
template <class V>
__attribute__((always_inline)) inline double multiply_and_add(long rounds) {
  V sum[chains], factor = V{} + 1, term = V{};
  for (int k = 0; k < chains; ++k) sum[k] = V{} + 1;
  // The compiler must not know the operands.
  asm volatile("" : "+x"(factor), "+x"(term));
  for (long i = 0; i < rounds; ++i)
    for (int k = 0; k < chains; ++k) sum[k] = sum[k] * factor + term;
  V total{};
  for (int k = 0; k < chains; ++k) total += sum[k];
  return static_cast<double>(total[0]);
}

template <class Real>
double baseline_loop(long rounds) {
  return multiply_and_add<typename Vector<Real, 16>::type>(rounds);
}
template <class Real>
ISOCLOTH_TARGET("avx2,fma")
double avx2_loop(long rounds) {
  return multiply_and_add<typename Vector<Real, 32>::type>(rounds);
}
template <class Real>
ISOCLOTH_TARGET("avx512f,fma,prefer-vector-width=512")
double avx512_loop(long rounds) {
  return multiply_and_add<typename Vector<Real, 64>::type>(rounds);
}

template <class Real>
double one_thread_flops(Simd simd) {
  constexpr long rounds = 2'000'000;
  const auto loop = simd == Simd::avx512 ? avx512_loop<Real>
                    : simd == Simd::avx2 ? avx2_loop<Real>
                                         : baseline_loop<Real>;
  const int width = (simd == Simd::avx512 ? 64
                     : simd == Simd::avx2 ? 32
                                          : 16) /
                    static_cast<int>(sizeof(Real));
  double best = 0;
  [[maybe_unused]] volatile double sink = 0;
  for (int i = 0; i < 5; ++i) {
    const double seconds = thread_cpu_seconds([&] { sink = loop(rounds); });
    best = std::max(best, 2.0 * chains * width * rounds / seconds);
  }
  return best;
}

double one_thread_bytes() {
  const std::size_t size = std::size_t{1} << 23;  // 64 MiB each
  std::vector<double> a(size, 0), b(size, 1), c(size, 2);
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    const double seconds = thread_cpu_seconds([&] {
      for (std::size_t k = 0; k < size; ++k) a[k] = b[k] + 3 * c[k];
      asm volatile("" : : "r"(a.data()) : "memory");
    });
    best = std::max(best, 3.0 * static_cast<double>(size * sizeof(double)) / seconds);
  }
  return best;
}

}  // namespace

MachineLimits measure_limits(Simd simd, Precision precision, int threads) {
  std::vector<MachineLimits> parts(threads);
  for_each_case(parts.size(), threads, [&](std::size_t i) {
    parts[i] = {
        precision == Precision::float32 ? one_thread_flops<float>(simd) : one_thread_flops<double>(simd),
        one_thread_bytes()};
  });
  MachineLimits total;
  for (const MachineLimits& part : parts) {
    total.flops_per_second += part.flops_per_second;
    total.bytes_per_second += part.bytes_per_second;
  }
  return total;
}

}  // namespace isocloth::bench

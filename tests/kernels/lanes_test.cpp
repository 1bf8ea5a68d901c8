// A vector of cloths and one cloth alone take the same bits from every operation.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernel_table.hpp"
#include "tests/kernels/lane_operations.hpp"

namespace isocloth {
namespace {

template <class Real>
struct Named {
  Simd simd;
  LaneOperations<Real> operations;
};

/// Those that this machine and this build have.
template <class Real>
std::vector<Named<Real>> instruction_sets() {
  std::vector<Named<Real>> sets{{Simd::baseline, cpu::lane_operations<Real>()}};
#if defined(ISOCLOTH_SIMD)
  if (cpu_backend(Simd::avx2) != nullptr) sets.push_back({Simd::avx2, cpu_avx2::lane_operations<Real>()});
  if (cpu_backend(Simd::avx512) != nullptr)
    sets.push_back({Simd::avx512, cpu_avx512::lane_operations<Real>()});
#endif
  return sets;
}

/// Bits of a value; one pattern for all that are not a number: which operand's sign and payload comes
/// through is the compiler's choice, and nothing reads them.
template <class Real>
std::array<unsigned char, sizeof(Real)> bits(Real value) {
  std::array<unsigned char, sizeof(Real)> result;
  if (std::isnan(value)) value = std::numeric_limits<Real>::quiet_NaN();
  std::memcpy(result.data(), &value, sizeof(Real));
  return result;
}

/// Zeros, infinities, NaN, the ends of the range, subnormal numbers, neighbours of 1, and plain numbers.
template <class Real>
std::vector<Real> values() {
  using Limits = std::numeric_limits<Real>;
  std::vector<Real> result{0,
                           Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::max(),
                           Limits::min(),
                           Limits::denorm_min(),
                           3 * Limits::denorm_min(),
                           1,
                           1 + Limits::epsilon(),
                           1 - Limits::epsilon() / 2,
                           Real(0.1)};
  std::mt19937 generator(3);
  for (int i = 0; i < 7; ++i)
    result.push_back(
        static_cast<Real>(std::ldexp(1 + static_cast<double>(generator()) / 4294967296.0, i - 3)));
  const std::size_t positive = result.size();
  for (std::size_t i = 0; i < positive; ++i) result.push_back(-result[i]);
  return result;
}

template <class Real>
class LanesTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(LanesTest, Reals);

TYPED_TEST(LanesTest, EveryOperationIsThatOfAScalar) {
  using Real = TypeParam;
  const std::vector<Real> all = values<Real>();
  const std::size_t n = all.size(), triples = n * n * n;
  for (const auto& [simd, of] : instruction_sets<Real>()) {
    const auto width = static_cast<std::size_t>(of.width);
    std::vector<Real> a(width), b(width), c(width), vector(width), scalars(width);
    for (int operation = 0; operation < of.operation_count; ++operation) {
      int different = 0;
      for (std::size_t first = 0; first < triples; first += width) {
        for (std::size_t lane = 0; lane < width; ++lane) {
          const std::size_t i = (first + lane) % triples;
          a[lane] = all[i % n], b[lane] = all[i / n % n], c[lane] = all[i / n / n];
        }
        of.run(operation, a.data(), b.data(), c.data(), vector.data(), scalars.data());
        for (std::size_t lane = 0; lane < width; ++lane) {
          if (bits(vector[lane]) == bits(scalars[lane])) continue;
          if (++different == 1)
            ADD_FAILURE() << to_string(simd) << ", " << of.name(operation) << ": a = " << a[lane]
                          << ", b = " << b[lane] << ", c = " << c[lane] << ", lane " << lane << ": found "
                          << vector[lane] << ", a scalar gives " << scalars[lane];
        }
      }
      EXPECT_EQ(different, 0) << to_string(simd) << ", " << of.name(operation) << ", of " << triples;
    }
  }
}

// Products are fused where the instruction set can, and nowhere else.
TYPED_TEST(LanesTest, MultiplyAddRoundsOnceWhereTheMachineCan) {
  using Real = TypeParam;
  const std::vector<Real> all = values<Real>();
  for (const auto& [simd, of] : instruction_sets<Real>()) {
    int operation = 0;
    while (of.name(operation) != std::string("multiply_add")) ++operation;
    const auto width = static_cast<std::size_t>(of.width);
    std::vector<Real> vector(width), scalars(width);
    int fused = 0, parted = 0;
    for (const Real x : all)
      for (const Real y : all)
        for (const Real z : all) {
          const std::vector<Real> a(width, x), b(width, y), c(width, z);
          of.run(operation, a.data(), b.data(), c.data(), vector.data(), scalars.data());
          const Real once = std::fma(x, y, z), twice = x * y + z;
          fused += bits(vector[0]) == bits(once) && bits(once) != bits(twice);
          parted += bits(vector[0]) == bits(twice) && bits(once) != bits(twice);
        }
    EXPECT_EQ(simd == Simd::baseline ? fused : parted, 0) << to_string(simd);
    EXPECT_GT(fused + parted, 0);
  }
}

TYPED_TEST(LanesTest, AnyFindsEachLane) {
  using Real = TypeParam;
  for (const auto& [simd, of] : instruction_sets<Real>()) {
    const auto width = static_cast<std::size_t>(of.width);
    const std::vector<Real> zeros(width, 0);
    std::array<bool, 64> lanes{};
    EXPECT_FALSE(of.any_greater(zeros.data(), zeros.data(), lanes.data())) << to_string(simd);
    for (std::size_t lane = 0; lane < width; ++lane) {
      std::vector<Real> one = zeros;
      one[lane] = 1;
      EXPECT_TRUE(of.any_greater(one.data(), zeros.data(), lanes.data())) << to_string(simd);
      for (std::size_t other = 0; other < width; ++other) EXPECT_EQ(lanes[other], other == lane);
    }
  }
}

// Kernels have as many lanes as their own instruction set.
TYPED_TEST(LanesTest, KernelsSayTheirWidth) {
  for (const auto& [simd, of] : instruction_sets<TypeParam>())
    EXPECT_EQ(step_kernels<TypeParam>(*cpu_backend(simd)).lane_width(), of.width) << to_string(simd);
}

}  // namespace
}  // namespace isocloth

// A vector of cloths and one cloth alone take the same bits from every operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
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
#if defined(ISOCLOTH_HAS_avx2)
  if (cpu_backend(Simd::avx2) != nullptr) sets.push_back({Simd::avx2, cpu_avx2::lane_operations<Real>()});
#endif
#if defined(ISOCLOTH_HAS_avx512)
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

/// Distinct nodes in no order for the pairs of a vector, or some of them spare: the last node with itself.
template <class Real>
struct QuadCase {
  std::vector<Index> pairs;
  std::vector<Vec4<Real>> values, more;
  std::vector<Real> xyz, to_a, to_b;
  QuadCase(std::size_t width, unsigned seed, std::size_t spare) {
    std::mt19937 generator(seed);
    const auto number = [&] {
      return static_cast<Real>(static_cast<double>(generator()) / 2147483648.0 - 1);
    };
    const std::size_t nodes = 3 * width + 1;
    std::vector<Index> order(nodes - 1);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
    std::shuffle(order.begin(), order.end(), generator);
    for (std::size_t lane = 0; lane < width; ++lane) {
      const bool is_spare = lane + spare >= width;
      for (int end = 0; end < 2; ++end)
        pairs.push_back(is_spare ? static_cast<Index>(nodes - 1)
                                 : order[2 * lane + static_cast<std::size_t>(end)]);
      to_a.push_back(is_spare ? Real(0) : number());
      to_b.push_back(is_spare ? Real(0) : number());
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      values.push_back({number(), number(), number(), number()});
      more.push_back({number(), number(), number(), number()});
    }
    for (std::size_t i = 0; i < 3 * width; ++i) xyz.push_back(number());
  }
};

// What is loaded as nodes and transposed has the bits of one pair after another; nodes of no pair stay.
TYPED_TEST(LanesTest, QuadsAreThoseOfScalars) {
  using Real = TypeParam;
  for (const auto& [simd, of] : instruction_sets<Real>()) {
    const auto width = static_cast<std::size_t>(of.width);
    for (unsigned seed = 0; seed < 50; ++seed) {
      const QuadCase<Real> at(width, seed, seed % (width + 1));
      std::vector<Real> vector(3 * width), scalars(3 * width), back(3 * width);
      of.quad_differences(at.values.data(), at.more.data(), at.pairs.data(), vector.data(), scalars.data());
      for (std::size_t i = 0; i < vector.size(); ++i) {
        EXPECT_EQ(bits(vector[i]), bits(scalars[i])) << to_string(simd) << ", " << i;
        const auto component = [&](const std::vector<Vec4<Real>>& all, Index node) {
          const Vec4<Real>& v = all[node];
          return i < width ? v.x : i < 2 * width ? v.y : v.z;
        };
        const Index a = at.pairs[2 * (i % width)], b = at.pairs[2 * (i % width) + 1];
        const Real expected = (component(at.values, b) - component(at.values, a)) +
                              (component(at.more, b) - component(at.more, a));
        EXPECT_EQ(bits(vector[i]), bits(expected)) << to_string(simd) << ", " << i;
      }
      of.quad_round_trip(at.xyz.data(), back.data());
      EXPECT_EQ(back, at.xyz) << to_string(simd);

      std::vector<Vec4<Real>> by_vector = at.values, by_scalars = at.values;
      of.quad_exchange(at.xyz.data(), at.pairs.data(), at.to_a.data(), at.to_b.data(), by_vector.data(),
                       by_scalars.data());
      const Real u = std::numeric_limits<Real>::epsilon();
      std::vector<Vec4<double>> expected;
      for (const Vec4<Real>& v : at.values) expected.push_back({v.x, v.y, v.z, 0});
      for (std::size_t lane = 0; lane < width; ++lane)
        for (const auto& [node, factor] : {std::pair{at.pairs[2 * lane], double(at.to_a[lane])},
                                           {at.pairs[2 * lane + 1], -double(at.to_b[lane])}}) {
          expected[node].x += factor * at.xyz[lane];
          expected[node].y += factor * at.xyz[width + lane];
          expected[node].z += factor * at.xyz[2 * width + lane];
        }
      for (std::size_t node = 0; node < expected.size(); ++node) {
        const Vec4<Real>&found = by_vector[node], &alone = by_scalars[node];
        EXPECT_EQ(bits(found.x), bits(alone.x)) << to_string(simd) << ", node " << node;
        EXPECT_EQ(bits(found.y), bits(alone.y)) << to_string(simd) << ", node " << node;
        EXPECT_EQ(bits(found.z), bits(alone.z)) << to_string(simd) << ", node " << node;
        EXPECT_NEAR(double(found.x), expected[node].x, 2.0 * u) << to_string(simd) << ", node " << node;
        EXPECT_NEAR(double(found.y), expected[node].y, 2.0 * u) << to_string(simd) << ", node " << node;
        EXPECT_NEAR(double(found.z), expected[node].z, 2.0 * u) << to_string(simd) << ", node " << node;
      }
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

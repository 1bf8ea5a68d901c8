// The reduction against plain sums, with what must not be lost: the first value that is not finite.
#include <cmath>
#include <limits>
#include <random>

#include "host/memory/buffer.hpp"
#include "tests/kernels/kernel_check.hpp"

namespace isocloth {
namespace {

template <class Real>
class Reduce : public testing::Test {
 protected:
  /// Partial results of `values`, joined as the host joins them.
  static std::vector<Reduction<Real>> partials(const std::vector<Real>& values, const std::string& backend,
                                               int emulated_block = 0) {
    const Device device({.backend = backend, .threads = 1, .emulated_block = emulated_block});
    const Buffer<Real> input(device, values);
    Buffer<Reduction<Real>> output(device, static_cast<std::size_t>(reduction_count(values.size())));
    step_kernels<Real>(device.backend())
        .reduce(device.queue(), {.values = input.view(), .partials = output.view()});
    return output.download();
  }
  static std::vector<Real> random(std::size_t size) {
    std::mt19937 generator(static_cast<unsigned>(size));
    std::vector<Real> values(size);
    for (Real& value : values) value = static_cast<Real>(static_cast<double>(generator()) / 2147483647.5 - 1);
    return values;
  }
};
TYPED_TEST_SUITE(Reduce, Precisions);

constexpr std::size_t chunk = reduction_chunk;

TYPED_TEST(Reduce, SumsAndMaximum) {
  for (const std::string& backend : backends())
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{33},
                                   chunk - 1, chunk, chunk + 1, 3 * chunk + 5}) {
      const auto values = this->random(size);
      const auto partials = this->partials(values, backend);
      ASSERT_EQ(partials.size(), (size + chunk - 1) / chunk);
      for (std::size_t p = 0; p < partials.size(); ++p) {
        long double sum = 0, magnitudes = 0, squares = 0, maximum = 0;
        const std::size_t end = std::min(size, (p + 1) * chunk);
        for (std::size_t i = p * chunk; i < end; ++i) {
          const long double x = values[i];
          sum += x;
          magnitudes += std::fabs(x);
          squares += x * x;
          maximum = std::max(maximum, std::fabs(x));
        }
        const double tolerance = rounding<TypeParam>(chunk) * static_cast<double>(magnitudes);
        EXPECT_NEAR(partials[p].sum, static_cast<double>(sum), tolerance) << size;
        EXPECT_NEAR(partials[p].magnitude_sum, static_cast<double>(magnitudes), tolerance) << size;
        EXPECT_NEAR(partials[p].square_sum, static_cast<double>(squares), tolerance) << size;
        EXPECT_EQ(partials[p].maximum, static_cast<TypeParam>(maximum)) << size;
        EXPECT_EQ(partials[p].first_bad, -1) << size;
      }
    }
}

TYPED_TEST(Reduce, NamesTheFirstValueThatIsNotFinite) {
  const auto infinity = std::numeric_limits<TypeParam>::infinity();
  const auto nan = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const std::string& backend : backends())
    for (const TypeParam bad : {nan, infinity, -infinity})
      for (const std::size_t first : {std::size_t{0}, std::size_t{63}, chunk - 1}) {
        auto values = this->random(2 * chunk + 7);
        values[first] = bad;
        values[std::min(first + 5, chunk - 1)] = bad;  // later, in another lane
        values[2 * chunk + 6] = bad;
        const auto partials = this->partials(values, backend);
        EXPECT_EQ(partials[0].first_bad, static_cast<Index>(first));
        EXPECT_EQ(partials[1].first_bad, -1);
        EXPECT_EQ(partials[2].first_bad, static_cast<Index>(2 * chunk + 6));
        for (const auto& p : partials) {
          EXPECT_TRUE(std::isfinite(p.maximum));
          EXPECT_GT(p.maximum, 0);
          EXPECT_LE(p.maximum, 1);
        }
      }
}

TYPED_TEST(Reduce, DoesNotDependOnTheBlock) {
  auto values = this->random(2 * chunk + 999);
  values[4000] = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto alone = this->partials(values, "cpu");
  for (const int block : {2, 7, 32}) {
    const auto together = this->partials(values, "cpu", block);
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t p = 1; p < alone.size(); ++p) {
      EXPECT_EQ(together[p].sum, alone[p].sum);
      EXPECT_EQ(together[p].magnitude_sum, alone[p].magnitude_sum);
      EXPECT_EQ(together[p].square_sum, alone[p].square_sum);
    }
    for (std::size_t p = 0; p < alone.size(); ++p) {
      EXPECT_EQ(together[p].maximum, alone[p].maximum);
      EXPECT_EQ(together[p].first_bad, alone[p].first_bad);
    }
  }
}

#ifndef NDEBUG
TYPED_TEST(Reduce, RefusesPartialsOfAnotherSize) {
  const Device device({.threads = 1});
  const Buffer<TypeParam> input(device, chunk + 1);
  for (const std::size_t size : {1, 3}) {
    Buffer<Reduction<TypeParam>> output(device, size);
    EXPECT_DEATH(step_kernels<TypeParam>(device.backend())
                     .reduce(device.queue(), {.values = input.view(), .partials = output.view()}),
                 "partials.size");
  }
}
#endif

}  // namespace
}  // namespace isocloth

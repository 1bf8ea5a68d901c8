// One reducer for arrays of any length, here and behind copies.
#include "host/garment/reducer.hpp"

#include <limits>
#include <numeric>

#include "tests/host/gpu_case.hpp"

namespace isocloth {
namespace {

/// 1, 2, ... size with every third negative.
std::vector<double> numbers(std::size_t size) {
  std::vector<double> values(size);
  std::iota(values.begin(), values.end(), 1);
  for (std::size_t i = 2; i < size; i += 3) values[i] = -values[i];
  return values;
}

/// Growing, shrinking, around whole chunks; integers of this size add up without rounding.
void expect_sums(const ExecutionOptions& options) {
  const Device device(options);
  Reducer<double> reducer(device);
  constexpr std::size_t chunk = reduction_chunk;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, chunk, chunk + 1, 9 * chunk + 7, 2 * chunk, 11 * chunk, chunk - 1}) {
    const std::vector<double> values = numbers(size);
    const Buffer<double> input(device, values);
    const Reduction<double> found = reducer.reduce(input.view());
    const auto n = static_cast<double>(size);
    EXPECT_EQ(found.maximum, n);
    EXPECT_EQ(found.sum, std::accumulate(values.begin(), values.end(), 0.0)) << size;
    EXPECT_EQ(found.magnitude_sum, n * (n + 1) / 2) << size;
    EXPECT_EQ(found.first_bad, -1) << size;
  }
  std::vector<double> broken = numbers(3 * chunk);
  broken[2 * chunk + 5] = broken[3 * chunk - 1] = std::numeric_limits<double>::infinity();
  const Buffer<double> input(device, broken);
  EXPECT_EQ(reducer.reduce(input.view()).first_bad, static_cast<Index>(2 * chunk + 5));
}

TEST(Reducer, TakesArraysOfAnyLength) { expect_sums({.threads = 2}); }

using GpuReducer = GpuCase;
TEST_F(GpuReducer, TakesArraysOfAnyLength) { expect_sums({.backend = "cuda"}); }

}  // namespace
}  // namespace isocloth

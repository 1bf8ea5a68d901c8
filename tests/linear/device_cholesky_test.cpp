// The factorisation in launches, as devices run it, on a CPU whose blocks are one thread or several.
#include "host/linear/device_cholesky.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "tests/linear/systems.hpp"

namespace isocloth {
namespace {

template <class Real>
struct Solved {
  Factorization outcome;
  std::vector<Real> right_side, solution;  ///< shape [size, 3]
};

/// right side: entries in [-1, 1].
template <class Real>
Solved<Real> solve(const BlockSystem& s, const ExecutionOptions& options, int times = 1) {
  const Device device(options);
  DeviceCholesky<Real> solver(device, s.pattern);
  Solved<Real> result;
  std::vector<Vec3<Real>> right_side(s.pattern.size);
  for (Index i = 0; i < s.pattern.size; ++i)
    right_side[i] = {static_cast<Real>(std::sin(5.1 * i + 0.3)), static_cast<Real>(std::sin(6.8 * i + 2)),
                     static_cast<Real>(std::cos(1.3 * i))};
  const Buffer<Real> blocks(device, std::vector<Real>(s.values.begin(), s.values.end()));
  const Buffer<Vec3<Real>> b(device, right_side);
  Buffer<Vec3<Real>> x(device, right_side.size());
  for (int i = 0; i < times; ++i) result.outcome = solver.solve(blocks, b, x);
  for (const Vec3<Real>& v : right_side) result.right_side.insert(result.right_side.end(), {v.x, v.y, v.z});
  for (const Vec3<Real>& v : x.download()) result.solution.insert(result.solution.end(), {v.x, v.y, v.z});
  return result;
}

/// The CPU, and the GPU where there is one; ISOCLOTH_REQUIRE_GPU asks for it.
std::vector<ExecutionOptions> devices() {
  std::vector<ExecutionOptions> all{{.threads = 2}};
  const bool usable = cuda_status().backend != nullptr;
  if (usable) all.push_back({.backend = "cuda"});
  const char* required = std::getenv("ISOCLOTH_REQUIRE_GPU");
  EXPECT_TRUE(usable || required == nullptr) << cuda_status().message;
  return all;
}

template <class Real>
void expect_small_backward_error(const BlockSystem& system, const std::string& what) {
  const BlockSystem s = rounded<Real>(system);
  for (const ExecutionOptions& device : devices()) {
    const Solved<Real> solved = solve<Real>(s, device);
    ASSERT_TRUE(solved.outcome.ok) << what << ", " << device.backend << ": stopped at "
                                   << solved.outcome.block_row;
    EXPECT_LE(backward_error(s, solved.right_side, solved.solution),
              100 * std::numeric_limits<Real>::epsilon())
        << what << ", " << device.backend;
  }
}

BlockSystem sheet(Index n) { return sheet_system(n, n, 1e-5); }

TEST(DeviceCholesky, SolvesEveryPattern) {
  for (const NamedPattern& p : all_patterns()) {
    if (p.pattern.size == 0 || p.pattern.block != 3) continue;
    expect_small_backward_error<double>(dominant_system(p.pattern, 3), p.name);
    expect_small_backward_error<float>(dominant_system(p.pattern, 3), p.name);
  }
  expect_small_backward_error<double>(band_system(), "band");
  expect_small_backward_error<float>(band_system(), "band");
}

TEST(DeviceCholesky, SolvesNodalSystemsOfEveryMesh) {
  for (const NamedGarment& g : all_garments()) {
    expect_small_backward_error<double>(nodal_system(g.garment, 1e-6, 3e-3, 1e-5), g.name);
    expect_small_backward_error<double>(nodal_system(g.garment, 1e-9, 0), g.name + ", flat");
    expect_small_backward_error<float>(nodal_system(g.garment, 1e-3, 3e-3), g.name);
  }
  expect_small_backward_error<double>(sheet(25), "25 x 25");
}

TEST(DeviceCholesky, SolvesScaledOverTwelveOrders) {
  for (const NamedGarment& g : all_garments()) {
    const BlockSystem s = scaled_over_twelve_orders(nodal_system(g.garment, 1e-4, 3e-3));
    expect_small_backward_error<double>(s, g.name);
  }
}

template <class Real>
void expect_same_bits(const BlockSystem& s, const std::vector<int>& emulated) {
  const std::vector<Real> alone = solve<Real>(s, {.threads = 1}).solution;
  const auto expect_equal = [&](const std::vector<Real>& other, const std::string& what) {
    EXPECT_EQ(std::memcmp(alone.data(), other.data(), alone.size() * sizeof(Real)), 0) << what;
  };
  expect_equal(solve<Real>(s, {.threads = 3}).solution, "3 threads");
  expect_equal(solve<Real>(s, {.threads = 1}, 2).solution, "a second time");
  for (const int threads : emulated)
    expect_equal(solve<Real>(s, {.threads = 1, .emulated_block = threads}).solution,
                 "blocks of " + std::to_string(threads));
}

TEST(DeviceCholesky, SameBitsFromTheSecondTimeOn) {
  for (const ExecutionOptions& device : devices()) {
    const BlockSystem s = sheet(25);
    EXPECT_EQ(solve<double>(s, device).solution, solve<double>(s, device, 4).solution) << device.backend;
  }
}

TEST(DeviceCholesky, SameBitsInBlocksOfAnySize) {
  expect_same_bits<double>(sheet(9), {2, 5, 32});
  expect_same_bits<float>(sheet(9), {2, 5, 32});
  expect_same_bits<double>(band_system(), {4});
  expect_same_bits<float>(band_system(), {4});
}

TEST(DeviceCholesky, NamesTheBlockRowThatIsNotPositive) {
  for (const BlockSystem& s : {sheet(9), band_system()})
    for (const Index row : {Index{0}, s.pattern.size / 2, s.pattern.size - 1})
      for (const double bad :
           {-1e6, 0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        BlockSystem broken = dominant_system(s.pattern, 9);
        for (std::size_t b = 0; b < s.pattern.rows.size(); ++b)
          if (s.pattern.rows[b] == row && s.pattern.columns[b] == row) broken.values[b * 9 + 8] = bad;
        for (const ExecutionOptions& device : devices()) {
          ASSERT_TRUE(solve<double>(dominant_system(s.pattern, 9), device).outcome.ok);
          const Factorization found = solve<double>(broken, device).outcome;
          EXPECT_FALSE(found.ok) << bad << ", " << device.backend;
          EXPECT_EQ(found.block_row, row) << bad << ", " << device.backend;
        }
      }
}

}  // namespace
}  // namespace isocloth

// What tests on a GPU share: skipping without one, and comparing steps with those of the CPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "host/memory/device.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {

/// Skips loudly without a GPU; ISOCLOTH_REQUIRE_GPU=1 makes that a failure.
class GpuCase : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_status().backend != nullptr) return;
    const char* required = std::getenv("ISOCLOTH_REQUIRE_GPU");
    if (required != nullptr && std::string(required) == "1") FAIL() << "no GPU: " << cuda_status().message;
    GTEST_SKIP() << "no GPU: " << cuda_status().message;
  }
};

/// Largest distance of a node in two states of a garment [m].
inline double distance(const Simulation& a, const Simulation& b, std::size_t garment) {
  const auto p = a.positions(garment), q = b.positions(garment);
  double worst = 0;
  for (std::size_t i = 0; i < p.size(); ++i) worst = std::max(worst, norm(p[i] - q[i]));
  return worst;
}

/// Bound on what rounding changes of a position in a step in double [m].
///
/// H = B + G+ + J^T (eps D)^-1 J with D = diag(J M^-1 J^T): scaled by the masses its eigenvalues lie between
/// 1 (B's) and 1 + r / eps, where r <= 27 rows have a part in a node. A solve has a relative error of cond(H)
/// u in the correction d, |d| <= 2 (h v + g h^2) < 0.02 m in these scenes. eps falls by 10 per iteration at
/// most, from 1e-6 (proximal_newton) or 1e-7 (fast_projection) to no less than 1e-9.
inline double rounding_of_step(int iterations, double eps) {
  double bound = 0;
  for (int k = 0; k < iterations; ++k, eps = std::max(1e-9, eps / 10))
    bound += 0.02 * (1 + 27 / eps) * std::numeric_limits<double>::epsilon();
  return bound;
}

/// Steps of all garments on both backends, each from the CPU's state. They end alike; where they took the
/// same number of iterations (nearly always: a residual may lie on the tolerance itself) positions are equal
/// up to rounding. In float the bound above exceeds d, and the CPU's own rounding stands in for it: its
/// distance from the same step in double. Either float result is that far off, hence 2, and 2 more because
/// the largest of a sample is not the largest.
inline void expect_steps_equal_cpu(Scene scene, const ExecutionOptions& options, int steps,
                                   const std::string& what) {
  const bool single = options.precision == Precision::float32;
  if (scene.projection.eps == 0 && single) scene.projection.eps = 1e-4;  // in double too
  auto simulation = [&](const std::string& backend, Precision precision) {
    ExecutionOptions own = options;
    own.backend = backend;
    own.precision = precision;
    return Simulation(scene, own);
  };
  Simulation cpu = simulation("cpu", options.precision), gpu = simulation("cuda", options.precision),
             exact = simulation("cpu", Precision::float64);
  const std::size_t garments = cpu.garment_count();
  const double eps = scene.projection.method == ProjectionMethod::proximal_newton ? 1e-6 : 1e-7;
  double largest = 0, rounding = 0;
  std::size_t alike = 0;
  for (int n = 0; n < steps; ++n) {
    for (std::size_t g = 0; g < garments; ++g) {
      gpu.set_state(g, cpu.state(g));
      if (single) exact.set_state(g, cpu.state(g));
    }
    const auto expected = cpu.step(), found = gpu.step();
    if (single) exact.step();
    for (std::size_t g = 0; g < garments; ++g) {
      ASSERT_EQ(expected[g].status, StepStatus::converged) << what << ", step " << n << ", cloth " << g;
      ASSERT_EQ(found[g].status, StepStatus::converged) << what << ", step " << n << ", cloth " << g;
      EXPECT_LE(found[g].residual, scene.projection.tolerance) << what;
      if (found[g].iterations != expected[g].iterations) continue;
      ++alike;
      const double difference = distance(cpu, gpu, g);
      if (!single) {
        EXPECT_LE(difference, rounding_of_step(found[g].iterations, eps))
            << what << ", step " << n << ", cloth " << g;
      } else {
        largest = std::max(largest, difference);
        rounding = std::max(rounding, distance(cpu, exact, g));
      }
    }
  }
  EXPECT_LE(largest, 4 * rounding) << what;
  EXPECT_GE(10 * alike, 9 * garments * static_cast<std::size_t>(steps)) << what;
}

}  // namespace isocloth

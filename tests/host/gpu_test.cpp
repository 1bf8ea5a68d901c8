// The same steps on the GPU and on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/memory/device.hpp"
#include "host/simulation.hpp"

namespace isocloth {
namespace {

/// Skips loudly without a GPU; ISOCLOTH_REQUIRE_GPU=1 makes that a failure.
class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_status().backend != nullptr) return;
    const char* required = std::getenv("ISOCLOTH_REQUIRE_GPU");
    if (required != nullptr && std::string(required) == "1") FAIL() << "no GPU: " << cuda_status().message;
    GTEST_SKIP() << "no GPU: " << cuda_status().message;
  }
};

Scene hanging_sheet(double kappa, ProjectionMethod method) {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = triangle_grid(19, 23, 0.3, 0.4, Diagonals::alternating);
  for (Vec3d& p : sheet.mesh.positions) p = {0.01 * std::sin(9 * p.x + 5 * p.y), p.x, p.y};
  sheet.fabric = {.rho = 1, .delta = 0.5, .kappa = kappa, .alpha = 2, .beta = 0};
  sheet.pins.push_back({.name = "corners",
                        .nodes = {19 * 22, 19 * 23 - 1},
                        .motion = OscillationMotion{{0.05, 0, 0}, 0.6, 0, 10}});
  Scene scene;
  scene.garments.push_back(sheet);
  scene.projection.method = method;
  return scene;
}

/// Largest distance of a node [m] after `steps` on both backends.
double difference(const Scene& scene, Precision precision, int steps) {
  Simulation cpu(scene, {.backend = "cpu", .precision = precision});
  Simulation gpu(scene, {.backend = "cuda", .precision = precision});
  for (int i = 0; i < steps; ++i) {
    cpu.step();
    gpu.step();
  }
  const auto a = cpu.positions(0), b = gpu.positions(0);
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, norm(a[i] - b[i]));
  return worst;
}

// Contraction to fused multiply-add is all that differs; one step amplifies it by the conditioning of the
// solve.
TEST_F(Gpu, StepEqualsCpuInDouble) {
  for (const double kappa : {0.0, 1e-4})
    for (const auto method : {ProjectionMethod::proximal_newton, ProjectionMethod::fast_projection})
      EXPECT_LT(difference(hanging_sheet(kappa, method), Precision::float64, 1), 1e-9 * 0.5);
}

TEST_F(Gpu, StepEqualsCpuInFloat) {
  EXPECT_LT(difference(hanging_sheet(0, ProjectionMethod::proximal_newton), Precision::float32, 1), 1e-4);
}

TEST_F(Gpu, MeasuresEqualCpu) {
  const Scene scene = hanging_sheet(1e-4, ProjectionMethod::proximal_newton);
  Simulation cpu(scene), gpu(scene, {.backend = "cuda"});
  for (int i = 0; i < 5; ++i) cpu.step();
  gpu.set_state(0, cpu.state(0));
  const Measures a = cpu.measure(0), b = gpu.measure(0);
  EXPECT_NEAR(a.strain_max, b.strain_max, 1e-12);
  EXPECT_NEAR(a.strain_mean, b.strain_mean, 1e-12);
  EXPECT_NEAR(a.area_error_mean, b.area_error_mean, 1e-12);
  EXPECT_NEAR(a.kinetic_energy, b.kinetic_energy, 1e-12);
  EXPECT_NEAR(a.potential_energy, b.potential_energy, 1e-12);
}

TEST_F(Gpu, IsBitReproducible) {
  const Scene scene = hanging_sheet(0, ProjectionMethod::proximal_newton);
  Simulation first(scene, {.backend = "cuda"}), second(scene, {.backend = "cuda"});
  for (int i = 0; i < 10; ++i) {
    first.step();
    second.step();
  }
  EXPECT_EQ(first.state(0).positions, second.state(0).positions);
}

TEST(CudaStatus, SaysWhyItIsAbsent) {
  const CudaStatus& status = cuda_status();
  EXPECT_FALSE(status.message.empty());
  if (status.backend == nullptr) {
    EXPECT_THROW(Simulation(hanging_sheet(0, ProjectionMethod::proximal_newton), {.backend = "cuda"}),
                 DeviceError);
  }
}

}  // namespace
}  // namespace isocloth

// Steps and measures of one mesh on the GPU, and the same on the CPU.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

using GpuSteps = GpuCase;

Scene hanging_sheet(double kappa, ProjectionMethod method) {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = triangle_grid(19, 23, 0.3, 0.4, Diagonals::alternating);
  for (Vec3d& p : sheet.mesh.positions) p = {0.01 * std::sin(9 * p.x + 5 * p.y), p.x, p.y};
  sheet.fabric = {.density = 1,
                  .gravity_density = 0.5,
                  .bending_stiffness = kappa,
                  .mass_damping = 2,
                  .stiffness_damping = 0};
  sheet.pins.push_back({.name = "corners",
                        .nodes = {19 * 22, 19 * 23 - 1},
                        .motion = OscillationMotion{{0.05, 0, 0}, 0.6, 0, 10}});
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments.push_back(sheet);
  scene.projection.method = method;
  return scene;
}

// Kernel by kernel, factorisation and solve too.
TEST_F(GpuSteps, EqualCpu) {
  for (const Precision precision : {Precision::float64, Precision::float32})
    for (const double kappa : {0.0, 1e-4})
      for (const auto method : {ProjectionMethod::proximal_newton, ProjectionMethod::fast_projection})
        expect_steps_equal_cpu(
            hanging_sheet(kappa, method), {.precision = precision, .solver = StepSolver::direct},
            unless_sanitized(20, 2),
            std::string(to_string(precision)) + ", bending_stiffness " + std::to_string(kappa) +
                (method == ProjectionMethod::proximal_newton ? ", newton" : ", fast"));
}

TEST_F(GpuSteps, ConvergeWithEveryLinearSolver) {
  for (const StepSolver solver : {StepSolver::direct, StepSolver::mixed, StepSolver::iterative}) {
    Simulation simulation(hanging_sheet(1e-4, ProjectionMethod::proximal_newton),
                          {.backend = "cuda", .solver = solver});
    for (int n = 0; n < 10; ++n)
      EXPECT_EQ(simulation.step()[0].status, StepStatus::converged) << to_string(solver);
  }
}

// Sums of fewer than 1000 terms whose magnitudes add up to less than 2 (J, or without unit): 2000 u < 1e-12.
TEST_F(GpuSteps, MeasuresEqualCpu) {
  const Scene scene = hanging_sheet(1e-4, ProjectionMethod::proximal_newton);
  Simulation cpu(scene), gpu(scene, {.backend = "cuda"});
  for (int i = 0; i < 5; ++i) cpu.step();
  gpu.set_state(0, cpu.state(0));
  const Measures a = cpu.measure(0), b = gpu.measure(0);
  EXPECT_NEAR(a.area_error_mean, b.area_error_mean, 1e-12);
  EXPECT_NEAR(a.kinetic_energy, b.kinetic_energy, 1e-12);
  EXPECT_NEAR(a.potential_energy, b.potential_energy, 1e-12);
}

TEST_F(GpuSteps, IsBitReproducible) {
  const Scene scene = hanging_sheet(0, ProjectionMethod::proximal_newton);
  const ExecutionOptions options{.backend = "cuda", .solver = StepSolver::direct};
  Simulation first(scene, options), second(scene, options);
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

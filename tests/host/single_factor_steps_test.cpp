// Steps of meshes whose factor is in single precision and whose conjugate gradients are in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {
namespace {

/// A sheet of cotton, of more nodes than are stepped in lanes, that swings from two corners.
Scene sheet(double stiffness) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = quad_grid(21, 21, 0.4, 0.4);
  garment.fabric = {.density = 0.15,
                    .gravity_density = 0.15,
                    .bending_stiffness = 1e-6,
                    .mass_damping = 0.05,
                    .stretch_stiffness = stiffness,
                    .weft_stretch_stiffness = stiffness,
                    .shear_stiffness = stiffness / 100};
  garment.pins = {{"corners", {0, 20}, FixedMotion{}}};
  Scene scene;
  scene.recipe = "membrane";
  scene.step = 0.01;
  scene.projection.tolerance = 5e-3;
  scene.projection.integrator = Integrator::backward_euler;  // damps what roundings begin
  scene.garments = {garment};
  return scene;
}

struct Course {
  std::vector<double> positions;
  int iterations = 0;
  std::size_t memory_bytes = 0;
  std::string solver;
};
Course course(const Scene& scene, StepSolver solver, int steps) {
  Simulation simulation(scene, {.solver = solver, .threads = 1});
  Course result;
  for (int n = 0; n < steps; ++n) {
    const StepReport report = simulation.step().front();
    EXPECT_EQ(report.status, StepStatus::converged);
    result.iterations += report.iterations;
  }
  result.positions = simulation.state(0).positions;
  const GarmentInfo info = simulation.info(0);
  result.memory_bytes = info.memory_bytes;
  result.solver = info.solver;
  return result;
}
double most_between(const Course& a, const Course& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.positions.size(); ++i)
    most = std::max(most, std::abs(a.positions[i] - b.positions[i]));
  return most;
}

// What conjugate gradients leave is judged by what they leave with a factor in double.
TEST(SingleFactorSteps, AreThoseOfAFactorInDouble) {
  for (const double stiffness : {1e3, 1e5}) {
    Scene scene = sheet(stiffness);
    const Course single = course(scene, StepSolver::automatic, 40),
                 whole = course(scene, StepSolver::direct, 40);
    EXPECT_NE(single.solver, whole.solver);
    EXPECT_LT(single.memory_bytes, whole.memory_bytes);
    EXPECT_LE(single.iterations, 1.05 * whole.iterations) << stiffness;
    scene.projection.cg_tolerance = 1e-12;
    const Course exact = course(scene, StepSolver::direct, 40),
                 corrected = course(scene, StepSolver::automatic, 40);
    EXPECT_LT(most_between(single, exact), 2 * most_between(whole, exact) + 1e-6) << stiffness;
    EXPECT_LT(most_between(corrected, exact), 1e-7)
        << stiffness;  // differences of pairs are 2,000 times softer
    EXPECT_GT(most_between(corrected, exact), 0) << "both came from one factor";
  }
}

}  // namespace
}  // namespace isocloth

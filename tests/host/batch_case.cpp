#include "tests/host/batch_case.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/mesh/generators.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

std::string describe(const BatchCase& batch) {
  return std::string(batch.method == ProjectionMethod::proximal_newton ? "newton" : "fast") + "_" +
         (batch.metric == Metric::mass ? "mass" : "B") + (batch.bending ? "_bending" : "") +
         (batch.own_rest_shapes ? "_own_shapes" : "") + (batch.parted ? "_parted" : "") +
         (batch.integrator == Integrator::bdf2 ? "_bdf2" : "") +
         (batch.factor == FactorPattern::rows ? "_cg" : "");
}

Garment batch_member(const BatchCase& batch, int member) {
  Garment garment;
  garment.name = "cloth " + std::to_string(member);
  const double size = batch.own_rest_shapes ? 1 + 0.04 * (member % 3) : 1;
  garment.mesh = quad_grid(batch.nx, batch.ny, 0.2 * size, 0.25 * size);
  for (Vec3d& p : garment.mesh.positions) p = {0.003 * std::sin(30 * p.x + 20 * p.y), p.x, p.y};
  garment.fabric = {.density = 0.3 + 0.1 * (member % 7),
                    .gravity_density = 0.2 + 0.05 * (member % 4),
                    .bending_stiffness = batch.bending ? 1e-5 * (1 + member % 3) : 0,
                    .mass_damping = 0.5 * (member % 5),
                    .stiffness_damping = batch.bending ? 1e-6 * (member % 2) : 0};
  if (member % 4 != 0) garment.gravity = 9 + 0.11 * member;
  garment.time_offset = 0.03 * member;
  const Index left = batch.nx * (batch.ny - 1), right = batch.nx * batch.ny - 1;
  // Towards the other pin, or the edge between them would have to stretch.
  Motion motion = OscillationMotion{.amplitude = {0.02 + 0.001 * (member % 16), -0.015, 0},
                                    .frequency = 0.8 + 0.05 * (member % 16),
                                    .start = garment.time_offset - 0.005 * (member % 4),
                                    .duration = 10};
  if (member % 3 == 1) motion = FixedMotion{};
  if (batch.parted && member % 3 == 2) {
    motion = KeyframeMotion{.times = {garment.time_offset, garment.time_offset + 0.3},
                            .translations = {{0, 0, 0}, {0.05, 0.06, 0.08 + 0.005 * (member % 5)}},
                            .rotations = {},
                            .center = {}};
  }
  garment.pins = {{"left", {left}, motion}, {"right", {right}, FixedMotion{}}};
  if (member % 2 == 1) {
    garment.initial_velocities.assign(garment.mesh.positions.size(), Vec3d{});
    for (std::size_t i = 0; i < garment.mesh.positions.size(); ++i)
      garment.initial_velocities[i].x = 0.3 * garment.mesh.positions[i].y;
  }
  return garment;
}

Scene batch_scene(const BatchCase& batch, const std::vector<int>& members) {
  Scene scene;
  for (const int member : members) scene.garments.push_back(batch_member(batch, member));
  scene.step = batch.parted ? 0.05 : 0.01;
  scene.duration = 1;
  scene.projection.method = batch.method;
  scene.projection.metric = batch.metric;
  scene.projection.integrator = batch.integrator;
  scene.projection.factorization = batch.factor;
  scene.recipe = batch.factor == FactorPattern::rows ? "inextensible_edges" : "coltraro2022";
  if (batch.parted) {
    scene.projection.max_iterations = 3;
    scene.projection.max_substeps = 16;
  }
  return scene;
}

Scene batch_scene(const BatchCase& batch, int count) {
  std::vector<int> members(static_cast<std::size_t>(count));
  std::iota(members.begin(), members.end(), 0);
  return batch_scene(batch, members);
}

BatchRun run_batch(Simulation& simulation, int steps) {
  BatchRun run;
  run.reports.resize(simulation.garment_count());
  for (int i = 0; i < steps; ++i) {
    const std::vector<StepReport> reports = simulation.step();
    for (std::size_t g = 0; g < reports.size(); ++g) run.reports[g].push_back(reports[g]);
  }
  for (std::size_t g = 0; g < simulation.garment_count(); ++g) run.states.push_back(simulation.state(g));
  return run;
}

BatchRun run_batch(const Scene& scene, const ExecutionOptions& options, int steps) {
  Simulation simulation(scene, options);
  return run_batch(simulation, steps);
}

void expect_same_state(const GarmentState& found, const GarmentState& expected, const std::string& what) {
  for_each_field<GarmentState>([&](const char* name, auto member) {
    EXPECT_TRUE(found.*member == expected.*member) << name << ": " << what;
  });
}

void expect_same_report(const StepReport& found, const StepReport& expected, const std::string& what) {
  EXPECT_EQ(found.status, expected.status) << what;
  EXPECT_EQ(found.iterations, expected.iterations) << what;
  EXPECT_EQ(found.substeps, expected.substeps) << what;
  EXPECT_EQ(found.residual, expected.residual) << what;
  EXPECT_EQ(found.bad_node, expected.bad_node) << what;
}

void expect_same(const BatchRun& found, std::size_t garment, const BatchRun& expected,
                 std::size_t expected_garment, const std::string& what) {
  expect_same_state(found.states[garment], expected.states[expected_garment], what);
  ASSERT_EQ(found.reports[garment].size(), expected.reports[expected_garment].size()) << what;
  for (std::size_t i = 0; i < found.reports[garment].size(); ++i)
    expect_same_report(found.reports[garment][i], expected.reports[expected_garment][i],
                       what + ", step " + std::to_string(i));
}

bool is_finite(const GarmentState& state) {
  auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  return finite(state.positions) && finite(state.velocities) && finite(state.multipliers);
}

std::vector<std::string> simd_names() {
  std::vector<std::string> names;
  for (const Simd simd : {Simd::baseline, Simd::avx2, Simd::avx512})
    if (cpu_backend(simd) != nullptr) names.push_back(to_string(simd));
  return names;
}

void expect_bits_of_each_alone(Simulation& all, int steps, const std::function<Scene(std::size_t)>& alone) {
  all.advance(steps);
  for (const std::size_t g : {0u, 4u, 10u}) {
    Simulation one(alone(g));
    one.advance(steps);
    EXPECT_EQ(all.positions(g), one.positions(0)) << g;
  }
}

}  // namespace isocloth

// Cloth that meets cloth on the GPU: the steps of the CPU, and nothing passes through anything.
#include "tests/host/batch_case.hpp"
#include "tests/host/body_case.hpp"
#include "tests/host/cloth_sheets.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/support/known_recipes.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

using GpuClothContact = GpuCase;

struct Case {
  const char* what;
  Scene scene;
  StepSolver solver;
};

/// A sheet that falls on another one on the floor.
Scene falling(const std::string& recipe, Index nodes = 9) {
  Scene scene = cloth_scene({sheet("lower", nodes, 0.3, {0, 0, 0.002}),
                             sheet("upper", nodes - 2, 0.2, {0.01, 0.02, 0.006}, {0.3, 0, -1})});
  scene.recipe = recipe;
  scene.impulse.on_violation = OnViolation::go_on;
  scene.obstacles = {floor_obstacle()};
  return scene;
}

std::vector<Case> cases() {
  Scene converging = falling("isometric_impulse"), carrying = falling("membrane"), worlds = worlds_of_two(4);
  converging.impulse.mode = ImpulseMode::converge;
  for (Garment& garment : worlds.garments)  // a search for intersections knows of no worlds
    for (Vec3d& p : garment.initial_positions) p.x += static_cast<double>(garment.world);
  carrying.bodies = {body(SphereShape{0.03}, 0.05, {0, 0, 0.045}, 0.3)};
  std::vector<Case> all{{"one step for all", falling("membrane"), StepSolver::direct},
                        {"pairs found by the device", falling("membrane", 18), StepSolver::direct},
                        {"worlds, some of which meet", worlds, StepSolver::automatic},
                        {"with a rigid body", carrying, StepSolver::direct},
                        {"inextensible", falling("coltraro2022"), StepSolver::direct},
                        {"impulses, swept", falling("bender_iterative"), StepSolver::automatic},
                        {"impulses, until they converge", converging, StepSolver::automatic},
                        {"impulses from one system", falling("bender_sle"), StepSolver::automatic}};
  std::erase_if(all, [](const Case& c) { return !has_recipe(c.scene.recipe); });
  return all;
}

/// What touches what.
std::vector<std::int64_t> keys_of(const GarmentState& state) {
  std::vector<std::int64_t> keys;
  for (const ClothContactState& contact : state.cloth_contacts) keys.push_back(contact.key);
  return keys;
}

// Each step from the CPU's state. Rounding may decide what touches: steps are compared where the same
// contacts end the step after as many iterations. Solutions differ then by what the condition of the matrix
// makes of rounding, as in GpuContact.DirectStepsEqualCpu.
TEST_F(GpuClothContact, StepsEqualThoseOfTheCpu) {
  const double bound = 1e9 * std::numeric_limits<double>::epsilon() / 2 * 0.1;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.what);
    Simulation cpu(c.scene, {.backend = "cpu", .solver = c.solver}),
        gpu(c.scene, {.backend = "cuda", .solver = c.solver});
    int compared = 0;
    for (int step = 0; step < unless_sanitized(30, 10); ++step) {
      for (std::size_t g = 0; g < cpu.garment_count(); ++g) gpu.set_state(g, cpu.state(g));
      gpu.set_bodies(cpu.bodies());
      const std::vector<StepReport> expected = cpu.step(), found = gpu.step();
      for (std::size_t g = 0; g < cpu.garment_count(); ++g) {
        EXPECT_EQ(found[g].held_back, 0);
        EXPECT_FALSE(gpu.frozen(g));
        const auto keys = keys_of(cpu.state(g));
        if (expected[g].iterations != found[g].iterations || keys_of(gpu.state(g)) != keys) continue;
        compared += !keys.empty();
        EXPECT_LE(distance(cpu, gpu, g), bound) << "step " << step << ", garment " << g;
      }
    }
    EXPECT_GT(compared, unless_sanitized(15, 2));
  }
}

TEST_F(GpuClothContact, NothingPassesAndRunsGoOnFromASnapshot) {
  for (const Precision precision : both_precisions)
    for (const Case& c : cases()) {
      if (precision == Precision::float32 && !c.scene.bodies.empty()) continue;  // bodies need double
      SCOPED_TRACE(std::string(c.what) + ", " + to_string(precision));
      const ExecutionOptions options{.backend = "cuda", .precision = precision, .solver = c.solver};
      Simulation straight(c.scene, options), resumed(c.scene, options);
      IntersectionSearch search = search_of(c.scene);
      const int steps = unless_sanitized(20, 8);
      for (int step = 0; step < steps; ++step) {
        if (step == steps / 2) resumed.restore(straight.snapshot());
        straight.step();
        EXPECT_EQ(crossings(search, straight), 0) << "step " << step;
        if (step >= steps / 2) resumed.step();
      }
      std::size_t touching = 0;
      for (std::size_t g = 0; g < straight.garment_count(); ++g) {
        expect_same_state(resumed.state(g), straight.state(g), "garment " + std::to_string(g));
        touching += straight.state(g).cloth_contacts.size();
      }
      EXPECT_TRUE(resumed.bodies() == straight.bodies());
      EXPECT_GT(touching, 0u);
    }
}

}  // namespace
}  // namespace isocloth

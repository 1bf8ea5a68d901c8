// Triangle meshes with more contacts, in chunks of a reduction, than nodes or rows: few steps of everything
// that works on arrays of their length, for builds that check bounds.
#include "tests/host/batch_case.hpp"
#include "tests/host/body_case.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/host/gripper_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

/// 11 contacts per node are 4,851: one chunk more than its 441 nodes with eight values each take.
Garment triangles(FaceKind faces = FaceKind::triangles) {
  constexpr Index n = 21;
  Garment sheet = square_sheet(n, 0.6, 0.5);
  if (faces == FaceKind::triangles) sheet.mesh = triangle_grid(n, n, 0.6, 0.6, Diagonals::alternating);
  for (Vec3d& p : sheet.mesh.positions) p -= Vec3d{0.3, 0.3, 0};
  sheet.initial_positions = sheet.mesh.positions;
  Random random(2);
  for (Vec3d& p : sheet.initial_positions) p.z += 0.201 + 1e-4 * random.uniform(-1, 1);
  sheet.initial_velocities.assign(sheet.initial_positions.size(), Vec3d{0, 0, -0.5});
  sheet.fabric.drag = {.normal = 0.1, .tangential = 0.01};
  sheet.grippers = {gripper({-0.3, -0.3, 0.2}, 0.05, {{0, 0.02}, {0.03, 1}}),
                    gripper({0.3, -0.3, 0.2}, 0.05, {{0.01, 1}})};
  sheet.grippers[1].name = "soft";
  sheet.grippers[1].stiffness = 500;
  return sheet;
}

/// Over a sphere that rests, a box that moves and a plane, in the wind.
Scene large_scene(const std::string& recipe, FaceKind faces = FaceKind::triangles) {
  Scene scene = contact_scene(triangles(faces), obstacle(SphereShape{0.2}, {}, 0.3), 0.01);
  scene.recipe = recipe;
  scene.obstacles.push_back(obstacle(BoxShape{{0.1, 0.1, 0.1}, 0.01}, {0.2, 0.2, 0.14}, 0.3));
  scene.obstacles.push_back(obstacle(PlaneShape{}, {0, 0, -0.3}, 0.3));
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) scene.obstacles[o].name += std::to_string(o);
  scene.obstacles[1].motion = OscillationMotion{.amplitude = {0, 0, 0.05}, .frequency = 2, .duration = 100};
  scene.wind = {.velocity = {1, 0.5, 0}, .gusts = 0.3, .gust_period = 0.2};
  scene.projection.max_substeps = 1;
  scene.projection.max_iterations = 6;
  scene.impulse.max_sweeps = 10;
  scene.impulse.substeps = 5;
  return scene;
}
Scene large_scene_with_bodies(FaceKind faces) {
  Scene scene = large_scene("coltraro2022", faces);
  scene.bodies = {body(SphereShape{0.05}, 0.1, {0.02, 0.03, 0.252}, 0.3),
                  body(BoxShape{{0.1, 0.1, 0.1}, 0.01}, 0.1, {-0.2, 0.1, 0.252}, 0.3)};
  scene.bodies[1].name = "box";
  return scene;
}

void expect_steps(const Scene& scene, const ExecutionOptions& options, const std::string& what) {
  const BatchRun run = run_batch(scene, options, 3);
  for (std::size_t g = 0; g < run.states.size(); ++g) {
    EXPECT_TRUE(is_finite(run.states[g])) << what;
    EXPECT_FALSE(run.states[g].frozen) << what;
    EXPECT_GT(contacts_in(run.states[g]), 0) << what;
    EXPECT_NE(run.states[g].holds, std::vector<HoldState>(run.states[g].holds.size())) << what;
  }
}

struct Way {
  const char* recipe;
  StepSolver solver;
  Precision precision;
};
constexpr auto f32 = Precision::float32, f64 = Precision::float64;
constexpr Way projections[] = {
    {"coltraro2022", StepSolver::direct, f64},       {"coltraro2022", StepSolver::direct, f32},
    {"coltraro2022", StepSolver::mixed, f64},        {"coltraro2022", StepSolver::iterative, f64},
    {"inextensible_edges", StepSolver::direct, f64}, {"inextensible_edges", StepSolver::batched, f32}};
const std::vector<Way> impulses = of_known_recipes<Way>({{"bender_iterative", StepSolver::direct, f64},
                                                         {"bender_iterative", StepSolver::batched, f32},
                                                         {"bender_sle", StepSolver::direct, f64},
                                                         {"isometric_impulse", StepSolver::direct, f32},
                                                         {"isometric_impulse", StepSolver::batched, f64}});
std::string describe(const Way& way) {
  return std::string(way.recipe) + ", " + to_string(way.solver) + ", " + to_string(way.precision);
}

void expect_steps_on(const std::string& backend, const Way& way) {
  const ExecutionOptions options{
      .backend = backend, .precision = way.precision, .solver = way.solver, .threads = 2};
  Scene scene = large_scene(way.recipe);
  if (way.precision == f32) scene.projection.eps = 1e-4;
  expect_steps(scene, options, describe(way));
  if (way.recipe != std::string("bender_iterative")) return;
  scene.impulse.mode = ImpulseMode::converge;
  expect_steps(scene, options, describe(way) + ", until it converges");
}

TEST(LargeCloth, IsProjectedAmongObstaclesAndGrippers) {
  for (const Way& way : projections) expect_steps_on("cpu", way);
}
TEST(LargeCloth, IsHeldByImpulsesAmongObstaclesAndGrippers) {
  for (const Way& way : impulses) expect_steps_on("cpu", way);
}
TEST(LargeCloth, CarriesBodies) {
  for (const FaceKind faces : {FaceKind::quads, FaceKind::triangles})
    for (const StepSolver solver : {StepSolver::direct, StepSolver::mixed})
      expect_steps(large_scene_with_bodies(faces), {.solver = solver, .threads = 2}, to_string(solver));
}

using GpuLargeCloth = GpuCase;
TEST_F(GpuLargeCloth, IsProjectedAmongObstaclesAndGrippers) {
  for (const Way& way : projections) expect_steps_on("cuda", way);
}
TEST_F(GpuLargeCloth, IsHeldByImpulsesAmongObstaclesAndGrippers) {
  for (const Way& way : impulses) expect_steps_on("cuda", way);
}
TEST_F(GpuLargeCloth, CarriesBodies) {
  expect_steps(large_scene_with_bodies(FaceKind::triangles), {.backend = "cuda"}, "on a device");
}

}  // namespace
}  // namespace isocloth

// Cloth with pressure on one side.
#include "engine/mesh/generators.hpp"
#include "tests/engine/closed_meshes.hpp"
#include "tests/host/contact_case.hpp"

namespace isocloth {
namespace {

Scene scene_of(Mesh mesh, double pressure) {
  Garment garment;
  garment.name = "balloon";
  garment.mesh = std::move(mesh);
  garment.fabric = {.density = 0.2,
                    .gravity_density = 0.2,
                    .mass_damping = 3,
                    .stretch_stiffness = 1000,
                    .shear_stiffness = 200};
  garment.pressure = pressure;
  Scene scene;
  scene.recipe = "membrane";
  scene.gravity = 0;
  scene.step = 0.005;
  scene.duration = 10;
  scene.projection.tolerance = 1e-6;
  scene.garments = {garment};
  return scene;
}

class PressureTest : public ::testing::TestWithParam<StepSolver> {};
INSTANTIATE_TEST_SUITE_P(Solvers, PressureTest, ::testing::Values(StepSolver::batched, StepSolver::direct));

// An open tube of a St. Venant-Kirchhoff membrane: the hoop's stretch s has k (s^2 - 1) / 2 = p R.
TEST_P(PressureTest, StretchesATubeByItsStress) {
  constexpr double radius = 0.1, pressure = 500, stiffness = 1000;
  const Mesh mesh = tube(5, 40, radius, 0.06, FaceKind::quads);
  Simulation simulation(scene_of(mesh, pressure), one_thread(GetParam()));
  for (int n = 0; n < 300; ++n) simulation.step();
  const double wanted = std::sqrt(1 + 2 * pressure * radius / stiffness);
  const std::vector<Vec3d> positions = simulation.positions(0);
  for (Index node = 0; node < mesh.node_count(); ++node) {
    const double found = std::hypot(positions[node].x, positions[node].y) / radius;
    // The polygon's sides carry the pressure of the circle but for cos(pi / 40): 0.3 %.
    EXPECT_NEAR(found, wanted, 0.002) << node;
  }
}

TEST_P(PressureTest, TurnsWithTheFacesAndMovesNoClosedSurface) {
  Simulation simulation(scene_of(testing::torus_mesh(14, 8, 0.2, 0.06), 50), one_thread(GetParam()));
  for (int n = 0; n < 40; ++n) {
    simulation.step();
    const Measures measures = simulation.measure(0);
    EXPECT_LT(norm(measures.linear_momentum), 1e-12) << n;
    EXPECT_LT(norm(measures.angular_momentum), 1e-7) << n;  // what steps leave unsolved
  }
  EXPECT_GT(simulation.measure(0).elastic_energy, 1e-4);
  // From the other side it crushes.
  Simulation inward(scene_of(testing::torus_mesh(14, 8, 0.2, 0.06), -5), one_thread(GetParam()));
  for (int n = 0; n < 40; ++n) inward.step();
  EXPECT_LT(inward.measure(0).linear_momentum.x, 1e-12);
}

TEST(Pressure, OfManyIsThatOfOne) {
  std::vector<Garment> garments;
  for (int i = 0; i < 9; ++i) {
    garments.push_back(scene_of(tube(4, 10, 0.1, 0.1, FaceKind::triangles), 20.0 * i).garments.front());
    garments.back().name += std::to_string(i);
  }
  Scene scene = scene_of({}, 0);
  scene.garments = garments;
  Simulation all(scene);
  all.advance(20);
  for (const std::size_t g : {0u, 3u, 8u}) {
    scene.garments = {garments[g]};
    Simulation alone(scene);
    alone.advance(20);
    // A tube without pressure is alone among samples that do nothing.
    for (std::size_t i = 0; i < garments[g].mesh.positions.size(); ++i)
      EXPECT_LE(norm(all.positions(g)[i] - alone.positions(0)[i]), g == 0 ? 1e-12 : 0) << g;
  }
}

TEST(Pressure, IsRefusedByImpulses) {
  Scene scene = scene_of(tube(4, 10, 0.1, 0.1, FaceKind::triangles), 20);
  scene.recipe = "bender_iterative";
  try {
    validate_scene(scene);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("garments[0].pressure: found 20, expected 0 with the recipe bender_iterative"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace isocloth

// Elements by the polar decomposition beside those by Green's strain, where both are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {
namespace {

constexpr double gravity = 9.8;

Scene scene_of(const char* name, Mesh mesh, std::vector<Index> pinned, double step, double tolerance) {
  Garment garment;
  garment.name = name;
  garment.mesh = std::move(mesh);
  garment.pins = {{"pins", std::move(pinned), FixedMotion{}}};
  Scene scene;
  scene.recipe = "corotational";
  scene.step = scene.duration = step;
  scene.gravity = gravity;
  scene.projection.tolerance = tolerance;
  scene.garments = {garment};
  return scene;
}

// A linear stress of a strip that is stretched to s: by Green's strain the force per width is k (s^3 - s) / 2
// (Volino et al. 2009, Figure 2), by the stretch tensor k (s - 1). Hanging by its own weight, w = delta g L /
// k at the top, the first has the length L times the mean of s over w, the second L (1 + w / 2), and the
// energy k width L w^2 / 6.
TEST(HangingStrip, StretchesByTheMeasureOfStrain) {
  const double length = 1, width = 0.1, density = 4, most = 0.6,
               stiffness = density * gravity * length / most;
  double by_green = 0;
  const int parts = 1000;
  for (int i = 0; i < parts; ++i) {
    double low = 1, high = 2;
    for (int k = 0; k < 60; ++k) {
      const double s = (low + high) / 2;
      (s * (s * s - 1) / 2 > most * (i + 0.5) / parts ? high : low) = s;
    }
    by_green += (low - 1) * length / parts;
  }
  const double by_stretch = most * length / 2;
  ASSERT_GT(by_stretch, 1.3 * by_green);
  for (const std::string recipe : {"membrane", "corotational"})
    for (const bool has_quads : {true, false})
      for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
        Mesh mesh = has_quads ? quad_grid(5, 33, width, length)
                              : triangle_grid(5, 33, width, length, Diagonals::alternating);
        for (Vec3d& p : mesh.positions) p = {p.y, p.x, 0};
        mesh.corner_uvs.clear();  // warp is x
        Scene scene = scene_of("strip", std::move(mesh), {160, 161, 162, 163, 164}, 0.02, 1e-6);
        scene.recipe = recipe;
        Garment& garment = scene.garments[0];
        garment.fabric = {.density = density,
                          .gravity_density = density,
                          .mass_damping = 12,
                          .stretch_stiffness = stiffness,
                          .shear_stiffness = stiffness};
        for (const Vec3d& p : garment.mesh.positions) garment.initial_positions.push_back({0, p.y, p.x});
        Simulation simulation(std::move(scene), {.solver = solver, .threads = 1});
        for (int step = 0; step < 400; ++step)
          ASSERT_EQ(simulation.step().front().status, StepStatus::converged) << step;
        const bool is_linear = recipe == "corotational";
        const std::string what = text(recipe, has_quads ? " quads " : " triangles ", to_string(solver));
        EXPECT_NEAR(-simulation.positions(0)[2].z / (is_linear ? by_stretch : by_green), 1, 0.005) << what;
        if (is_linear) {
          EXPECT_NEAR(simulation.measure(0).elastic_energy / (stiffness * width * length * most * most / 6),
                      1, 0.005)
              << what;
        }
      }
}

// Elements that are all but collapsed to a line, and to a point. By Green's strain what pushes them apart is
// as small as they are wide (Volino et al. 2009, section 1.2); by the stretch tensor it is the most that
// there is.
TEST(CorotationalElements, OpenWhereTheyHaveCollapsed) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : {Precision::float64, Precision::float32})
      for (const double width : {1e-2, 1e-7, 0.0}) {
        Scene scene = scene_of("sheet", quad_grid(5, 4, 0.4, 0.3), {0, 1, 2, 3, 4}, 0.01, 1e-3);
        scene.gravity = 0;
        Garment& sheet = scene.garments[0];
        sheet.fabric = {.density = 0.2,
                        .gravity_density = 0.2,
                        .mass_damping = 2,
                        .stretch_stiffness = 200,
                        .shear_stiffness = 50};
        sheet.initial_positions = sheet.mesh.positions;
        for (Vec3d& p : sheet.initial_positions) p.y *= width;
        Simulation simulation(scene, {.precision = precision, .solver = solver, .threads = 1});
        for (int step = 0; step < 150; ++step)
          ASSERT_FALSE(has_failed(simulation.step().front().status)) << step;
        if (width == 0) continue;  // no direction is known in which to open
        const Strain strain = simulation.strains()[0];
        EXPECT_LT(std::max(strain.stretch_max, strain.compression_max), 0.02)
            << to_string(solver) << ", " << width;
      }
}

}  // namespace
}  // namespace isocloth

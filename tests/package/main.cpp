// A sheet of 9 x 9 nodes, held at two corners, ten steps: the installed library from outside.
#include <cstdio>
#include <exception>

#include "engine/mesh/generators.hpp"
#include "host/simulation.hpp"

int main() {
  try {
    isocloth::Garment sheet;
    sheet.name = "sheet";
    sheet.mesh = isocloth::quad_grid(9, 9, 0.297, 0.42);
    sheet.pins.push_back({.name = "corners", .nodes = {72, 80}, .motion = {}});
    isocloth::Scene scene;
    scene.name = "consumer";
    scene.step = 0.0025;
    scene.duration = 10 * scene.step;
    scene.garments.push_back(sheet);

    isocloth::Simulation simulation(scene, {.threads = 1});
    for (int i = 0; i < 10; ++i) {
      const isocloth::StepReport report = simulation.step().front();
      if (report.status != isocloth::StepStatus::converged) {
        std::fprintf(stderr, "step %d: %s, residual %g\n", i, isocloth::to_string(report.status),
                     report.residual);
        return 1;
      }
    }
    const double fallen = -simulation.positions(0).front().z;
    const isocloth::Measures measures = simulation.measure(0);
    std::printf("time %g s, fallen %g m, strain max %g mean %g, residual %g\n", simulation.time(), fallen,
                measures.strain_max, measures.strain_mean, measures.residual);
    return fallen > 0 && measures.residual <= scene.projection.tolerance ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

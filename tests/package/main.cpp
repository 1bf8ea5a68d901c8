// A hanging sheet of 9 x 9 nodes, its upper corners shaken, ten steps: the installed library from outside.
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include "host/isocloth.hpp"

int main() {
  try {
    isocloth::Garment sheet;
    sheet.name = "sheet";
    sheet.mesh = isocloth::quad_grid(9, 9, 0.297, 0.42);
    for (isocloth::Vec3d& p : sheet.mesh.positions) p = {p.x, 0, p.y};
    const isocloth::OscillationMotion shake{.amplitude = {0, 0.075, 0}, .frequency = 0.6};
    sheet.pins.push_back({.name = "upper corners", .nodes = {72, 80}, .motion = shake});
    isocloth::Scene scene;
    scene.name = "consumer";
    scene.step = 0.01;
    scene.duration = 10 * scene.step;
    scene.garments.push_back(sheet);

    isocloth::Simulation simulation(scene, {.threads = 1});
    simulation.add_force("draught", [](const isocloth::ForceInput& in, isocloth::ForceOutput& out) {
      for (std::size_t i = 0; i < in.masses.size(); ++i) out.forces[i].y = 0.1 * in.masses[i];
    });
    isocloth::StepReport report;
    for (int i = 0; i < 10; ++i) {
      report = simulation.step().front();
      if (report.status != isocloth::StepStatus::converged) {
        std::fprintf(stderr, "step %d: %s, residual %g\n", i, isocloth::to_string(report.status),
                     report.residual);
        return 1;
      }
    }
    const std::vector<isocloth::Vec3d> positions = simulation.positions(0);
    std::printf("time %g s, corner moved %g m, hem is at z %g m, largest strain of an edge %g, residual %g\n",
                simulation.time(), positions[72].y, positions[4].z, report.strain.max, report.residual);
    const double way = 0.075 * (std::cos(2 * 3.14159265358979 * 0.6 * simulation.time()) - 1);
    const bool is_held = std::abs(positions[72].y - way) < 1e-9, hangs = positions[4].z < 0;
    return is_held && hangs && report.residual <= scene.projection.tolerance ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

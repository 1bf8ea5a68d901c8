// A sheet of a scene file with a spring from its first node to a point in space: energies after every step.
//     spring SCENE STEPS > energies.csv
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "host/isocloth.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: spring SCENE STEPS\n");
    return 2;
  }
  try {
    constexpr double stiffness = 20;              // [N/m]
    const isocloth::Vec3d anchor{0.2, 0.3, 0.1};  // [m]
    isocloth::Simulation simulation(isocloth::read_scene(argv[1]), {.threads = 1});
    simulation.add_force("spring", [&](const isocloth::ForceInput& in, isocloth::ForceOutput& out) {
      out.forces[0] = stiffness * (anchor - in.positions[0]);
      out.stiffness.resize(in.masses.size());
      out.stiffness[0] = isocloth::isotropic_tensor(stiffness);
    });
    std::printf("time,kinetic,gravity and bending,elastic,spring\n");
    const int steps = std::atoi(argv[2]);
    for (int i = 0; i < steps; ++i) {
      simulation.step();
      const isocloth::Measures m = simulation.measure().front();
      const isocloth::Vec3d way = anchor - simulation.positions(0)[0];
      std::printf("%.17g,%.17g,%.17g,%.17g,%.17g\n", simulation.time(), m.kinetic_energy, m.potential_energy,
                  m.elastic_energy, 0.5 * stiffness * dot(way, way));
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

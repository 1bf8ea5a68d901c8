// What the benchmark program can do, one function per subcommand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/report.hpp"

namespace isocloth::bench {

struct IterationRequest {
  std::vector<std::string> meshes;   ///< "quads_9", "alternating_17", "irregular_33", ...
  std::vector<std::string> methods;  ///< "proximal_newton", "fast_projection"
  std::vector<double> steps_ms;
  std::vector<double> tolerances;
  std::vector<double> eps = {0};  ///< first row softness of the proximal Newton, 0: the default; so below
  double seconds = 0;             ///< simulated time; 0: shorter for larger meshes
  int workers = 1;
};
/// Iterations per step of both methods on the fast shake.
std::vector<Table> measure_iterations(const IterationRequest& request);

/// Time and memory of the 9 x 9 shake on one thread, the best of some repetitions.
std::vector<Table> measure_speed(double eps, int repetitions);

/// Scenes with a known answer: those whose group is in `groups`, all if that is empty.
std::vector<Table> compare_scenes(const std::vector<std::string>& groups, double eps, int workers);
std::vector<std::string> scene_groups();

struct DrapeRequest {
  std::vector<int> circles;    ///< radial node counts; 8 (circles - 1) nodes around
  std::vector<double> kappas;  ///< [N m]
  double eps = 0;              ///< first row softness; 0: the default
  int seeds = 3;
  int workers = 1;
  std::filesystem::path csv, svg;  ///< empty: not written
};
/// Drape coefficient of a ring against mesh size and bending stiffness.
std::vector<Table> measure_drape(const DrapeRequest& request);

}  // namespace isocloth::bench

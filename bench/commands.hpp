// What the benchmark program can do, one function per subcommand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "host/simulation/simulation.hpp"

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

/// Time and memory of the 9 x 9 shake on one thread, alone and many at once, the best of some repetitions;
/// beside the published times.
std::vector<Table> measure_speed(double eps, int repetitions);

struct BatchRequest {
  std::vector<std::string> meshes;  ///< as above
  std::vector<int> counts;          ///< cloths at once
  std::vector<Precision> precisions;
  std::vector<std::string> simds;  ///< CPU: instruction sets; empty: the widest
  std::string recipe = "coltraro2022";
  ExecutionOptions execution;  ///< backend, solver and threads
  double tolerance = 1e-3, eps = 0;
  double seconds = 0.5;       ///< wall time of the timed steps of a case
  std::filesystem::path svg;  ///< empty: not written
};
/// Time, memory and accuracy of many shaken sheets against their number.
std::vector<Table> measure_batch(const BatchRequest& request);

struct MeshRequest {
  std::vector<int> sides;  ///< nodes a side
  std::string recipe = "coltraro2022";
  ExecutionOptions execution;  ///< of one simulation
  double tolerance = 1e-3, eps = 0;
  double seconds = 0;  ///< simulated time after the first step; 0: as the budget allows
  double budget = 5;   ///< wall time of a mesh's steps, five steps at least
};
/// One shaken sheet against the fineness of its mesh.
std::vector<Table> measure_meshes(const MeshRequest& request);

struct FactorRequest {
  std::vector<int> sides;       ///< nodes a side
  std::vector<int> threads;     ///< of the solvers of one system
  std::vector<int> lane_sides;  ///< nodes a side of the systems that are solved side by side in lanes
  double eps = 0;
  double budget = 0.4;        ///< wall time of each solver's repetitions
  std::filesystem::path svg;  ///< empty: not written
};
/// Factorisation and solve of nodal systems of a sheet in motion, beside other libraries and the machine's
/// limits.
std::vector<Table> measure_factors(const FactorRequest& request);

struct IterativeRequest {
  std::vector<int> sides;     ///< nodes a side
  std::vector<double> rtols;  ///< relative residuals to reach
  std::vector<double> eps = {0};
  int max_iterations = 1000;
};
/// Conjugate gradients on the same systems, beside the direct solver.
std::vector<Table> measure_iterative(const IterativeRequest& request);

struct LibrariesRequest {
  std::vector<std::string> parts;  ///< some of library_parts(), all if empty
  std::string backend = "cuda";  ///< "cpu": Eigen and the standard library in the place of a GPU's libraries
  std::vector<int> sides;        ///< nodes a side of one sheet
  std::vector<int> batch_sides;  ///< those of them that are solved in batches, too
  std::vector<int> counts;       ///< systems at once, ascending
  std::vector<int> lengths;      ///< of arrays that are reduced, scanned, sorted
  double eps = 0;
  double budget = 0.2;  ///< wall time of each way's repetitions [s]
};
/// The engine's kernels beside cuSPARSE, cuSOLVER and CUB on the same arrays of a GPU.
std::vector<Table> measure_libraries(const LibrariesRequest& request);
std::vector<std::string> library_parts();

/// Scenes with a known answer: those whose group is in `groups`, all if that is empty.
std::vector<Table> compare_scenes(const std::vector<std::string>& groups, double eps, int workers);
std::vector<std::string> scene_groups();

struct DrapeRequest {
  std::vector<int> circles;    ///< radial node counts; 8 (circles - 1) nodes around, of a disc 3.2 circles
  std::vector<double> kappas;  ///< [N m]
  double eps = 0;              ///< first row softness; 0: the default
  int seeds = 3;
  int workers = 1;
  std::filesystem::path csv, svg;  ///< empty: not written
  bool membrane = false;           ///< a disc of the recipe membrane, not a ring of coltraro2022
};
/// Drape coefficient of a ring or disc against mesh size and bending stiffness.
std::vector<Table> measure_drape(const DrapeRequest& request);

struct CusickRequest {
  std::vector<std::string> fabrics;   ///< presets
  std::vector<std::string> scenes;    ///< files, the fabrics of whose garments are measured
  double disc = 0.09, radius = 0.15;  ///< of the disc and of the specimen [m]
  double edge = 0;  ///< [m]; 0: a quarter of (kappa / rho g)^(1/3), between 1/16 and 1/8 of what hangs
  std::vector<int> folds = {4, 5, 6, 7, 8, 9, 10};  ///< at the starts
  double tolerance = 2e-3;                          ///< of forces at rest, over a node's weight
  int workers = 1;
};
/// Cusick's drape coefficient with its spread over numbers of folds and its change by the mesh. Throws
/// SceneError.
std::vector<Table> measure_cusick(const CusickRequest& request);

/// A tensile tester beside the curves of the fabric; svg: empty, or where curves are drawn.
std::vector<Table> measure_rigs(const std::string& svg, int workers);

struct ImpulseRequest {
  std::vector<std::string> parts;  ///< some of impulse_parts(), all if empty
  std::vector<int> sides;          ///< nodes a side
  std::vector<double> tolerances;
  int steps = 500;      ///< of 1/30 s
  double budget = 60;   ///< processor time of a run [s]
  int repetitions = 7;  ///< of a measured sweep, the least counts
  int workers = 1;
};
/// Impulse solvers beside Figures 5 and 6 of Bender and Bayer; cost of a sweep, over-relaxation, division.
std::vector<Table> measure_impulses(const ImpulseRequest& request);
std::vector<std::string> impulse_parts();

struct FramesRequest {
  std::vector<std::string> sheets;  ///< "20:4096": nodes a side, cloths at once
  std::vector<Precision> precisions;
  ExecutionOptions execution;  ///< backend, solver and threads
  double strain = 1e-2;        ///< to reach
  int frames = 60;             ///< of 1/60 s
  double budget = 20;          ///< wall time of a run [s]
};
/// Sheets held by impulses against real time, alone and many at once.
std::vector<Table> measure_frames(const FramesRequest& request);

struct ParetoRequest {
  std::vector<int> sides;  ///< nodes a side
  int fine_side = 129;     ///< of the mesh that all are compared with; 0: none
  double budget = 30;      ///< processor time of a run [s]
  int workers = 1;
  bool quick = false;         ///< shorter runs and fewer settings
  std::filesystem::path svg;  ///< empty: not written
};
/// Time per simulated second against reached strain of every solver, and against the distance from a fine
/// mesh.
std::vector<Table> measure_pareto(const ParetoRequest& request);

struct ContactRequest {
  std::vector<int> sides;  ///< nodes a side of the sheets on a sphere
  int far = 1000;          ///< further obstacles, out of reach
  int towels = 1024;       ///< on the table, 0: none
  int steps = 100;         ///< of 5 ms
  int repetitions = 3;     ///< of the sheets on a sphere
  Precision precision = Precision::float64;
  ExecutionOptions execution;  ///< of the towels: backend and threads
};
/// Step time of a sheet on a sphere with and without obstacles far away; throughput of towels on a table.
std::vector<Table> measure_contact(const ContactRequest& request);

struct VolinoRequest {
  std::vector<int> sides;  ///< nodes a side
  double tolerance = 5e-3;
  int repetitions = 3;
};
/// Elements per second of StVK, its corotational peer and springs, beside those of the paper.
std::vector<Table> measure_volino(const VolinoRequest& request);

struct StrainRequest {
  std::vector<std::string> scenes;  ///< names
  std::string recipe, preset;       ///< empty: those of the scenes
  // Each with each; 0: that of the scene and its fabric.
  std::vector<double> steps_ms = {0}, stiffnesses = {0}, limits = {0};
  double tolerance = 0;  ///< the same
  int workers = 1;
};
/// Strain of every edge and element at every step of scenes of bench/scenes, to their end, beside what their
/// rows bound.
std::vector<Table> measure_strains(const StrainRequest& request);

struct DefaultsRequest {
  std::vector<std::string> cases;  ///< those whose names contain one of these; empty: all
  int workers = 1;
};
/// Scenes in which nothing is said of tolerances, iterations and the integrator, beside closed forms and
/// beside half the step, a tenth of the tolerance and twice the nodes along each edge.
std::vector<Table> measure_defaults(const DefaultsRequest& request);

/// The scenes of Bender and Bayer, Figure 4, to their end; the last states as a picture in `svg`.
std::vector<Table> draw_figure4(const std::filesystem::path& svg, int workers);

}  // namespace isocloth::bench

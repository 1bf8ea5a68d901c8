// Where the cloth of a scene rests by the energies of its particles, into a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/files/file_access.hpp"
#include "host/models/particles/minimise.hpp"
#include "host/models/shapes/shape_measures.hpp"
#include "host/results/result_options.hpp"

namespace isocloth {

enum class Minimiser { newton, multigrid, descent, two_phase };
/// Names of the minimisers in the command, in the order of Minimiser.
const std::vector<std::string>& minimiser_names();

struct MinimiseRequest {
  std::filesystem::path scene, output;
  std::string recipe;  ///< "breen1994" or "feynman1986"
  Minimiser minimiser = Minimiser::newton;
  RelaxationSettings settings{};
  IfExists if_exists = IfExists::refuse;
  FileAccess access{};  ///< access to files that the scene names
};

/// How a grid of the search ended; `iterations` count those of coarser grids, too.
struct MinimiseLevel {
  Index columns = 0, rows = 0;
  std::int64_t iterations = 0;
  double energy = 0, residual = 0;  ///< energy [J], and residual as in MinimiserPoint
};

/// The content of summary.json (names of the keys are the names of the members).
struct MinimiseSummary {
  std::string scene, garment, recipe, minimiser, status;
  Index node_count = 0;
  std::vector<std::pair<std::string, double>> energies;  ///< energy of each term by its name [J]
  double energy = 0, residual = 0;                       ///< energy [J], and residual as in MinimiserPoint
  std::int64_t iterations = 0;
  std::vector<MinimiseLevel> levels;  ///< levels of the search, coarsest first; one but for multigrid
  int folds = 0;                      ///< fold_count() of the rim
  ShapeMeasures shape;                ///< measures of the shape, without sag
  double depth_max = 0;               ///< depth of the deepest particle in an obstacle [m]
  double wall_seconds = 0;
  std::vector<std::string> warnings;
};
std::string minimise_json(const MinimiseSummary& summary);

/// Minimises the recipe's energy of the scene's only garment, a grid, from its start, with the nodes that it
/// pins held, among the obstacles. All but two-phase start from positions that are moved at
/// random by perturbation * w / 10: a flat sheet has no way to fold. Writes rest.obj, summary.json,
/// energy.csv (energy and residual after every iteration), the scene and report.html; an interrupted search
/// leaves the shape that it had reached. Throws SceneError beginning with the scene's file, NumericalError,
/// FileError; leaves nothing then.
MinimiseSummary minimise_scene(const MinimiseRequest& request);

}  // namespace isocloth

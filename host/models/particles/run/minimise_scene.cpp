#include "host/models/particles/run/minimise_scene.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/core/text.hpp"
#include "engine/model/methods.hpp"
#include "engine/models/grids/particle_grid.hpp"
#include "engine/models/particles/bare_model.hpp"
#include "engine/models/particles/breen1994.hpp"
#include "engine/models/particles/feynman1986.hpp"
#include "host/files/in_file.hpp"
#include "host/files/json_text.hpp"
#include "host/models/particles/multigrid.hpp"
#include "host/models/particles/obstacle_gap.hpp"
#include "host/models/shapes/shape_report.hpp"
#include "host/results/working_folder.hpp"
#include "host/run/equilibrium_search.hpp"
#include "host/run/prepare_scene.hpp"
#include "host/scene/scene_file.hpp"
#include "host/scene/start_shape.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {
namespace {

using MinimiseClock = std::chrono::steady_clock;

/// The recipe's energies on a grid of the garment, among the obstacles, with nothing held.
ParticleModel recipe_model(const std::string& recipe, const Scene& scene, const ParticleGrid& grid) {
  const Garment& garment = scene.garments.front();
  const Vec3d gravity{0, 0, -garment.gravity.value_or(scene.gravity)};
  ParticleModel model = recipe == "feynman1986" ? feynman_model(grid, garment.fabric, gravity, "garments[0]")
                                                : breen_model(grid.columns, grid.rows, grid.spacing,
                                                              garment.fabric, gravity, {}, "garments[0]");
  model.gap =
      obstacle_gap(scene.obstacles, garment.time_offset, garment.fabric.thickness / 2 + scene.contact.margin);
  return model;
}

/// Throws SceneError for what the energies do not know.
ParticleEnergy particle_energy(const std::string& recipe, const Scene& scene, const ParticleGrid& grid) {
  require_known(recipe == "feynman1986" ? methods::feynman1986 : methods::breen1994, scene);
  if (scene.garments.size() != 1)
    throw SceneError(
        text("garments: found ", scene.garments.size(), ", expected one; leave out the others and replicas"));
  const Garment& garment = scene.garments.front();
  if (!(garment.fabric.gravity_density > 0))
    throw SceneError(text("garments[0].fabric.gravity_density: found ", garment.fabric.gravity_density,
                          ", expected more than 0: ", recipe, " measures forces by weights"));
  ParticleModel model = recipe_model(recipe, scene, grid);
  const std::vector<HangingPoint> held = hanging_points(garment, garment.time_offset);
  for (const HangingPoint& point : held) model.is_held[static_cast<std::size_t>(point.node)] = 1;
  if (held.empty() && scene.obstacles.empty())
    throw SceneError(
        "garments[0]: found no pins, and obstacles: found none; expected something that holds the cloth");
  return ParticleEnergy(std::move(model));
}

std::string energy_table(const std::vector<MultigridLevel>& levels) {
  std::string table = "columns,rows,iteration,energy [J],residual [1]\n";
  for (const MultigridLevel& level : levels)
    for (const MinimiserPoint& p : level.result.history)
      table += text(level.grid.columns, ',', level.grid.rows, ',', p.iteration, ',', p.energy, ',',
                    p.residual, '\n');
  return table;
}

/// Minimises by the minimiser that is asked for, which leaves one level or several.
std::vector<MultigridLevel> minimise(const MinimiseRequest& request, const Scene& scene,
                                     ParticleEnergy& energy, const ParticleGrid& grid,
                                     std::vector<Vec3d>& x) {
  if (request.minimiser == Minimiser::two_phase)
    return {{grid, minimise_by_relaxation(energy, x, request.settings)}};
  Random random(request.settings.seed);
  const double way = request.settings.perturbation * grid.spacing / 10;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!energy.model().is_held[i])
      x[i] += Vec3d{random.uniform(-way, way), random.uniform(-way, way), random.uniform(-way, way)};
  if (request.minimiser == Minimiser::newton)
    return {{grid, minimise_by_newton(energy, x, request.settings.search)}};
  if (request.minimiser == Minimiser::descent)
    return {{grid, minimise_by_descent(energy, x, request.settings.search)}};
  const auto model_of = [&](const ParticleGrid& g) { return recipe_model(request.recipe, scene, g); };
  return minimise_by_multigrid(energy, grid, model_of, x, request.settings.search);
}

}  // namespace

const std::vector<std::string>& minimiser_names() {
  static const std::vector<std::string> names{"newton", "multigrid", "descent", "two-phase"};
  return names;
}

std::string minimise_json(const MinimiseSummary& s) {
  Json energies = Json::object();
  for (const auto& [name, value] : s.energies) energies[name] = value;
  Json levels = Json::array();
  for (const MinimiseLevel& l : s.levels)
    levels.push_back({{"nodes", {l.columns, l.rows}},
                      {"iterations", l.iterations},
                      {"energy", l.energy},
                      {"residual", l.residual}});
  Json root{{"scene", s.scene},           {"garment", s.garment}, {"recipe", s.recipe},
            {"minimiser", s.minimiser},   {"status", s.status},   {"node_count", s.node_count},
            {"energies", energies},       {"energy", s.energy},   {"residual", s.residual},
            {"iterations", s.iterations}, {"levels", levels},     {"folds", s.folds},
            {"depth_max", s.depth_max}};
  root.update(shape_json(s.shape));
  root.update({{"wall_seconds", s.wall_seconds}, {"warnings", s.warnings}});
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

MinimiseSummary minimise_scene(const MinimiseRequest& request) {
  MinimiseSummary summary;
  Scene scene = read_scene(request.scene, summary.warnings, request.access);
  WorkingFolder folder(request.output, request.if_exists);
  Garment garment = scene.garments.front();
  ParticleGrid grid;
  std::unique_ptr<ParticleEnergy> energy;
  in_file(request.scene, [&] {
    grid = particle_grid(garment.mesh, "garments[0]");
    energy = std::make_unique<ParticleEnergy>(particle_energy(request.recipe, scene, grid));
  });
  std::vector<Vec3d> x = start_positions(garment);
  for (const HangingPoint& p : hanging_points(garment, garment.time_offset))
    x[static_cast<std::size_t>(p.node)] = p.position;

  const auto begin = MinimiseClock::now();
  const std::vector<MultigridLevel> levels = minimise(request, scene, *energy, grid, x);
  summary.wall_seconds = std::chrono::duration<double>(MinimiseClock::now() - begin).count();

  const MinimiserResult& result = levels.back().result;
  for (const MultigridLevel& level : levels) {
    const MinimiserPoint& end = level.result.history.back();
    summary.levels.push_back({level.grid.columns, level.grid.rows, end.iteration, end.energy, end.residual});
  }
  if (request.minimiser == Minimiser::multigrid && levels.size() == 1)
    summary.warnings.push_back(text(
        "a grid of ", grid.columns, " x ", grid.rows,
        " particles with what it holds has no coarser one, multigrid is newton; 2^k cells along each side "
        "and pins on every 2^k-th particle coarsen k times"));
  garment.initial_positions = x;
  std::vector<Vec3d> edge;
  for (const Index node : rim(grid)) edge.push_back(x[static_cast<std::size_t>(node)]);
  summary.scene = request.scene.stem().string();
  summary.garment = garment.name;
  summary.recipe = request.recipe;
  summary.minimiser = minimiser_names()[static_cast<std::size_t>(request.minimiser)];
  summary.status = result.status;
  summary.node_count = garment.mesh.node_count();
  summary.energies = energy->parts(x);
  summary.energy = result.history.back().energy;
  summary.residual = result.history.back().residual;
  summary.iterations = result.history.back().iteration;
  summary.folds = fold_count(edge);
  summary.shape = measure_shape(garment.mesh, x, {0});
  if (energy->model().gap)
    for (const Vec3d& p : x) summary.depth_max = std::max(summary.depth_max, -energy->model().gap(p).value);

  const std::vector<Obstacle> obstacles = scene.obstacles;
  for (Pin& pin : garment.pins) pin.motion = FixedMotion{};
  scene = only_garment(std::move(scene), garment);
  const Simulation simulation = start_simulation(scene, request.scene, {});
  const ReportData page =
      shape_report(simulation, summary.scene, garment, obstacles,
                   text(request.recipe, ", minimised by ", summary.minimiser, ": ", summary.status));
  publish_shape(folder, "rest.obj", garment,
                {{"scene.json", portable_scene_text(request.scene, request.access)},
                 {"summary.json", minimise_json(summary)},
                 {"energy.csv", energy_table(levels)}},
                page);
  return summary;
}

}  // namespace isocloth

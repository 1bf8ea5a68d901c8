#include "host/orchestrator/garment_solvers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/impulse/coupled_impulses.hpp"
#include "host/impulse/impulse_group.hpp"
#include "host/impulse/impulse_solver.hpp"
#include "host/impulse/impulse_system.hpp"
#include "host/impulse/tensor_grid_solver.hpp"
#include "host/projection/cloth_group.hpp"
#include "host/projection/coupled_solver.hpp"
#include "host/projection/projection_solver.hpp"

namespace isocloth {
namespace {

/// Meshes up to so many free nodes are stepped in one launch each: past it, the factor of a tile leaves the
/// cache of a core and the multifrontal factorisation of one system at a time is faster.
constexpr Index largest_batched = 300;

/// What of springs shows in the pattern.
struct SpringKinds {
  bool shear = false, bend = false;
  int diagonals = 2;
  explicit SpringKinds(const Fabric& fabric)
      : shear(fabric.shear_spring.exists()),
        bend(fabric.bend_spring.exists()),
        diagonals(shear ? fabric.shear_diagonals : 2) {}
  bool operator==(const SpringKinds&) const = default;
};

/// What garments of one group share.
struct Kind {
  std::vector<char> is_pinned;
  bool has_bending = false, has_curves = false;
  std::array<bool, 2> limits{};
  FactorPattern factor = FactorPattern::whole;
  RowPattern rows;
  const Garment* model = nullptr;
};

bool has_curves(const Garment& garment, const ResolvedScene& scene) {
  return !stress_laws(scene.recipe, garment.fabric).empty();
}
bool has_bending(const Garment& garment) { return garment.fabric.kappa > 0 || garment.fabric.beta > 0; }
/// Which rows that are bounds: of edges, of elements.
std::array<bool, 2> limits(const Garment& garment) {
  return {garment.fabric.strain_limit > 0, garment.fabric.principal_strain_limit > 0};
}
RowPattern row_pattern(const Garment& garment, const Recipe& recipe) {
  return build_row_pattern(garment.mesh, build_topology(garment.mesh),
                           row_families(recipe, garment.mesh, garment.fabric), pinned_nodes(garment));
}

bool fits(const Garment& garment, const Kind& kind, const ResolvedScene& scene) {
  const Mesh &a = garment.mesh, &b = kind.model->mesh;
  if (a.face_begin != b.face_begin || a.face_nodes != b.face_nodes || a.stitches != b.stitches ||
      a.buttons != b.buttons || garment.sewing != kind.model->sewing ||
      has_bending(garment) != kind.has_bending || limits(garment) != kind.limits ||
      has_curves(garment, scene) != kind.has_curves || pinned_nodes(garment) != kind.is_pinned ||
      scene.factor(garment) != kind.factor || SpringKinds(garment.fabric) != SpringKinds(kind.model->fabric))
    return false;
  if (same_rest_shape(a, b)) return true;
  if (scene.recipe.has_springs()) return false;  // laws of springs depend on the directions of threads
  return row_pattern(garment, scene.recipe) == kind.rows;  // corners depend on the angles of the boundary
}

bool is_batched(const Garment& garment, StepSolver choice) {
  if (choice != StepSolver::automatic) return choice == StepSolver::batched;
  Index free = garment.mesh.node_count();
  for (const Pin& pin : garment.pins) free -= static_cast<Index>(pin.nodes.size());
  return free <= largest_batched;
}

/// Cloths held by impulses: one thread or block takes a cloth whose work arrays it holds near.
template <class Real>
bool is_stepped_by_block(const Device& device, const Garment& garment, StepSolver choice) {
  if (choice == StepSolver::mixed || choice == StepSolver::iterative)
    throw DeviceError(
        text("solver: found \"", to_string(choice),
             "\", expected \"automatic\", \"batched\" or \"direct\": impulses solve no nodal system"));
  if (choice != StepSolver::automatic) return choice == StepSolver::batched;
  constexpr std::size_t most_on_host = 1 << 20;  // bytes, about a core's cache
  const std::size_t limit =
      device.backend().memory.host_accessible ? most_on_host : device.queue().shared_limit;
  ImpulsePattern<Real> pattern;
  pattern.node_count = garment.mesh.node_count();
  return impulse_scratch(pattern) <= limit;
}

/// Obstacles of a scene for all of its solvers, in the precision of the steps; null: none.
struct SharedObstacles {
  std::shared_ptr<ObstacleShapes<float>> float32;
  std::shared_ptr<ObstacleShapes<double>> float64;
  SharedObstacles(const Device& device, Precision precision, const Scene& scene) {
    if (scene.obstacles.empty() && scene.bodies.empty()) return;
    if (precision == Precision::float32)
      float32 = std::make_shared<ObstacleShapes<float>>(device, scene);
    else
      float64 = std::make_shared<ObstacleShapes<double>>(device, scene);
  }
  /// What the solvers that share them tell of them.
  void describe(GarmentSolvers& solvers) const {
    const auto take = [&solvers](const auto& own) {
      if (!own) return;
      solvers.start_depths = own->start_depths;
      solvers.refresh_obstacles = [own] { own->refresh(); };
    };
    take(float32);
    take(float64);
  }
};

template <class Real>
std::unique_ptr<GarmentSolver> make_solver(const Device& device, const std::vector<const Garment*>& garments,
                                           const ResolvedScene& scene, StepSolver choice,
                                           const std::shared_ptr<const ObstacleShapes<Real>>& obstacles) {
  if (scene.recipe.solver == SolverFamily::impulse_system ||
      scene.recipe.solver == SolverFamily::semi_implicit) {
    if (choice != StepSolver::automatic && choice != StepSolver::direct)
      throw DeviceError(text("solver: found \"", to_string(choice), "\" with the recipe ", scene.recipe.name,
                             ", expected \"automatic\" or \"direct\": one cloth at a time is factored"));
    if (scene.recipe.solver == SolverFamily::semi_implicit)
      return std::make_unique<TensorGridSolver<Real>>(device, *garments.front(), scene, obstacles);
    return std::make_unique<ImpulseSystem<Real>>(device, *garments.front(), scene, obstacles);
  }
  if (scene.recipe.solver == SolverFamily::impulse) {
    if (is_stepped_by_block<Real>(device, *garments.front(), choice))
      return std::make_unique<ImpulseGroup<Real>>(device, garments, scene, obstacles);
    return std::make_unique<ImpulseSolver<Real>>(device, *garments.front(), scene, obstacles);
  }
  if (is_batched(*garments.front(), choice))
    return std::make_unique<ClothGroup<Real>>(device, garments, scene, obstacles);
  return std::make_unique<ProjectionSolver<Real>>(device, *garments.front(), scene, obstacles, choice);
}

std::unique_ptr<GarmentSolver> make_solver(const Device& device, Precision precision,
                                           const std::vector<const Garment*>& garments,
                                           const ResolvedScene& scene, StepSolver choice,
                                           const SharedObstacles& obstacles) {
  return precision == Precision::float32
             ? make_solver<float>(device, garments, scene, choice, obstacles.float32)
             : make_solver<double>(device, garments, scene, choice, obstacles.float64);
}

/// Whether garments of one kind share a solver.
bool is_grouped(const Device& device, Precision precision, const Garment& garment, const ResolvedScene& scene,
                StepSolver choice) {
  if (scene.recipe.solver == SolverFamily::impulse_system ||
      scene.recipe.solver == SolverFamily::semi_implicit)
    return false;
  if (scene.recipe.solver == SolverFamily::projection) return is_batched(garment, choice);
  return precision == Precision::float32 ? is_stepped_by_block<float>(device, garment, choice)
                                         : is_stepped_by_block<double>(device, garment, choice);
}

/// Numbers of garments that step together: all of a scene with bodies; where cloth meets cloth those of each
/// world, or all, if some are of every world and others are not.
std::vector<std::vector<std::size_t>> coupled_garments(const Scene& scene) {
  std::map<Index, std::vector<std::size_t>> worlds;
  for (std::size_t g = 0; g < scene.garments.size(); ++g)
    worlds[scene.bodies.empty() ? scene.garments[g].world : Garment::every_world].push_back(g);
  std::vector<std::vector<std::size_t>> groups;
  const bool joins_all = worlds.contains(Garment::every_world);
  for (auto& [world, garments] : worlds)
    if (groups.empty() || !joins_all)
      groups.push_back(std::move(garments));
    else
      groups.front().insert(groups.front().end(), garments.begin(), garments.end());
  for (auto& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

/// Garments of a scene with bodies, or in which cloth meets cloth.
template <class Real>
void add_coupled_solvers(const Device& device, const ResolvedScene& scene, StepSolver choice,
                         const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                         GarmentSolvers& solvers) {
  solvers.members.resize(scene.scene.garments.size());
  for (const std::vector<std::size_t>& group : coupled_garments(scene.scene)) {
    std::vector<const Garment*> garments;
    for (const std::size_t g : group) {
      solvers.members[g] = {solvers.solvers.size(), garments.size()};
      garments.push_back(&scene.scene.garments[g]);
    }
    if (scene.recipe.solver == SolverFamily::projection)
      solvers.solvers.push_back(
          std::make_unique<CoupledSolver<Real>>(device, garments, scene, obstacles, choice));
    else
      solvers.solvers.push_back(std::make_unique<CoupledImpulses<Real>>(device, garments, scene, obstacles));
  }
}

void make_coupled_solvers(const Device& device, Precision precision, const ResolvedScene& scene,
                          StepSolver choice, GarmentSolvers& solvers) {
  const bool has_bodies = !scene.scene.bodies.empty();
  if (scene.recipe.solver != SolverFamily::projection && choice != StepSolver::automatic &&
      choice != StepSolver::direct)
    throw DeviceError(text("solver: found \"", to_string(choice), "\" with contact.cloth and the recipe ",
                           scene.recipe.name,
                           ", expected \"automatic\" or \"direct\": cloths of impulses "
                           "that meet are stepped kernel by kernel"));
  if (choice == StepSolver::batched || choice == StepSolver::iterative)
    throw DeviceError(text("solver: found \"", to_string(choice), "\" in a scene with ",
                           has_bodies ? "bodies" : "contact.cloth",
                           ", expected \"automatic\", \"direct\" or \"mixed\": what meets is solved together "
                           "with a factor of each "
                           "garment's matrix"));
  // The body's equation is what is left of contacts a thousand times as stiff: seven digits do not hold it.
  if (has_bodies && precision == Precision::float32)
    throw DeviceError("precision: found float32 in a scene with bodies, expected float64");
  const SharedObstacles obstacles(device, precision, scene.scene);
  obstacles.describe(solvers);
  if (precision == Precision::float32)
    add_coupled_solvers<float>(device, scene, choice, obstacles.float32, solvers);
  else
    add_coupled_solvers<double>(device, scene, choice, obstacles.float64, solvers);
}

}  // namespace

std::unique_ptr<GarmentSolver> make_garment_solver(const Device& device, Precision precision,
                                                   const Garment& garment, const ResolvedScene& scene,
                                                   StepSolver choice) {
  return make_solver(device, precision, {&garment}, scene, choice, {device, precision, scene.scene});
}

GarmentSolvers make_garment_solvers(const Device& device, Precision precision, const ResolvedScene& resolved,
                                    StepSolver choice) {
  const Scene& scene = resolved.scene;
  GarmentSolvers result;
  if (!scene.bodies.empty() || scene.contact.cloth) {
    make_coupled_solvers(device, precision, resolved, choice, result);
    return result;
  }
  std::vector<Kind> kinds;
  std::vector<std::vector<const Garment*>> members;
  for (const Garment& garment : scene.garments) {
    device.monitor().check();
    std::size_t k = is_grouped(device, precision, garment, resolved, choice) ? kinds.size() : 0;
    while (k > 0 && !fits(garment, kinds[k - 1], resolved)) --k;
    if (k == 0) {
      kinds.push_back({.is_pinned = pinned_nodes(garment),
                       .has_bending = has_bending(garment),
                       .has_curves = has_curves(garment, resolved),
                       .limits = limits(garment),
                       .factor = resolved.factor(garment),
                       .rows = row_pattern(garment, resolved.recipe),
                       .model = &garment});
      members.emplace_back();
      k = kinds.size();
    }
    result.members.push_back({k - 1, members[k - 1].size()});
    members[k - 1].push_back(&garment);
  }
  const SharedObstacles obstacles(device, precision, scene);
  obstacles.describe(result);
  for (const auto& garments : members) {
    device.monitor().check();
    result.solvers.push_back(make_solver(device, precision, garments, resolved, choice, obstacles));
  }
  return result;
}

}  // namespace isocloth

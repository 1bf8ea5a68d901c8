#include "host/orchestrator/garment_solvers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/core/errors.hpp"
#include "engine/core/members.hpp"
#include "engine/core/text.hpp"
#include "engine/model/methods.hpp"
#include "engine/model/models.hpp"
#include "engine/model/surfaces.hpp"
#include "host/garment/mid_edge_bending.hpp"
#include "host/impulse/coupled_impulses.hpp"
#include "host/impulse/impulse_group.hpp"
#include "host/impulse/impulse_solver.hpp"
#include "host/orchestrator/solver_registry.hpp"
#include "host/projection/batched_worlds.hpp"
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
struct BatchKey {
  std::vector<char> is_pinned;
  bool has_bending = false, has_curves = false;
  std::vector<RowFamily> families;
  FactorPattern factor = FactorPattern::whole;
  RowPattern rows;
  const Garment* model = nullptr;
};

bool has_curves(const Garment& garment, const ResolvedScene& scene) {
  return !stress_laws(scene.recipe, garment.fabric).empty();
}
bool has_bending(const Garment& garment) {
  return garment.fabric.bending_stiffness > 0 || garment.fabric.stiffness_damping > 0;
}
RowPattern row_pattern(const Garment& garment, const Recipe& recipe) {
  return build_row_pattern(garment.mesh, build_topology(garment.mesh),
                           row_families(recipe, garment.mesh, garment.fabric), pinned_nodes(garment));
}

bool matches(const Garment& garment, const BatchKey& key, const ResolvedScene& scene) {
  const Mesh &a = garment.mesh, &b = key.model->mesh;
  const bool is_replica = same_rest_shape(a, b) && alike(garment.fabric, key.model->fabric);
  if (a.face_begin != b.face_begin || a.face_nodes != b.face_nodes || a.stitches != b.stitches ||
      a.buttons != b.buttons || a.folds != b.folds || garment.sewing != key.model->sewing ||
      has_bending(garment) != key.has_bending ||
      row_families(scene.recipe, a, garment.fabric) != key.families ||
      has_curves(garment, scene) != key.has_curves || pinned_nodes(garment) != key.is_pinned ||
      bending_of(scene.recipe, garment.fabric).model != bending_of(scene.recipe, key.model->fabric).model ||
      (!is_replica && scene.factor(garment) != key.factor) ||
      SpringKinds(garment.fabric) != SpringKinds(key.model->fabric))
    return false;
  if (is_replica || same_rest_shape(a, b)) return true;
  if (scene.recipe.has_springs()) return false;  // laws of springs depend on the directions of threads
  // The diagonal that a quad is cut along depends on its shape.
  if (bending_of(scene.recipe, garment.fabric).model == BendingModel::mid_edge &&
      MidEdgeBending(a, key.is_pinned).pattern() != MidEdgeBending(b, key.is_pinned).pattern())
    return false;
  return row_pattern(garment, scene.recipe) == key.rows;  // corners depend on the angles of the boundary
}

const Method* method_of(StepSolver choice) {
  switch (choice) {
    case StepSolver::automatic:
    case StepSolver::direct:
      break;
    case StepSolver::batched:
      return &methods::batched;
    case StepSolver::iterative:
      return &methods::iterative;
    case StepSolver::mixed:
      return &methods::mixed;
  }
  return nullptr;
}

/// Throws DeviceError for a solver that does not know what is asked of it.
void require_solver(StepSolver choice, const auto&... asked) {
  try {
    if (const Method* const method = method_of(choice)) require_known(*method, asked...);
  } catch (const SceneError& error) {
    throw DeviceError(text("solver: found \"", to_string(choice), "\": ", error.what()));
  }
}

/// Whether how seams hold changes with time, which is the same for all lanes.
bool sews_otherwise(const Garment& garment, const Scene& scene) {
  return !garment.mesh.stitches.empty() && has_keyframes(scene, "sewing.");
}

/// Whether lanes know all that a garment has.
bool may_be_batched(const Garment& garment, const ResolvedScene& scene) {
  return !sews_otherwise(garment, scene.scene) &&
         methods::batched.accepts(features_of(garment, scene.recipe));
}

bool is_batched(const Garment& garment, const ResolvedScene& scene, StepSolver choice) {
  if (choice != StepSolver::automatic) return choice == StepSolver::batched;
  if (!may_be_batched(garment, scene)) return false;
  Index free = garment.mesh.node_count();
  for (const Pin& pin : garment.pins) free -= static_cast<Index>(pin.nodes.size());
  return free <= largest_batched;
}

/// Cloths held by impulses: one thread or block takes a cloth whose work arrays it holds near.
template <class Real>
bool is_stepped_by_block(const Device& device, const Garment& garment, const ResolvedScene& scene,
                         StepSolver choice) {
  if (choice != StepSolver::automatic) return choice == StepSolver::batched;
  if (!may_be_batched(garment, scene)) return false;
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
      solvers.obstacle_notes = own->notes;
      solvers.refresh_obstacles = [own] { own->refresh(); };
      solvers.obstacle_shapes = [own] { return std::make_shared<const HostShapes>(*own); };
    };
    take(float32);
    take(float64);
  }
};

/// Those of the core, and of the models beside it.
template <class Real>
std::vector<SolverEntry<Real>> all_solvers() {
  using Request = SolverRequest<Real>;
  using Made = std::unique_ptr<GarmentSolver>;
  std::vector<SolverEntry<Real>> all{
      {.family = SolverFamily::projection,
       .make = [](const Request& r) -> Made {
         if (is_batched(*r.garments.front(), r.scene, r.choice))
           return std::make_unique<ClothGroup<Real>>(r.device, r.garments, r.scene, r.obstacles);
         return std::make_unique<ProjectionSolver<Real>>(r.device, *r.garments.front(), r.scene, r.obstacles,
                                                         r.choice);
       },
       .is_shared = [](const Device&, const Garment& garment, const ResolvedScene& scene,
                       StepSolver choice) { return is_batched(garment, scene, choice); },
       .make_coupled = nullptr},
      {.family = SolverFamily::impulse,
       .make = [](const Request& r) -> Made {
         if (is_stepped_by_block<Real>(r.device, *r.garments.front(), r.scene, r.choice))
           return std::make_unique<ImpulseGroup<Real>>(r.device, r.garments, r.scene, r.obstacles);
         return std::make_unique<ImpulseSolver<Real>>(r.device, *r.garments.front(), r.scene, r.obstacles);
       },
       .is_shared = is_stepped_by_block<Real>,
       .make_coupled = make_impulse_solver<ImpulseSolver<Real>, Real>}};
  for (const SolverEntry<Real>& entry : model_solvers<Real>()) all.push_back(entry);
  return all;
}

/// Every recipe of this build has one.
template <class Real>
const SolverEntry<Real>& solver_of(const Recipe& recipe) {
  static const std::vector<SolverEntry<Real>> all = all_solvers<Real>();
  const auto found = std::ranges::find(all, recipe.solver, &SolverEntry<Real>::family);
  if (found == all.end()) throw SceneError(not_in_this_build(text("recipe ", recipe.name)));
  return *found;
}

template <class Real>
std::unique_ptr<GarmentSolver> make_solver(const Device& device, const std::vector<const Garment*>& garments,
                                           const ResolvedScene& scene, StepSolver choice,
                                           const std::shared_ptr<const ObstacleShapes<Real>>& obstacles) {
  return solver_of<Real>(scene.recipe).make({device, garments, scene, choice, obstacles});
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
  const auto asked = [&](const auto& entry) {
    return entry.is_shared != nullptr && entry.is_shared(device, garment, scene, choice);
  };
  return precision == Precision::float32 ? asked(solver_of<float>(scene.recipe))
                                         : asked(solver_of<double>(scene.recipe));
}

/// Numbers of garments, in the order of the scene, by their kinds; those that share no solver are kinds of
/// their own.
template <class IsShared>
std::vector<std::vector<std::size_t>> by_kinds(const Device& device, const ResolvedScene& resolved,
                                               const std::vector<std::size_t>& numbers,
                                               const IsShared& is_shared) {
  std::vector<BatchKey> keys;
  std::vector<std::vector<std::size_t>> members;
  for (const std::size_t number : numbers) {
    device.monitor().check();
    const Garment& garment = resolved.scene.garments[number];
    std::size_t k = is_shared(garment) ? keys.size() : 0;
    while (k > 0 && !matches(garment, keys[k - 1], resolved)) --k;
    if (k == 0) {
      keys.push_back({.is_pinned = pinned_nodes(garment),
                      .has_bending = has_bending(garment),
                      .has_curves = has_curves(garment, resolved),
                      .families = row_families(resolved.recipe, garment.mesh, garment.fabric),
                      .factor = resolved.factor(garment),
                      .rows = row_pattern(garment, resolved.recipe),
                      .model = &garment});
      members.emplace_back();
      k = keys.size();
    }
    members[k - 1].push_back(number);
  }
  return members;
}

std::vector<const Garment*> garments_of(const Scene& scene, const std::vector<std::size_t>& numbers) {
  std::vector<const Garment*> garments;
  for (const std::size_t number : numbers) garments.push_back(&scene.garments[number]);
  return garments;
}

/// Whether a world's garments step in lanes while nothing touches.
bool is_small_world(const ResolvedScene& resolved, const std::vector<std::size_t>& numbers,
                    StepSolver choice) {
  return resolved.scene.bodies.empty() && choice == StepSolver::automatic &&
         std::ranges::all_of(numbers, [&](std::size_t number) {
           const Garment& garment = resolved.scene.garments[number];
           return is_batched(garment, resolved, choice) && !is_kinematic(garment);
         });
}

/// Of projections.
template <class Real>
void add_batched_worlds(const Device& device, const ResolvedScene& resolved, StepSolver choice,
                        const std::vector<std::vector<std::size_t>>& worlds,
                        const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                        GarmentSolvers& solvers) {
  std::vector<std::size_t> numbers;
  std::vector<typename BatchedWorlds<Real>::Slot> slots(resolved.scene.garments.size());
  std::vector<std::unique_ptr<CoupledSolver<Real>>> by_world;
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    for (std::size_t i = 0; i < worlds[w].size(); ++i) {
      slots[worlds[w][i]] = {.world = w, .garment = i};
      numbers.push_back(worlds[w][i]);
    }
    by_world.push_back(std::make_unique<CoupledSolver<Real>>(device, garments_of(resolved.scene, worlds[w]),
                                                             resolved, obstacles, choice));
  }
  std::sort(numbers.begin(), numbers.end());
  const auto kinds = by_kinds(device, resolved, numbers, [](const Garment&) { return true; });
  std::vector<std::unique_ptr<ClothGroup<Real>>> groups;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    for (std::size_t lane = 0; lane < kinds[k].size(); ++lane) {
      slots[kinds[k][lane]].group = k;
      slots[kinds[k][lane]].lane = lane;
    }
    groups.push_back(std::make_unique<ClothGroup<Real>>(device, garments_of(resolved.scene, kinds[k]),
                                                        resolved, obstacles));
  }
  std::vector<typename BatchedWorlds<Real>::Slot> of_members;
  for (const std::size_t number : numbers) {
    solvers.members[number] = {solvers.solvers.size(), of_members.size()};
    of_members.push_back(slots[number]);
  }
  solvers.solvers.push_back(std::make_unique<BatchedWorlds<Real>>(device, std::move(by_world),
                                                                  std::move(groups), std::move(of_members)));
}

/// Garments of a scene with bodies, or in which cloth meets cloth.
template <class Real>
void add_coupled_solvers(const Device& device, const ResolvedScene& scene, StepSolver choice,
                         const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                         GarmentSolvers& solvers) {
  const bool is_projection = scene.recipe.solver == SolverFamily::projection;
  solvers.members.resize(scene.scene.garments.size());
  std::vector<std::vector<std::size_t>> small;
  for (const std::vector<std::size_t>& group : coupled_garments(scene.scene)) {
    if (is_projection && is_small_world(scene, group, choice)) {
      small.push_back(group);
      continue;
    }
    for (std::size_t i = 0; i < group.size(); ++i) solvers.members[group[i]] = {solvers.solvers.size(), i};
    const std::vector<const Garment*> garments = garments_of(scene.scene, group);
    if (is_projection)
      solvers.solvers.push_back(
          std::make_unique<CoupledSolver<Real>>(device, garments, scene, obstacles, choice));
    else
      solvers.solvers.push_back(std::make_unique<CoupledImpulses<Real>>(
          device, garments, scene, obstacles, solver_of<Real>(scene.recipe).make_coupled));
  }
  if (!small.empty()) add_batched_worlds<Real>(device, scene, choice, small, obstacles, solvers);
}

void make_coupled_solvers(const Device& device, Precision precision, const ResolvedScene& scene,
                          StepSolver choice, GarmentSolvers& solvers) {
  // The body's equation is what is left of contacts a thousand times as stiff: seven digits do not hold it.
  if (!scene.scene.bodies.empty() && precision == Precision::float32)
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
  require_solver(choice, garment, scene.recipe, text("garment \"", garment.name, "\""));
  return make_solver(device, precision, {&garment}, scene, choice, {device, precision, scene.scene});
}

GarmentSolvers make_garment_solvers(const Device& device, Precision precision, const ResolvedScene& resolved,
                                    StepSolver choice) {
  const Scene& scene = resolved.scene;
  require_solver(choice, scene);
  if (choice == StepSolver::batched &&
      std::ranges::any_of(scene.garments, [&](const Garment& g) { return sews_otherwise(g, scene); }))
    throw DeviceError(
        "solver: found \"batched\": keyframes: found sewing of garments with seams, expected none: lanes "
        "share how seams hold; use \"direct\"");
  // Cloths that meet are taken out of their lanes.
  const bool may_be_in_lanes =
      methods::batched.accepts(surroundings_of(scene) - FeatureSet{Feature::cloth_contact});
  if (choice == StepSolver::automatic && !may_be_in_lanes && scene.bodies.empty())
    choice = StepSolver::direct;
  GarmentSolvers result;
  if (!scene.bodies.empty() || scene.contact.cloth) {
    make_coupled_solvers(device, precision, resolved, choice, result);
    return result;
  }
  std::vector<std::size_t> numbers(scene.garments.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const SharedObstacles obstacles(device, precision, scene);
  obstacles.describe(result);
  result.members.resize(numbers.size());
  const auto is_shared = [&](const Garment& garment) {
    return is_grouped(device, precision, garment, resolved, choice);
  };
  for (const auto& kind : by_kinds(device, resolved, numbers, is_shared)) {
    device.monitor().check();
    for (std::size_t i = 0; i < kind.size(); ++i) result.members[kind[i]] = {result.solvers.size(), i};
    result.solvers.push_back(
        make_solver(device, precision, garments_of(scene, kind), resolved, choice, obstacles));
  }
  return result;
}

}  // namespace isocloth

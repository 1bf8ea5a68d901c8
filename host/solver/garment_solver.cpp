#include "host/solver/garment_solver.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/solver/cloth_group.hpp"
#include "host/solver/coupled_solver.hpp"
#include "host/solver/impulse_group.hpp"
#include "host/solver/impulse_solver.hpp"
#include "host/solver/impulse_system.hpp"
#include "host/solver/projection_solver.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth {
namespace {

/// Meshes up to so many free nodes are stepped in one launch each: past it, the factor of a tile leaves the
/// cache of a core and the multifrontal factorisation of one system at a time is faster.
constexpr Index largest_batched = 300;

template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
bool same(const StencilPattern& a, const StencilPattern& b) {
  return a.stencil_begin == b.stencil_begin && a.slot_nodes == b.slot_nodes &&
         a.entry_begin == b.entry_begin && a.entry_nodes == b.entry_nodes;
}

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
  bool has_bending = false;
  RowPattern rows;
  const Garment* model = nullptr;
};

std::vector<char> pinned_nodes(const Garment& garment) {
  std::vector<char> is_pinned(garment.mesh.positions.size(), 0);
  for (const Pin& pin : garment.pins)
    for (const Index node : pin.nodes) is_pinned[node] = 1;
  return is_pinned;
}
bool has_bending(const Garment& garment) { return garment.fabric.kappa > 0 || garment.fabric.beta > 0; }
RowPattern row_pattern(const Garment& garment, RowFamily family) {
  return build_row_pattern(garment.mesh, build_topology(garment.mesh), family, pinned_nodes(garment));
}

bool fits(const Garment& garment, const Kind& kind, RowFamily family) {
  const Mesh &a = garment.mesh, &b = kind.model->mesh;
  if (a.face_begin != b.face_begin || a.face_nodes != b.face_nodes ||
      has_bending(garment) != kind.has_bending || pinned_nodes(garment) != kind.is_pinned ||
      SpringKinds(garment.fabric) != SpringKinds(kind.model->fabric))
    return false;
  if (same_rest_shape(a, b)) return true;
  const RowPattern rows = row_pattern(garment, family);  // corners depend on the angles of the boundary
  return same(rows.metric, kind.rows.metric) && same(rows.scalar, kind.rows.scalar) &&
         same(rows.metric_nodes, kind.rows.metric_nodes) && same(rows.corner_nodes, kind.rows.corner_nodes) &&
         same(rows.edges, kind.rows.edges);
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
  std::shared_ptr<const ObstacleShapes<float>> float32;
  std::shared_ptr<const ObstacleShapes<double>> float64;
  SharedObstacles(const Device& device, Precision precision, const Scene& scene) {
    if (scene.obstacles.empty() && scene.bodies.empty()) return;
    if (precision == Precision::float32)
      float32 = std::make_shared<ObstacleShapes<float>>(device, scene);
    else
      float64 = std::make_shared<ObstacleShapes<double>>(device, scene);
  }
  std::vector<double> start_depths() const {
    if (float32) return float32->start_depths;
    return float64 ? float64->start_depths : std::vector<double>();
  }
};

template <class Real>
std::unique_ptr<GarmentSolver> make_solver(const Device& device, const std::vector<const Garment*>& garments,
                                           const Scene& scene, StepSolver choice,
                                           const std::shared_ptr<const ObstacleShapes<Real>>& obstacles) {
  if (find_recipe(scene.recipe).solver == SolverFamily::impulse_system) {
    if (choice != StepSolver::automatic && choice != StepSolver::direct)
      throw DeviceError(text("solver: found \"", to_string(choice), "\" with the recipe ", scene.recipe,
                             ", expected \"automatic\" or \"direct\": one cloth at a time is factored"));
    return std::make_unique<ImpulseSystem<Real>>(device, *garments.front(), scene, obstacles);
  }
  if (find_recipe(scene.recipe).solver == SolverFamily::impulse) {
    if (is_stepped_by_block<Real>(device, *garments.front(), choice))
      return std::make_unique<ImpulseGroup<Real>>(device, garments, scene, obstacles);
    return std::make_unique<ImpulseSolver<Real>>(device, *garments.front(), scene, obstacles);
  }
  if (is_batched(*garments.front(), choice))
    return std::make_unique<ClothGroup<Real>>(device, garments, scene, obstacles);
  return std::make_unique<ProjectionSolver<Real>>(device, *garments.front(), scene, obstacles, choice);
}

std::unique_ptr<GarmentSolver> make_solver(const Device& device, Precision precision,
                                           const std::vector<const Garment*>& garments, const Scene& scene,
                                           StepSolver choice, const SharedObstacles& obstacles) {
  return precision == Precision::float32
             ? make_solver<float>(device, garments, scene, choice, obstacles.float32)
             : make_solver<double>(device, garments, scene, choice, obstacles.float64);
}

/// Whether garments of one kind share a solver.
bool is_grouped(const Device& device, Precision precision, const Garment& garment, const Scene& scene,
                StepSolver choice) {
  if (find_recipe(scene.recipe).solver == SolverFamily::impulse_system) return false;
  if (find_recipe(scene.recipe).solver == SolverFamily::projection) return is_batched(garment, choice);
  return precision == Precision::float32 ? is_stepped_by_block<float>(device, garment, choice)
                                         : is_stepped_by_block<double>(device, garment, choice);
}

/// All garments of a scene with bodies.
std::unique_ptr<GarmentSolver> make_coupled_solver(const Device& device, Precision precision,
                                                   const Scene& scene, StepSolver choice,
                                                   std::vector<double>& start_depths) {
  if (choice == StepSolver::batched || choice == StepSolver::iterative)
    throw DeviceError(
        text("solver: found \"", to_string(choice),
             "\" in a scene with bodies, expected \"automatic\", \"direct\" or \"mixed\": bodies and cloth "
             "are solved together with a factor of each garment's matrix"));
  // The body's equation is what is left of contacts a thousand times as stiff: seven digits do not hold it.
  if (precision == Precision::float32)
    throw DeviceError("precision: found float32 in a scene with bodies, expected float64");
  const SharedObstacles obstacles(device, precision, scene);
  start_depths = obstacles.start_depths();
  return std::make_unique<CoupledSolver<double>>(device, scene, obstacles.float64, choice);
}

}  // namespace

double start_eps(const ProjectionSettings& settings, Precision precision) {
  if (settings.eps > 0) return settings.eps;
  if (precision == Precision::float32) return 1e-4;
  return settings.method == ProjectionMethod::proximal_newton ? 1e-6 : 1e-7;
}

namespace {

void add(const AdvanceReport& part, AdvanceReport& sum) {
  sum.steps += part.steps;
  sum.total.status = std::max(sum.total.status, part.total.status);
  sum.total.iterations += part.total.iterations;
  sum.total.substeps += part.total.substeps;
  sum.total.fallbacks += part.total.fallbacks;
  sum.total.residual = std::max(sum.total.residual, part.total.residual);
  sum.total.penetration = std::max(sum.total.penetration, part.total.penetration);
  keep_worst(part.total.strain, sum.total.strain);
  sum.total.wall_seconds += part.total.wall_seconds;
  if (part.total.bad_node >= 0) sum.total.bad_node = part.total.bad_node;
}

/// One start() and finish() of every solver; adds up the reports.
void advance_once(const std::vector<std::unique_ptr<GarmentSolver>>& solvers,
                  const std::vector<std::vector<Clock>>& clocks, double h, int steps, const Device& device,
                  std::vector<std::vector<AdvanceReport>>& sums) {
  const MonitorView& monitor = device.monitor();
  monitor.check();
  const bool undoable = monitor.exists() && std::any_of(solvers.begin(), solvers.end(),
                                                        [](const auto& s) { return s->can_stop(); });
  ThreadPool* const pool = device.queue().pool;
  std::vector<std::exception_ptr> errors(solvers.size());
  std::vector<char> started(solvers.size(), 0);
  const auto start = [&](std::size_t s, bool alone) {
    try {
      solvers[s]->start(clocks[s], h, steps, {.alone = alone, .undoable = undoable});
      started[s] = 1;
    } catch (...) {
      errors[s] = std::current_exception();
    }
  };
  std::vector<std::size_t> narrow, others;
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    const std::size_t threads = solvers[s]->threads();
    const bool fills = pool == nullptr || threads == 0 || threads >= static_cast<std::size_t>(pool->size());
    (fills ? others : narrow).push_back(s);
  }
  if (narrow.size() > 1)
    pool->run(static_cast<Index>(narrow.size()), 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) start(narrow[i], true);
    });
  else
    others.insert(others.end(), narrow.begin(), narrow.end());
  for (const std::size_t s : others) start(s, false);
  std::vector<std::vector<AdvanceReport>> found(solvers.size());
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    if (started[s] == 0) continue;
    try {
      found[s] = solvers[s]->finish();
    } catch (...) {
      errors[s] = std::current_exception();
    }
  }
  // Asked once for all solvers: some may have been done before others were told to stop.
  if (undoable && monitor.stops()) {
    for (const auto& solver : solvers) solver->undo();
    monitor.check();
  }
  for (std::size_t s = 0; s < solvers.size(); ++s)
    for (std::size_t i = 0; i < found[s].size(); ++i) add(found[s][i], sums[s][i]);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

/// At the end of a step. Edges between pinned nodes are where their motions lead: stretched ones are a
/// tolerance missed like any other.
void measure_strains(const std::vector<std::unique_ptr<GarmentSolver>>& solvers, double tolerance,
                     std::vector<std::vector<AdvanceReport>>& sums) {
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    const std::vector<Strain> strains = solvers[s]->strains();
    for (std::size_t i = 0; i < strains.size(); ++i) {
      StepReport& total = sums[s][i].total;
      keep_worst(strains[i], total.strain);
      if (strains[i].pinned_max > tolerance) total.status = std::max(total.status, StepStatus::stalled);
    }
  }
}

}  // namespace

void advance_together(const std::vector<std::unique_ptr<GarmentSolver>>& solvers,
                      const std::vector<std::vector<Clock>>& clocks, double h, int steps,
                      const Device& device, const StrainCheck& check,
                      std::vector<std::vector<AdvanceReport>>& sums, int& done) {
  sums.clear();
  for (const auto& solver : solvers) {
    sums.emplace_back(solver->size());
    for (AdvanceReport& report : sums.back()) report.total.substeps = 0;
  }
  std::vector<std::vector<Clock>> now = clocks;
  const int most = check.measures ? 1 : largest_start;
  for (done = 0; done < steps;) {
    const int count = std::min(steps - done, most);
    advance_once(solvers, now, h, count, device, sums);
    if (check.measures) measure_strains(solvers, check.tolerance, sums);
    done += count;
    for (std::vector<Clock>& own : now)
      for (Clock& clock : own) clock.steps += count;
  }
}

void check_state(const GarmentState& state, const std::string& garment, const StateSizes& sizes,
                 double largest) {
  auto require = [&](const char* name, const std::vector<double>& values, std::size_t expected) {
    const std::string where = "garment \"" + garment + "\": " + name + ": found ";
    if (values.size() != expected)
      throw ShapeError(where + std::to_string(values.size()) + " values, expected " +
                       std::to_string(expected));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(values[i]) <= largest))
        throw ShapeError(where + std::to_string(values[i]) + " at " + std::to_string(i) +
                         ", expected a finite number in the precision of the simulation");
  };
  // The first of each `width` values counts something, -1: none.
  auto require_numbers = [&](const char* name, const std::vector<double>& values, std::size_t width,
                             std::size_t count) {
    for (std::size_t i = 0; i < values.size(); i += width)
      if (!(values[i] >= -1 && values[i] < static_cast<double>(count)))
        throw ShapeError("garment \"" + garment + "\": " + name + ": found number " +
                         std::to_string(values[i]) + " at " + std::to_string(i) +
                         ", expected -1 or one less than " + std::to_string(count));
  };
  require("positions", state.positions, 3 * sizes.nodes);
  require("velocities", state.velocities, 3 * sizes.nodes);
  require("multipliers", state.multipliers, sizes.rows);
  require("contacts", state.contacts, contact_width * sizes.contacts);
  require_numbers("contacts", state.contacts, contact_width, sizes.obstacles);
  require("holds", state.holds, hold_width * sizes.holds);
  require_numbers("holds", state.holds, hold_width, sizes.grippers);
  if (state.step_index < 0)
    throw ShapeError("garment \"" + garment + "\": step_index: found " + std::to_string(state.step_index) +
                     ", expected >= 0");
}

std::unique_ptr<GarmentSolver> make_garment_solver(const Device& device, Precision precision,
                                                   const Garment& garment, const Scene& scene,
                                                   StepSolver choice) {
  return make_solver(device, precision, {&garment}, scene, choice, {device, precision, scene});
}

GarmentSolvers make_garment_solvers(const Device& device, Precision precision, const Scene& scene,
                                    StepSolver choice) {
  const RowFamily family = find_recipe(scene.recipe).rows;
  GarmentSolvers result;
  if (!scene.bodies.empty()) {
    for (std::size_t g = 0; g < scene.garments.size(); ++g) result.places.push_back({0, g});
    result.solvers.push_back(make_coupled_solver(device, precision, scene, choice, result.start_depths));
    return result;
  }
  std::vector<Kind> kinds;
  std::vector<std::vector<const Garment*>> members;
  for (const Garment& garment : scene.garments) {
    device.monitor().check();
    std::size_t k = is_grouped(device, precision, garment, scene, choice) ? kinds.size() : 0;
    while (k > 0 && !fits(garment, kinds[k - 1], family)) --k;
    if (k == 0) {
      kinds.push_back({.is_pinned = pinned_nodes(garment),
                       .has_bending = has_bending(garment),
                       .rows = row_pattern(garment, family),
                       .model = &garment});
      members.emplace_back();
      k = kinds.size();
    }
    result.places.push_back({k - 1, members[k - 1].size()});
    members[k - 1].push_back(&garment);
  }
  const SharedObstacles obstacles(device, precision, scene);
  result.start_depths = obstacles.start_depths();
  for (const auto& garments : members) {
    device.monitor().check();
    result.solvers.push_back(make_solver(device, precision, garments, scene, choice, obstacles));
  }
  return result;
}

}  // namespace isocloth

// Cusick's test of fabrics as a protocol: where a clamped disc comes to rest, found from many numbers of
// folds, with what is left open by folds and by the mesh beside it.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "bench/commands.hpp"
#include "bench/report.hpp"
#include "bench/runner.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/geometry/drape_shadow.hpp"
#include "engine/material/fabric_presets.hpp"
#include "engine/mesh/generators.hpp"
#include "host/run/equilibrium_search.hpp"
#include "host/scene/scene_file.hpp"

namespace isocloth::bench {
namespace {

constexpr double gravity = 9.80665;
constexpr double start_height = 0.1;     ///< of the folds at the start over the width of what hangs
constexpr double fold_height = 0.003;    ///< of the edge of the shadow [m]
constexpr double energy_share = 0.03;    ///< states this near to the lowest energy count as found in a test
constexpr double edges_per_length = 4;   ///< of (kappa / rho g)^(1/3), on a mesh that resolves folds
constexpr double largest_change = 0.02;  ///< of the coefficient between two meshes that resolve them
constexpr std::size_t states_kept = 3;   ///< of the coarse mesh, for the fine one
constexpr int most_steps = 200;

struct Specimen {
  std::string name;
  Fabric fabric;
  double length = 0;  ///< (kappa / rho g)^(1/3) [m]
  double edge = 0;    ///< of the fine mesh [m]
};

struct State {
  std::size_t specimen = 0;
  int start_folds = 0, folds = 0;
  double edge = 0, coefficient = 0, energy = 0, bending_share = 0;
  Index nodes = 0;
  bool rests = false;
};

/// Of warp and weft.
double bending_of(const Fabric& fabric) {
  const double weft = fabric.weft_bending_stiffness;
  return weft > 0 ? std::sqrt(fabric.bending_stiffness * weft) : fabric.bending_stiffness;
}

Specimen specimen_of(const std::string& name, const Fabric& fabric, const CusickRequest& request) {
  Specimen s{name, fabric};
  s.fabric.mass_damping = s.fabric.stiffness_damping = 0;
  // Coarse triangles turn far from one to the next at the clamp: 2 sin(t/2) of constant matrices bends too
  // easily there, and drape rises by 4 points from edges of 14 to 5 mm.
  s.fabric.large_angles =
      fabric.bending != BendingModel::discrete_shells && fabric.bending != BendingModel::isometric;
  s.length = std::cbrt(bending_of(fabric) / (fabric.gravity_density * gravity));
  const double hanging = request.radius - request.disc;
  s.edge =
      request.edge > 0 ? request.edge : std::clamp(s.length / edges_per_length, hanging / 16, hanging / 8);
  return s;
}

/// The specimen with its clamp: circles of which the first two are held, half an edge inside and outside of
/// the disc's rim. What bends between hinges belongs to half an edge on either side of them: held on the rim
/// itself and an edge inside, the cloth would hang longer by half an edge, an error of first order.
Scene scene_of(const Specimen& specimen, const CusickRequest& request, const State& state) {
  const double hanging = request.radius - request.disc;
  const auto rows = static_cast<Index>(std::lround(hanging / state.edge - 0.5));
  const double edge = hanging / (static_cast<double>(rows) + 0.5);
  const double around = std::numbers::pi * (request.radius + request.disc);
  const auto columns = 2 * static_cast<Index>(std::lround(around / edge / 2));
  Scene scene;
  scene.name = specimen.name;
  scene.recipe = "membrane";
  scene.gravity = gravity;
  scene.step = 0.01;
  scene.duration = most_steps * scene.step;
  Garment sheet;
  sheet.name = "specimen";
  sheet.mesh = ring(rows + 2, columns, request.disc - edge / 2, request.radius, FaceKind::triangles);
  sheet.fabric = specimen.fabric;
  Pin clamp{"clamp", {}, FixedMotion{}};
  for (Index i = 0; i < 2 * columns; ++i) clamp.nodes.push_back(i);
  sheet.initial_positions = sheet.mesh.positions;
  for (Vec3d& p : sheet.initial_positions) {
    const double share =
        std::max(0.0, (std::hypot(p.x, p.y) - request.disc - edge / 2) / (hanging - edge / 2));
    // A little off the threads, so that no symmetry holds the folds where they are.
    const double angle = std::atan2(p.y, p.x) + 0.1;
    if (share > 1e-9)
      p.z = -start_height * hanging * share * share * (1 + std::cos(state.start_folds * angle));
  }
  sheet.pins = {std::move(clamp)};
  scene.garments.push_back(std::move(sheet));
  return scene;
}

void find_rest(State& state, const Specimen& specimen, const CusickRequest& request) {
  Scene scene = scene_of(specimen, request, state);
  scene.projection.integrator = Integrator::backward_euler;
  scene.projection.max_substeps = 1;
  scene.projection.max_iterations = 100;
  scene.projection.on_violation = OnViolation::go_on;
  require_equilibrium(scene);
  const Mesh flat = scene.garments[0].mesh;
  const DrapeMeter meter{.center = {}, .disc = request.disc};
  state.nodes = flat.node_count();
  Simulation simulation(std::move(scene), one_thread());
  EquilibriumSearch search(simulation, {.tolerance = request.tolerance});
  int steps = 0;
  while (!search.has_converged() && steps++ < most_steps) search.step();
  state.rests = search.has_converged();
  const Measures measures = simulation.measure(0);
  state.energy = measures.potential_energy + measures.elastic_energy;
  state.bending_share =
      measures.bending_energy / std::max(1e-300, measures.bending_energy + measures.elastic_energy);
  const DrapeShadow shadow = drape_shadow(flat, simulation.positions(0), meter);
  state.coefficient = shadow.area / drape_shadow(flat, flat.positions, meter).area;
  state.folds = count_folds(shadow.radii, fold_height);
  say(text(specimen.name, ", ", state.nodes, " nodes, from ", state.start_folds,
           " folds: ", 100 * state.coefficient, " %, ", state.folds, " folds, ", 1e3 * state.energy, " mJ",
           state.rests ? "" : text(", at rest to ", search.residual(), " of the weight only")));
}

std::vector<Specimen> specimens(const CusickRequest& request) {
  std::vector<Specimen> all;
  for (const std::string& name : request.fabrics) {
    const auto preset = std::ranges::find(fabric_presets(), name, &FabricPreset::name);
    if (preset == fabric_presets().end())
      throw SceneError(text("--fabric: found \"", name, "\", expected the name of a preset"));
    all.push_back(specimen_of(name, preset->fabric, request));
  }
  for (const std::string& file : request.scenes)
    for (const Garment& garment : read_scene(file).garments)
      all.push_back(specimen_of(garment.name, garment.fabric, request));
  for (const Specimen& s : all)
    if (s.length == 0)
      throw SceneError(
          text(s.name, ": found no bending_stiffness, expected one: nothing else sets the size of folds"));
  return all;
}

std::vector<const State*> states_of(const std::vector<State>& states, std::size_t specimen) {
  std::vector<const State*> own;
  for (const State& state : states)
    if (state.specimen == specimen) own.push_back(&state);
  std::ranges::sort(own, {}, &State::energy);
  return own;
}

/// State of the same number of folds, else of the same start.
const State* twin_of(const State& state, const std::vector<const State*>& others) {
  for (const State* other : others)
    if (other->folds == state.folds) return other;
  for (const State* other : others)
    if (other->start_folds == state.start_folds) return other;
  return others.front();
}

}  // namespace

std::vector<Table> measure_cusick(const CusickRequest& request) {
  if (!(request.disc > 0) || !(request.radius > 1.05 * request.disc))
    throw SceneError(text("--disc and --radius: found ", request.disc, " and ", request.radius,
                          " m, expected a disc and a specimen that is larger by a twentieth"));
  const std::vector<Specimen> all = specimens(request);
  std::vector<State> coarse, fine;
  for (std::size_t s = 0; s < all.size(); ++s)
    for (const int folds : request.folds)
      coarse.push_back({.specimen = s, .start_folds = folds, .edge = std::numbers::sqrt2 * all[s].edge});
  for_each_case(coarse.size(), request.workers,
                [&](std::size_t i) { find_rest(coarse[i], all[coarse[i].specimen], request); });
  for (std::size_t s = 0; s < all.size(); ++s) {
    const std::vector<const State*> own = states_of(coarse, s);
    for (std::size_t i = 0; i < std::min(states_kept, own.size()); ++i)
      fine.push_back({.specimen = s, .start_folds = own[i]->start_folds, .edge = all[s].edge});
  }
  for_each_case(fine.size(), request.workers,
                [&](std::size_t i) { find_rest(fine[i], all[fine[i].specimen], request); });
  Table table{
      .title = text("Cusick's test: specimens of ", 100 * request.radius, " cm on a disc of ",
                    100 * request.disc, " cm"),
      .columns = {"fabric", "mass [g/m^2]", "kappa [uN m]", "(kappa / rho g)^(1/3) [mm]", "edge [mm]",
                  "nodes", "coefficient [%]", "least [%]", "largest [%]", "folds", "states",
                  "bending [% of elastic energy]", "change by the mesh [%]", "resolved", "at rest"},
      .rows = {},
      .notes = {
          text("(shadow - disc) / (flat - disc) of the state of lowest energy, from ", request.folds.size(),
               " starts of so many folds on a mesh of longer edges by sqrt 2 and the ", states_kept,
               " lowest of them on this one; least and largest of the states within ", 100 * energy_share,
               " % of its energy. Clamped slope at the disc's rim, no hysteresis, no contact of cloth with "
               "cloth; to rest from standstill, step by step, where damping has no part, until no force is "
               "more than ",
               request.tolerance,
               " of a node's weight. Change: from the longer edges, of as many "
               "folds. Resolved: an edge of at most a quarter of (kappa / rho g)^(1/3), and a change of at "
               "most ",
               100 * largest_change, " points.")}};
  for (std::size_t s = 0; s < all.size(); ++s) {
    const std::vector<const State*> own = states_of(fine, s);
    const State& lowest = *own.front();
    double least = lowest.coefficient, largest = least;
    int count = 0;
    bool rests = true;
    for (const State* state : own) {
      rests = rests && state->rests;
      if (state->energy > lowest.energy + energy_share * std::fabs(lowest.energy)) continue;
      least = std::min(least, state->coefficient);
      largest = std::max(largest, state->coefficient);
      ++count;
    }
    const double change = lowest.coefficient - twin_of(lowest, states_of(coarse, s))->coefficient;
    const bool is_fine = all[s].length >= edges_per_length * all[s].edge * (1 - 1e-9);
    const bool is_resolved = is_fine && std::fabs(change) <= largest_change;
    if (!is_resolved)
      say(text("warning: ", all[s].name, " is not resolved: its edges of ", 1e3 * all[s].edge, " mm are ",
               all[s].length / all[s].edge, " to (kappa / rho g)^(1/3) where ", edges_per_length,
               " are asked for, and the coefficient changed by ", 100 * change, " points from longer ones"));
    table.rows.push_back({all[s].name, 1e3 * all[s].fabric.density, 1e6 * bending_of(all[s].fabric),
                          1e3 * all[s].length, 1e3 * all[s].edge, lowest.nodes, 100 * lowest.coefficient,
                          100 * least, 100 * largest, lowest.folds, count, 100 * lowest.bending_share,
                          100 * change, is_resolved ? "yes" : "no", rests ? "yes" : "no"});
  }
  return {table};
}

}  // namespace isocloth::bench

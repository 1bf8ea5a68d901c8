#include "host/run/sew.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/model/recipe.hpp"
#include "host/run/equilibrium_search.hpp"
#include "host/run/rounded.hpp"
#include "host/scene/panel_keys.hpp"

namespace isocloth {
namespace {

constexpr double sewing_step = 0.005, least_sewing_step = 1e-4, longest_sewing_step = 0.2;  ///< [s]
constexpr double sewing_drag = 200;   ///< drag of cloth that is sewn over its mass [1/s]
constexpr double settling_drag = 20;  ///< of what is sewn, and comes to rest
/// What seams close in a step of sewing_step, over the mean side of an element.
constexpr double sewing_way = 0.15;
constexpr double sewing_stiffness = 200;  ///< greatest stiffness of cloth whose seams are being closed [N/m]
constexpr double hardening_factor = 5;    ///< by which that grows at a time
/// Least bending stiffness of such cloth, over the pull of its seams and the square of an element's side:
/// limp corners would fold over, and then be drawn against their own panel.
constexpr double sewing_bending = 0.1;

/// What stands still while garments are sewn.
void stand_still(Scene& scene) {
  scene.gravity = 0;
  scene.wind = {};
  scene.keyframes.clear();
  const double begin = scene.garments.front().time_offset;
  for (Obstacle& obstacle : scene.obstacles) {
    if (is_moving(obstacle))
      obstacle.motion = PoseMotion{
          .times = {0}, .poses = {obstacle_pose(obstacle, begin)}, .velocity = {}, .angular_velocity = {}};
    obstacle.world_motions.clear();
    obstacle.is_steered = false;
  }
  // Pairs count bodies after the obstacles, and so they do now.
  for (const RigidBody& body : scene.bodies)
    scene.obstacles.push_back({.name = body.name,
                               .shape = body.shape,
                               .position = body.position,
                               .rotation = body.rotation,
                               .motion = FixedMotion{},
                               .friction = body.friction});
  scene.bodies.clear();
  scene.contact.body_pairs.clear();
  for (Garment& garment : scene.garments) {
    garment.gravity.reset();
    garment.initial_velocities.clear();
    garment.forces.clear();
    garment.force_slopes.clear();
    garment.pressure = 0;
    garment.grippers.clear();
    garment.time_offset = 0;
    for (Pin& pin : garment.pins) pin.motion = FixedMotion{}, pin.ramp = 0;
  }
  scene.projection.integrator = Integrator::backward_euler;
  scene.projection.on_violation = OnViolation::go_on;
  scene.projection.budget = {};
  scene.projection.sleep = {};
  scene.frame_interval = 0;
}

void remove_friction(Scene& scene) {
  for (Obstacle& obstacle : scene.obstacles) obstacle.friction = {};
  scene.contact.cloth_friction = {};
  scene.contact.pairs.clear();
  scene.contact.cloth_pairs.clear();
}

/// Pairs of a scene of which only some garments are left; `number`: of each in the scene that is left, -1:
/// none.
void keep_pairs(ContactSettings& contact, const std::vector<std::ptrdiff_t>& number) {
  std::erase_if(contact.pairs, [&](FrictionPair& pair) {
    if (number[pair.garment] < 0) return true;
    pair.garment = static_cast<std::size_t>(number[pair.garment]);
    return false;
  });
  std::erase_if(contact.cloth_pairs, [&](ClothFrictionPair& pair) {
    if (number[pair.garment] < 0 || number[pair.other] < 0) return true;
    pair.garment = static_cast<std::size_t>(number[pair.garment]);
    pair.other = static_cast<std::size_t>(number[pair.other]);
    return false;
  });
}

/// Cloth that is as stiff as `stiffness` [N/m] at most and bends as `bending` [N m] at least, and has no
/// viscosity, limits or memory.
void soften(Fabric& fabric, double stiffness, double bending) {
  const double share = std::min(1.0, stiffness / std::max(fabric.stretch_stiffness, fabric.weft_stiffness()));
  fabric.stretch_stiffness = std::min(fabric.stretch_stiffness, stiffness);
  fabric.weft_stretch_stiffness = std::min(fabric.weft_stretch_stiffness, stiffness);
  fabric.shear_stiffness =
      std::min(fabric.shear_stiffness, std::max(share * fabric.shear_stiffness, 0.2 * stiffness));
  fabric.bending_stiffness = std::max(fabric.bending_stiffness, bending);
  if (fabric.weft_bending_stiffness > 0)
    fabric.weft_bending_stiffness = std::max(fabric.weft_bending_stiffness, bending);
  fabric.curves = {};
  fabric.viscosity = {};
  fabric.strain_limit = fabric.principal_strain_limit = 0;
  fabric.memory = {};
}

class Sewer {
 public:
  Sewer(Scene scene, const SewingPlan& plan, const ExecutionOptions& options,
        const std::function<void(const SewingProgress&)>& on_step)
      : stage_(plan.stage.value_or(SewingStage{})), plan_(plan), options_(options), on_step_(on_step) {
    result_.scene = std::move(scene);
    still_ = result_.scene;
    stand_still(still_);
    for (const Garment& garment : still_.garments) {
      places_.push_back(start_positions(garment));
      velocities_.emplace_back(places_.back().size());
    }
  }

  SewnScene run() {
    keep_frame();
    std::set<Index> layers;
    for (std::size_t g = 0; g < still_.garments.size(); ++g)
      if (!is_kinematic(still_.garments[g])) layers.insert(plan_.layer(g));
    for (const Index layer : layers) {
      std::set<Index> orders;
      for (std::size_t g = 0; g < still_.garments.size(); ++g)
        if (!is_kinematic(still_.garments[g]) && plan_.layer(g) == layer)
          for (std::size_t i = 0; i < still_.garments[g].mesh.stitches.size(); ++i)
            orders.insert(plan_.order(g, i));
      for (const Index order : orders) close(layer, order);
      if (!orders.empty()) harden(layer);
    }
    balance(layers.empty() ? 0 : *layers.rbegin());
    result_.unclosed = find_unclosed_seams(*simulation_, stage_.tolerance, plan_);
    for (std::size_t g = 0; g < places_.size(); ++g) result_.scene.garments[g].initial_positions = places_[g];
    return std::move(result_);
  }

 private:
  /// What is sewn, and how.
  struct Stretch {
    Index layer = 0;
    Index order = std::numeric_limits<Index>::max();  ///< seams up to this are closed
    double stiffness = HUGE_VAL;                      ///< of the cloth at most [N/m]
    /// Whether time begins: layers below move, too, there is friction, and steps begin at a standstill.
    bool is_last = false;
  };

  /// Makes the simulation of a stretch; garments of layers above are not there.
  void begin(const Stretch& stretch) {
    Scene scene = still_;
    if (!stretch.is_last) remove_friction(scene);
    scene.garments.clear();
    present_.clear();
    std::vector<std::ptrdiff_t> numbers(still_.garments.size(), -1);
    const bool is_elastic = find_recipe(scene.recipe).is_elastic();
    for (std::size_t g = 0; g < still_.garments.size(); ++g) {
      const Garment& from = still_.garments[g];
      const bool is_body = is_kinematic(from);
      if (!is_body && plan_.layer(g) > stretch.layer) continue;
      numbers[g] = std::ssize(scene.garments);
      present_.push_back(g);
      Garment& garment = scene.garments.emplace_back(from);
      garment.initial_positions = places_[g];
      if (is_body) continue;
      garment.initial_velocities = velocities_[g];
      const bool is_below = plan_.layer(g) < stretch.layer;
      if (!stretch.is_last && is_below) {
        Pin all{.name = "sewn", .nodes = {}, .motion = FixedMotion{}};
        for (Index i = 0; i < garment.mesh.node_count(); ++i) all.nodes.push_back(i);
        garment.pins = {all};
        garment.initial_velocities.clear();
        continue;
      }
      // Zippers and drawstrings are as they begin.
      garment.zippers.clear();
      garment.drawstrings.clear();
      garment.mesh.stitches.clear();
      for (std::size_t i = 0; i < from.mesh.stitches.size(); ++i)
        if (is_below || plan_.order(g, i) <= stretch.order)
          garment.mesh.stitches.push_back(from.mesh.stitches[i]);
      Sewing& sewing = garment.sewing;
      const double side = mean_element_size(from.mesh);
      if (is_elastic) {
        sewing.force = stage_.strain * sewing_stiffness;
        if (std::isfinite(stretch.stiffness))
          soften(garment.fabric, stretch.stiffness, sewing_bending * sewing.force * side * side);
      }
      garment.fabric.mass_damping =
          std::max(garment.fabric.mass_damping,
                   (stretch.is_last ? settling_drag : sewing_drag) * garment.fabric.density);
      sewing.strength = std::max(sewing.strength, sewing.force);
      sewing.speed = sewing_way * side / sewing_step;
      // What is closed by that force stays open by a quarter of the tolerance at most.
      sewing.stiffness = std::max(sewing.stiffness, 4 * sewing.force / stage_.tolerance);
    }
    keep_pairs(scene.contact, numbers);
    scene.step = scene.duration = step_;
    if (result_.steps > 0) {  // a step that stalled may have left cloth too deep in an obstacle
      scene.contact.resolve_initial_penetration = true;
      scene.contact.initial_penetration_time = 0;
    }
    simulation_.emplace(std::move(scene), options_);
  }

  struct Step {
    bool is_lost = false, has_converged = false, is_quick = false, has_moved = false;
  };

  Step step(const Stretch& stretch) {
    std::size_t nodes = 0;
    for (const std::size_t g : present_) nodes += places_[g].size();
    std::vector<Vec3d> velocities(nodes);
    if (stretch.is_last) simulation_->write(GarmentField::velocities, {velocities.data(), nodes});
    const std::vector<StepReport> reports = simulation_->step();
    if (std::ranges::any_of(reports, [](const StepReport& r) { return has_failed(r.status); }))
      return {.is_lost = true};
    simulation_->read(GarmentField::velocities, {velocities.data(), nodes});
    result_.imbalance = largest_imbalance(simulation_->scene(), velocities);
    Step made{.has_converged = std::ranges::all_of(
                  reports, [](const StepReport& r) { return r.status == StepStatus::converged; })};
    constexpr int quick_iterations = 20;
    made.is_quick = made.has_converged && std::ranges::all_of(reports, [](const StepReport& r) {
                      return r.iterations <= quick_iterations;
                    });
    const std::vector<std::vector<Vec3d>> found = simulation_->positions();
    for (std::size_t i = 0, node = 0; i < present_.size(); ++i) {
      const std::size_t g = present_[i];
      made.has_moved = made.has_moved || found[i] != places_[g];
      places_[g] = found[i];
      for (Vec3d& v : velocities_[g]) v = velocities[node++];
    }
    ++result_.steps;
    measure();
    if (stage_.frames > 0 && result_.steps % stage_.frames == 0) keep_frame();
    if (on_step_) on_step_({result_.steps, stage_.most_steps, opening_});
    return made;
  }

  /// Openings of the seams that are drawn.
  void measure() {
    opening_ = gap_ = reach_ = 0;
    const Scene& scene = simulation_->scene();
    for (std::size_t i = 0; i < present_.size(); ++i) {
      const std::vector<Vec3d>& x = places_[present_[i]];
      const double drawn = scene.garments[i].sewing.speed * step_;
      for (const auto& [a, b, length, slack] : scene.garments[i].mesh.stitches) {
        const double open =
            std::max(0.0, norm(x[static_cast<std::size_t>(a)] - x[static_cast<std::size_t>(b)]) - slack);
        opening_ = std::max(opening_, open);
        gap_ += length * open;
        reach_ += length * std::min(open, drawn);
      }
    }
  }

  /// Does steps until `is_done`, seams gain less than a tenth of what they may in each of `patience` steps,
  /// or the steps are used up. Steps that are lost, or that hold all cloth where it is, are done shorter.
  template <class IsDone>
  void go_on(const Stretch& stretch, int patience, const IsDone& is_done) {
    const double longest = stretch.is_last ? longest_sewing_step : sewing_step;
    step_ = sewing_step;
    begin(stretch);
    measure();
    int idle = 0, quick = 0;
    while (idle < patience && result_.steps < stage_.most_steps) {
      const double before = gap_, possible = reach_;
      const Step made = step(stretch);
      if (is_done(made)) break;
      constexpr double least_share = 0.1;
      constexpr int quick_steps = 3;
      idle = before - gap_ >= least_share * possible ? 0 : idle + 1;
      quick = made.is_quick ? quick + 1 : 0;
      const bool is_stuck = made.is_lost || (!made.has_converged && !made.has_moved);
      if (is_stuck && step_ <= least_sewing_step) break;
      if (is_stuck)
        step_ /= 4;
      else if (quick >= quick_steps && step_ < longest)
        step_ = std::min(2 * step_, longest);
      else
        continue;
      quick = 0;
      begin(stretch);
    }
  }

  void close(Index layer, Index order) {
    constexpr int patience = 40;
    go_on({.layer = layer, .order = order, .stiffness = sewing_stiffness}, patience,
          [this](const Step&) { return opening_ <= stage_.tolerance; });
  }

  /// Makes closed cloth as stiff as it is, bit by bit.
  void harden(Index layer) {
    if (!find_recipe(still_.recipe).is_elastic()) return;
    constexpr int patience = 10;
    double stiffest = 0;
    for (const Garment& garment : still_.garments)
      stiffest = std::max({stiffest, garment.fabric.stretch_stiffness, garment.fabric.weft_stiffness()});
    for (double k = hardening_factor * sewing_stiffness; k < stiffest; k *= hardening_factor)
      go_on({.layer = layer, .stiffness = k}, patience,
            [this](const Step& made) { return made.is_quick && opening_ <= stage_.tolerance; });
  }

  void balance(Index layer) {
    constexpr int most = 60;
    const int first = result_.steps;
    go_on({.layer = layer, .is_last = true}, stage_.most_steps, [&](const Step& made) {
      return (made.has_converged && result_.imbalance <= stage_.balance) || result_.steps >= first + most;
    });
    result_.opening = opening_;
    if (stage_.frames > 0 && (result_.frame_steps.empty() || result_.frame_steps.back() != result_.steps))
      keep_frame();
  }

  void keep_frame() {
    if (stage_.frames == 0) return;
    result_.frames.push_back(places_);
    result_.frame_steps.push_back(result_.steps);
  }

  const SewingStage stage_;
  const SewingPlan& plan_;
  const ExecutionOptions& options_;
  const std::function<void(const SewingProgress&)>& on_step_;
  Scene still_;                             ///< the scene, with all that is not cloth at a standstill
  std::vector<std::vector<Vec3d>> places_;  ///< positions of all garments [m], shape [garment][node_count]
  std::vector<std::vector<Vec3d>> velocities_;  ///< [m/s], likewise
  double step_ = sewing_step;                   ///< h [s]
  std::optional<Simulation> simulation_;
  std::vector<std::size_t> present_;  ///< numbers of its garments in the scene
  double opening_ = 0;                ///< widest opening of the seams that are drawn [m]
  double gap_ = 0;                    ///< sum of opening times length over them [m^2]
  double reach_ = 0;                  ///< what a step takes of that where nothing is in the way [m^2]
  SewnScene result_;
};

}  // namespace

SewnScene sew(Scene scene, const SewingPlan& plan, const ExecutionOptions& options,
              const std::function<void(const SewingProgress&)>& on_step) {
  validate_scene(scene);
  validate_sewing(scene, plan.stage.value_or(SewingStage{}));
  return Sewer(std::move(scene), plan, options, on_step).run();
}

std::string note_of(const SewingProgress& progress) {
  return text("open by ", rounded(progress.opening), " m");
}

std::string describe(const SewnScene& sewn) {
  constexpr std::size_t most = 3;
  const std::vector<UnclosedSeam>& open = sewn.unclosed;
  std::string line = text("sewn in ", sewn.steps, " steps");
  if (open.empty())
    line += text(", seams closed to ", rounded(sewn.opening), " m");
  else
    line += open.size() == 1 ? ", but a seam stays open" : text(", but ", open.size(), " seams stay open");
  for (std::size_t i = 0; i < std::min(most, open.size()); ++i)
    line += (i == 0 ? ": " : "; ") + describe(open[i], sewn.scene);
  return open.size() > most ? text(line, "; ...") : line;
}

}  // namespace isocloth

// What a running scene is told of what moves: pins, grippers, obstacles and external bodies, by the clock of
// the simulation. Solvers read motions of garments by the garments' clocks: where these are set, the motions
// follow.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/text.hpp"
#include "host/bodies/external_bodies.hpp"
#include "host/simulation/simulation_members.hpp"

namespace isocloth {
namespace {

/// A hold that nothing has ended yet lasts so long [s].
constexpr double endless = 1e9;

std::string key_of(std::size_t garment) { return text("garments[", garment, "]"); }

void check_rigid_motion(const std::string& key, const ObstacleMotion& motion) {
  std::visit([&](const auto& kind) { check_bounded_motion(key, kind); }, motion);
}

Gripper& gripper_of(Scene& scene, std::size_t garment, std::size_t gripper) {
  check_index(garment, scene.garments.size());
  check_index(gripper, scene.garments[garment].grippers.size(), "gripper");
  return scene.garments[garment].grippers[gripper];
}

/// A motion later by `delay` [s], by a clock of steps of h from `offset` on [s]. Times of steps stay times of
/// steps, to the last bit: what a garment does does not depend on how long the simulation has run before it
/// was reset.
template <class AnyMotion>
AnyMotion delayed_by_steps(AnyMotion motion, double delay, double offset, double h) {
  if (delay == 0) return motion;
  motion = delayed(std::move(motion), delay);
  const auto settle = [&](double& t) {
    constexpr double rounding = 1e-6;  // of a step
    const double steps = std::round((t - offset) / h), there = offset + steps * h;
    if (std::abs(t - there) <= rounding * h) t = there;
  };
  const auto settle_times = [&](auto& kind) {
    if constexpr (requires { kind.times; })
      for (double& t : kind.times) settle(t);
    else if constexpr (requires { kind.start; })
      settle(kind.start);
  };
  std::visit(settle_times, motion);
  return motion;
}

/// How long a shape is [m]; infinite: it has no end.
struct Length {
  double operator()(const PlaneShape&) const { return std::numeric_limits<double>::infinity(); }
  double operator()(const HeightFieldShape& s) const {
    return s.spacing * std::max(s.samples[0] - 1, s.samples[1] - 1);
  }
  double operator()(const MeshShape& s) const {
    Vec3d least = s.surface.positions.front(), most = least;
    for (const Vec3d& x : s.surface.positions) {
      least = {std::min(least.x, x.x), std::min(least.y, x.y), std::min(least.z, x.z)};
      most = {std::max(most.x, x.x), std::max(most.y, x.y), std::max(most.z, x.z)};
    }
    return norm(most - least);
  }
  double operator()(const HasSolid auto& s) const { return 2 * norm(s.solid().half_lengths()); }
};
double length_of(const ObstacleShape& shape) { return std::visit(Length{}, shape); }

/// From a pose at one time to a target at another, or at once.
PoseMotion motion_to(const Pose& from, const FrameTarget& target, double now, double duration) {
  PoseMotion motion{.times = {now},
                    .poses = {target.pose},
                    .velocity = target.velocity,
                    .angular_velocity = target.angular_velocity};
  if (duration > 0) {
    motion.times = {now, now + duration};
    motion.poses = {from, target.pose};
  }
  return motion;
}

}  // namespace

void Simulation::Members::follow_clock(std::size_t g) {
  Steering& own = steering[g];
  const double change = lead(g) - own.lead;
  own.lead += change;
  if (change == 0) return;
  Garment& garment = scene.garments[g];
  const auto follow = [&](auto& motion) {
    motion = delayed_by_steps(motion, change, garment.time_offset, scene.step);
  };
  for (const std::size_t p : own.pins) follow(garment.pins[p].motion);
  for (const std::size_t n : own.gripper_motions) follow(garment.grippers[n].motion);
  for (const std::size_t n : own.gripper_holds)
    for (Hold& hold : garment.grippers[n].holds) hold = {hold.from + change, hold.to + change};
  if (!own.pins.empty()) at(g, [](GarmentSolver& solver, std::size_t) { solver.refresh_motions(); });
}

void Simulation::Members::follow_clocks() {
  for (std::size_t g = 0; g < steering.size(); ++g) follow_clock(g);
}

void Simulation::set_pin_motion(std::size_t garment, std::size_t pin, Motion motion) {
  Members& m = members();
  m.require_idle("set_pin_motion");
  check_index(garment, garment_count());
  check_index(pin, m.scene.garments[garment].pins.size(), "pin");
  Pin& own = m.scene.garments[garment].pins[pin];
  validate_motion(text(key_of(garment), ".pins[", pin, "].motion"), motion, own.nodes.size());
  m.follow_clock(garment);
  own.motion = delayed_by_steps(std::move(motion), m.lead(garment), m.scene.garments[garment].time_offset,
                                m.scene.step);
  own.ramp = 0;
  m.steering[garment].pins.insert(pin);
  m.at(garment, [](GarmentSolver& solver, std::size_t) { solver.refresh_motions(); });
}

void Simulation::move_pin(std::size_t garment, std::size_t pin, ArrayView<const Vec3d> targets,
                          double duration) {
  members().require_idle("move_pin");
  check_index(garment, garment_count());
  check_index(pin, members().scene.garments[garment].pins.size(), "pin");
  const std::vector<Index>& nodes = members().scene.garments[garment].pins[pin].nodes;
  const std::string key = text(key_of(garment), ".pins[", pin, "]");
  require_size(key + ".targets", targets.size(), nodes.size(), "node of the pin");
  require_positive(key + ".duration", duration);
  for (std::size_t i = 0; i < targets.size(); ++i)
    require_position(text(key, ".targets[", i, "]"), targets[i]);
  const std::vector<Vec3d> x = positions(garment);
  RecordedMotion motion{.file = "move_pin", .times = {time(), time() + duration}, .positions = {}};
  for (const Index node : nodes) motion.positions.push_back(x[node]);
  motion.positions.insert(motion.positions.end(), targets.begin(), targets.end());
  set_pin_motion(garment, pin, std::move(motion));
}

void Simulation::set_gripper_motion(std::size_t garment, std::size_t gripper, ObstacleMotion motion) {
  Members& m = members();
  m.require_idle("set_gripper_motion");
  Gripper& own = gripper_of(m.scene, garment, gripper);
  check_rigid_motion(text(key_of(garment), ".grippers[", gripper, "].motion"), motion);
  m.follow_clock(garment);
  own.motion = delayed_by_steps(std::move(motion), m.lead(garment), m.scene.garments[garment].time_offset,
                                m.scene.step);
  m.steering[garment].gripper_motions.insert(gripper);
}

void Simulation::close_gripper(std::size_t garment, std::size_t gripper) {
  open_gripper(garment, gripper);
  gripper_of(members().scene, garment, gripper).holds.push_back({.from = time(garment), .to = endless});
}

void Simulation::open_gripper(std::size_t garment, std::size_t gripper) {
  Members& m = members();
  m.require_idle("open_gripper");
  Gripper& own = gripper_of(m.scene, garment, gripper);
  m.follow_clock(garment);
  const double now = time(garment);
  std::erase_if(own.holds, [now](const Hold& hold) { return hold.from >= now; });
  if (!own.holds.empty()) own.holds.back().to = std::min(own.holds.back().to, now);
  m.steering[garment].gripper_holds.insert(gripper);
}

void Simulation::set_obstacle_motion(std::size_t obstacle, ObstacleMotion motion, Index world) {
  Members& m = members();
  m.require_idle("set_obstacle_motion");
  check_index(obstacle, m.scene.obstacles.size(), "obstacle");
  check_rigid_motion(text("obstacles[", obstacle, "].motion"), motion);
  if (m.steer(obstacle, world, std::move(motion))) m.solvers.refresh_obstacles();
}

bool Simulation::Members::steer(std::size_t obstacle, Index world, ObstacleMotion motion) {
  Obstacle& own = scene.obstacles[obstacle];
  const bool moved = is_moving(own);
  if (world != Garment::every_world) {
    own.world_motions[world] = std::move(motion);
  } else {
    own.motion = std::move(motion);
    own.is_steered = true;
    own.world_motions.clear();
  }
  return is_moving(own) != moved;
}

void Simulation::move_frames(const std::vector<FrameTarget>& targets, double duration) {
  Members& m = members();
  m.require_idle("move_frames");
  require_not_negative("duration", duration);
  const double now = time(), steps = std::max(duration / m.scene.step, 1.0);
  std::vector<PoseMotion> motions;
  for (const FrameTarget& target : targets) {
    const bool is_obstacle = target.obstacle != FrameTarget::none;
    if (is_obstacle) check_index(target.obstacle, m.scene.obstacles.size(), "obstacle");
    const std::string key = is_obstacle ? text("obstacles[", target.obstacle, "] \"",
                                               m.scene.obstacles[target.obstacle].name, '"')
                                        : text(key_of(target.garment), ".grippers[", target.gripper, "]");
    const Pose from =
        is_obstacle ? obstacle_pose(m.scene.obstacles[target.obstacle], target.world, {now, now})
                    : gripper_pose(gripper_of(m.scene, target.garment, target.gripper), time(target.garment));
    motions.push_back(motion_to(from, target, now, duration));
    check_bounded_motion(key, motions.back());
    constexpr double short_way = 0.05;  // [m]
    const double way = norm(target.pose.center - from.center) / steps;
    if (duration > 0 && is_obstacle && way > short_way &&
        way > length_of(m.scene.obstacles[target.obstacle].shape))
      refuse(key, text("a way of ", way, " m in a step"),
             text("no more than it is long, ", length_of(m.scene.obstacles[target.obstacle].shape),
                  " m; give it a longer duration, or duration 0 to have it there at once"));
  }
  m.follow_clocks();
  bool has_begun = false;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const FrameTarget& target = targets[i];
    if (target.obstacle == FrameTarget::none) {
      gripper_of(m.scene, target.garment, target.gripper).motion =
          delayed_by_steps(ObstacleMotion(std::move(motions[i])), m.lead(target.garment),
                           m.scene.garments[target.garment].time_offset, m.scene.step);
      m.steering[target.garment].gripper_motions.insert(target.gripper);
      continue;
    }
    has_begun = m.steer(target.obstacle, target.world, std::move(motions[i])) || has_begun;
  }
  if (has_begun) m.solvers.refresh_obstacles();
}

void Simulation::set_external_motion(const ExternalMotion& motion) {
  members().require_idle("set_external_motion");
  check_external_motion(members().scene, motion);
  members().solvers.solvers.front()->set_external(motion);
}

void Simulation::set_friction(std::size_t obstacle, const std::vector<std::size_t>& garments,
                              const Friction& friction) {
  Members& m = members();
  m.require_idle("set_friction");
  check_index(obstacle, m.scene.obstacles.size() + m.scene.bodies.size(), "obstacle");
  for (const std::size_t g : garments) check_index(g, garment_count());
  validate_friction(friction, "friction");
  std::vector<FrictionPair>& pairs = m.scene.contact.pairs;
  const std::set<std::size_t> chosen(garments.begin(), garments.end());
  std::erase_if(pairs, [&](const FrictionPair& pair) {
    return pair.obstacle == obstacle && chosen.contains(pair.garment);
  });
  for (const std::size_t g : chosen)
    pairs.push_back({.garment = g, .obstacle = obstacle, .friction = friction});
  m.solvers.refresh_obstacles();
}

void Simulation::set_cloth_friction(const Friction& friction) {
  Members& m = members();
  m.require_idle("set_cloth_friction");
  validate_friction(friction, "cloth_friction");
  if (!m.scene.contact.cloth)
    refuse("cloth_friction", "a scene in which cloth meets no cloth", "contact.cloth");
  m.scene.contact.cloth_friction = friction;
  for (const auto& solver : m.solvers.solvers) solver->refresh_cloth_friction();
}

}  // namespace isocloth

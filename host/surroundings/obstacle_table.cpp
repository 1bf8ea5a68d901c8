#include "host/surroundings/obstacle_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "engine/core/text.hpp"
#include "engine/geometry/distance_grid.hpp"
#include "host/surroundings/recent_grids.hpp"
#include "host/surroundings/shape_views.hpp"
#include "host/surroundings/start_depths.hpp"

namespace isocloth {
namespace {

/// A shape for the kernels, and the corners of its box.
template <class Real>
struct Compiled {
  ShapeView<Real> view;
  std::array<Vec3d, 2> box;
  DistanceGrid grid;
};

template <class Real>
struct Compile {
  const std::string& key;
  bool is_body;
  const MonitorView& monitor;

  Compiled<Real> operator()(const PlaneShape&) const {
    constexpr double far = std::numeric_limits<float>::max();
    ShapeView<Real> plane;
    plane.reach = static_cast<Real>(far);
    return {plane, {Vec3d{-far, -far, -far}, Vec3d{far, far, far}}, {}};
  }
  Compiled<Real> operator()(const HasSolid auto& s) const {
    const Vec3d half = s.solid().half_lengths();
    return {shape_view<Real>(s.solid()), {-half, half}, {}};
  }
  Compiled<Real> operator()(const HeightFieldShape& s) const {
    return compile(build_distance_grid(s, key, monitor));
  }
  Compiled<Real> operator()(const MeshShape& s) const {
    return compile(recent_grid(s, is_body, key, monitor));
  }

  static Compiled<Real> compile(DistanceGrid grid) {
    constexpr double thinnest = 1.5;  // cells, half of what a wall has at least
    const auto [nx, ny, nz] = grid.nodes;
    const Vec3d most = grid.origin + grid.cell * Vec3d{nx - 1.0, ny - 1.0, nz - 1.0};
    Compiled<Real> result{{}, {grid.origin, most}, {}};
    result.view.kind = ShapeKind::grid;
    result.view.reach = static_cast<Real>(thinnest * grid.least_cell());
    result.view.origin = narrow<Real>(grid.origin);
    result.view.cell = static_cast<Real>(grid.cell);
    for (std::size_t k = 0; k < 3; ++k) result.view.nodes[k] = grid.nodes[k];
    result.grid = std::move(grid);
    return result;
  }
};

}  // namespace

template <class Real>
ObstacleShapes<Real>::ObstacleShapes(const Device& device, const Scene& own_scene) : scene(own_scene) {
  StartDepths<Real> depths(scene);
  std::vector<ShapeView<Real>> views;
  const auto add = [&](const ObstacleShape& shape, const std::string& key, const std::string& what,
                       bool is_body, const auto& pose_at) {
    Compiled<Real> compiled = std::visit(Compile<Real>{key, is_body, device.monitor()}, shape);
    if (!compiled.grid.note.empty()) notes.push_back(text(what, ": ", compiled.grid.note));
    ShapeView<Real> here = compiled.view;
    here.distances = compiled.grid.distances;
    here.blocks = compiled.grid.blocks;
    depths.add(what, pose_at, here, compiled.box);
    if (compiled.view.kind == ShapeKind::grid) {
      grids.emplace_back(device, compiled.grid.distances);
      compiled.view.distances = std::as_const(grids.back()).view();
      blocks.emplace_back(device, compiled.grid.blocks);
      compiled.view.blocks = std::as_const(blocks.back()).view();
    }
    views.push_back(compiled.view);
    boxes.push_back(compiled.box);
  };
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    const Obstacle& obstacle = scene.obstacles[o];
    add(obstacle.shape, text("obstacles[", o, "].shape"), text("obstacle \"", obstacle.name, "\""), false,
        [&](double t) { return obstacle_pose(obstacle, t); });
  }
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const RigidBody& body = scene.bodies[b];
    const std::string key = text("bodies[", b, "].shape");
    const MassProperties properties = mass_properties(body.shape, key);
    const Pose start = shape_pose(start_state(body, properties).pose, properties);
    add(body.shape, key, text("body \"", body.name, "\""), true, [&](double) { return start; });
  }
  start_depths = depths.of_garments();
  shapes = {device, views};
  moving = {device, size()};
  resting = {device, size()};
  refresh();
}

template <class Real>
void ObstacleShapes<Real>::refresh() {
  ++version;
  std::vector<Index> numbers;
  std::vector<Placement<Real>> places(size());
  moving_obstacles.clear();
  for (std::size_t o = 0; o < size(); ++o) {
    const bool moves = o >= scene.obstacles.size() || is_moving(scene.obstacles[o]);  // bodies do
    numbers.push_back(moves ? static_cast<Index>(moving_obstacles.size()) : -1);
    if (moves)
      moving_obstacles.push_back(static_cast<Index>(o));
    else
      places[o] = placement(o, Garment::every_world, {}, {});
  }
  moving.upload(numbers);
  resting.upload(places);
}

template <class Real>
Placement<Real> ObstacleShapes<Real>::placement(std::size_t o, Index world, const Moment& from,
                                                const Moment& to) const {
  const Obstacle& obstacle = scene.obstacles[o];
  return placement(o, obstacle_pose(obstacle, world, from), obstacle_pose(obstacle, world, to));
}

template <class Real>
Placement<Real> ObstacleShapes<Real>::placement(std::size_t o, const Pose& begin, const Pose& end) const {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  Vec3d least{infinite, infinite, infinite}, most = -least;
  const auto& [low, high] = boxes[o];
  for (const Pose* pose : {&begin, &end})
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3d local{corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y,
                        corner & 4 ? high.z : low.z};
      const Vec3d x =
          pose->center + local.x * pose->axes[0] + local.y * pose->axes[1] + local.z * pose->axes[2];
      least = {std::min(least.x, x.x), std::min(least.y, x.y), std::min(least.z, x.z)};
      most = {std::max(most.x, x.x), std::max(most.y, x.y), std::max(most.z, x.z)};
    }
  // A turning corner leaves the box of both ends by r (1 - cos(angle / 2)) < r (|change of the axes| / 2)^2
  // / 2.
  double change = 0;
  for (std::size_t k = 0; k < 3; ++k) change = std::max(change, norm(end.axes[k] - begin.axes[k]));
  const double bulge = norm(most - least) * change * change / 8;
  const Vec3d room{bulge, bulge, bulge};
  return {narrow<Real>(begin), narrow<Real>(end), narrow<Real>(least - room), narrow<Real>(most + room)};
}

template <class Real>
ObstacleTable<Real>::ObstacleTable(const Device& device, std::shared_ptr<const ObstacleShapes<Real>> shapes,
                                   const std::vector<const Garment*>& garments)
    : device_(&device), shapes_(std::move(shapes)), garments_(garments), clock_set_(garments.size(), 0) {
  for (const Garment* garment : garments) {
    starts_.push_back(garment->time_offset);
    worlds_.push_back(garment->world);
  }
  set_friction();
  member_clock_ = {device, clock_set_};
}

template <class Real>
void ObstacleTable<Real>::set_friction() {
  version_ = shapes_->version;
  const Scene& scene = shapes_->scene;
  std::map<const Garment*, std::vector<const FrictionPair*>> pairs;
  for (const FrictionPair& pair : scene.contact.pairs) pairs[&scene.garments[pair.garment]].push_back(&pair);
  std::vector<FrictionView<Real>> rows;
  std::map<std::vector<std::pair<double, double>>, Index> numbers;  // of distinct rows
  friction_row_.clear();
  for (const Garment* garment : garments_) {
    std::vector<std::pair<double, double>> own;
    const auto of = [](const Friction& friction) { return std::pair{friction.static_, friction.dynamic}; };
    for (const Obstacle& o : scene.obstacles) own.push_back(of(o.friction));
    for (const RigidBody& b : scene.bodies) own.push_back(of(b.friction));
    if (const auto found = pairs.find(garment); found != pairs.end())
      for (const FrictionPair* pair : found->second) own[pair->obstacle] = of(pair->friction);
    const auto [at, is_new] = numbers.try_emplace(own, static_cast<Index>(numbers.size()));
    if (is_new)
      for (const auto& [static_, dynamic] : own)
        rows.push_back({static_cast<Real>(static_), static_cast<Real>(dynamic)});
    friction_row_.push_back(at->second);
  }
  if (friction_.size() != rows.size())
    friction_ = {*device_, rows};
  else
    friction_.upload(rows);
  if (member_friction_.size() != friction_row_.size())
    member_friction_ = {*device_, friction_row_};
  else
    member_friction_.upload(friction_row_);
}

template <class Real>
void ObstacleTable<Real>::set_motions(const std::vector<Clock>& clocks, double h, int steps) {
  steps_ = steps;
  if (size() == 0) return;
  if (version_ != shapes_->version) set_friction();
  const bool eases = eases_out(shapes_->scene);
  if (shapes_->moving_obstacles.empty() && !eases) return;
  const bool differ = std::ranges::any_of(shapes_->scene.obstacles,
                                          [](const Obstacle& o) { return !o.world_motions.empty(); });
  std::map<std::tuple<Clock, Index>, Index> numbers;
  std::vector<Clock> distinct;
  std::vector<Index> worlds;
  std::vector<double> starts;
  std::vector<Index> sets;
  for (std::size_t member = 0; member < clocks.size(); ++member) {
    const Index world = differ ? worlds_[member] : Garment::every_world;
    const auto [at, is_new] =
        numbers.try_emplace({clocks[member], world}, static_cast<Index>(distinct.size()));
    if (is_new) {
      distinct.push_back(clocks[member]);
      worlds.push_back(world);
      starts.push_back(starts_[member]);
    }
    sets.push_back(at->second);
  }
  if (sets != clock_set_) {
    clock_set_ = sets;
    member_clock_.upload(sets);
  }
  if (eases) set_eases(distinct, starts, h);
  const std::size_t moving = shapes_->moving_obstacles.size(),
                    count = distinct.size() * static_cast<std::size_t>(steps) * moving;
  if (motions_.size() < count) motions_ = {*device_, count};
  motions_.write(count, staging_, [&](Placement<Real>* motions) {
    for (std::size_t s = 0; s < distinct.size(); ++s)
      for (int n = 0; n < steps; ++n)
        for (const Index o : shapes_->moving_obstacles) {
          if (static_cast<std::size_t>(o) < shapes_->scene.obstacles.size())
            *motions = shapes_->placement(static_cast<std::size_t>(o), worlds[s], distinct[s].moment(h, n),
                                          distinct[s].moment(h, n + 1));
          ++motions;
        }
  });
}

template <class Real>
void ObstacleTable<Real>::set_eases(const std::vector<Clock>& clocks, const std::vector<double>& starts,
                                    double h) {
  const double time = shapes_->scene.contact.initial_penetration_time;
  const Real below_one = std::nextafter(Real(1), Real(0));  // 1 is the start alone
  eases_.clear();
  for (std::size_t s = 0; s < clocks.size(); ++s)
    for (int n = 0; n <= steps_; ++n) {
      const double since = clocks[s].time(h, n) - starts[s];
      const auto share = static_cast<Real>(eased_share(since / time));
      eases_.push_back(since > 0 ? std::min(share, below_one) : share);
    }
  if (device_eases_.size() < eases_.size()) device_eases_ = {*device_, eases_.size()};
  device_eases_.write(eases_.size(), ease_staging_,
                      [&](Real* to) { std::copy(eases_.begin(), eases_.end(), to); });
}

template <class Real>
void ObstacleTable<Real>::set_bodies(std::size_t member, int step,
                                     const std::vector<Placement<Real>>& places) {
  const std::size_t moving = shapes_->moving_obstacles.size(),
                    first = static_cast<std::size_t>(clock_set_[member] * steps_ + step) * moving;
  motions_.edit(first + moving - places.size(), places.size(),
                [&](Placement<Real>* motions) { std::copy(places.begin(), places.end(), motions); });
}

template <class Real>
void ObstacleTable<Real>::set_poses(ArrayView<const std::array<Pose, 2>> poses) {
  if (size() == 0 || shapes_->moving_obstacles.empty()) return;
  motions_.edit(0, shapes_->moving_obstacles.size(), [&](Placement<Real>* motion) {
    for (const Index o : shapes_->moving_obstacles) {
      const std::size_t number = static_cast<std::size_t>(o);
      if (number < poses.size()) *motion = shapes_->placement(number, poses[number][0], poses[number][1]);
      ++motion;
    }
  });
}

template <class Real>
ObstacleSets<Real> ObstacleTable<Real>::sets() const {
  if (size() == 0) return {};
  return {.shapes = shapes_->shapes.view(),
          .moving = shapes_->moving.view(),
          .resting = shapes_->resting.view(),
          .motions = motions_.view(),
          .friction = friction_.view(),
          .clocks = member_clock_.view(),
          .friction_rows = member_friction_.view(),
          .eases = slice(device_eases_.view(), 0, eases_.size()),
          .steps = steps_,
          .moving_count = static_cast<Index>(shapes_->moving_obstacles.size())};
}

template <class Real>
bool ObstacleTable<Real>::moves_within(const BoundingBox& box, const Clock& clock, double h, int step) const {
  if (size() == 0) return false;
  const Moment from = clock.moment(h, step), to = clock.moment(h, step + 1);
  return std::ranges::any_of(shapes_->moving_obstacles, [&](Index o) {
    const auto number = static_cast<std::size_t>(o);
    if (number >= shapes_->scene.obstacles.size()) return true;  // a body
    const Obstacle& obstacle = shapes_->scene.obstacles[number];
    const Pose begin = obstacle_pose(obstacle, worlds_[0], from),
               end = obstacle_pose(obstacle, worlds_[0], to);
    if (begin == end) return false;
    const Placement<Real> place = shapes_->placement(number, begin, end);
    const auto wide = [](const Vec3<Real>& v) {
      return Vec3d{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
    };
    return overlap(box, {wide(place.least), wide(place.most)});
  });
}

template <class Real>
ObstaclesView<Real> ObstacleTable<Real>::view(std::size_t member, int step) const {
  if (size() == 0) return {};
  const std::size_t count = size(), moving = shapes_->moving_obstacles.size(),
                    first = static_cast<std::size_t>(clock_set_[member] * steps_ + step) * moving;
  const auto ease_at = [&](int after) {
    return eases_.empty() ? Real(0)
                          : eases_[static_cast<std::size_t>(clock_set_[member] * (steps_ + 1) + after)];
  };
  return {.shapes = shapes_->shapes.view(),
          .moving = shapes_->moving.view(),
          .resting = shapes_->resting.view(),
          .motions = moving == 0 ? ArrayView<const Placement<Real>>{}
                                 : slice(motions_.view(), first, first + moving),
          .friction = slice(friction_.view(), static_cast<std::size_t>(friction_row_[member]) * count,
                            static_cast<std::size_t>(friction_row_[member] + 1) * count),
          .first_body = shapes_->scene.bodies.empty() ? ObstaclesView<Real>::no_body
                                                      : static_cast<Index>(shapes_->scene.obstacles.size()),
          .ease_begin = ease_at(step),
          .ease_end = ease_at(step + 1)};
}

template <class Real>
std::size_t ObstacleTable<Real>::memory_bytes() const {
  return friction_.bytes() + motions_.bytes() + member_friction_.bytes() + member_clock_.bytes() +
         device_eases_.bytes();
}

template struct ObstacleShapes<float>;
template struct ObstacleShapes<double>;
template class ObstacleTable<float>;
template class ObstacleTable<double>;

}  // namespace isocloth

#include "host/surroundings/obstacle_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/geometry/distance_grid.hpp"
#include "host/surroundings/shape_views.hpp"
#include "kernels/contact/signed_distance.hpp"

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
    return compile(build_distance_grid(s, key, monitor));
  }

  static Compiled<Real> compile(DistanceGrid grid) {
    constexpr double thinnest = 1.5;  // cells, half of what build_distance_grid accepts
    const auto [nx, ny, nz] = grid.nodes;
    const Vec3d most = grid.origin + grid.cell * Vec3d{nx - 1.0, ny - 1.0, nz - 1.0};
    Compiled<Real> result{{}, {grid.origin, most}, {}};
    result.view.kind = ShapeKind::grid;
    result.view.reach = static_cast<Real>(thinnest * grid.cell);
    result.view.origin = narrow<Real>(grid.origin);
    result.view.cell = static_cast<Real>(grid.cell);
    for (std::size_t k = 0; k < 3; ++k) result.view.nodes[k] = grid.nodes[k];
    result.grid = std::move(grid);
    return result;
  }
};

/// Raises the depths at the start [m], shape [garment_count], to those of points of the cloth in the
/// obstacle. Throws SceneError where one is deeper than the tolerance and is not to be pushed out; what: as
/// "obstacle "rod"".
template <class Real, class PoseAt>
void find_start_depths(const Scene& scene, const std::string& what, const PoseAt& pose_at,
                       const Compiled<Real>& compiled, std::vector<double>& depths) {
  ShapeView<Real> shape = compiled.view;
  shape.distances = compiled.grid.distances;
  const auto& [low, high] = compiled.box;
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    const Pose pose = pose_at(garment.time_offset);
    const std::vector<Vec3d>& start = start_positions(garment);
    const double room = garment.fabric.thickness / 2;
    /// How deep the surface of the cloth is at x; nothing is asked far away.
    const auto depth_at = [&, reach = contact_offset(garment, scene)](const Vec3d& x) {
      const Vec3d r = x - pose.center;
      const Vec3d local{dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
      if (local.x < low.x - reach || local.x > high.x + reach || local.y < low.y - reach ||
          local.y > high.y + reach || local.z < low.z - reach || local.z > high.z + reach)
        return -reach;
      return room - static_cast<double>(cpu::signed_distance(shape, narrow<Real>(local)).value);
    };
    double deepest = 0;
    std::size_t at = 0, count = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      const double depth = depth_at(start[i]);
      if (std::isnan(depth))
        throw SceneError(text("garments[", g, "] \"", garment.name, "\": found no distance of node ", i,
                              " from ", what, ", expected a number; check the sizes of both"));
      count += depth > scene.contact.tolerance;
      if (depth <= deepest) continue;
      deepest = depth;
      at = i;
    }
    // As in the steps: with the margin, and between the nodes.
    const auto keep_deepest = [&](const Vec3d& x) {
      depths[g] = std::max(depths[g], depth_at(x) + scene.contact.margin);
    };
    constexpr int parts = 4;  // of an edge
    for (Index f = 0; f < garment.mesh.face_count(); ++f) {
      const ArrayView<const Index> n = garment.mesh.face(f);
      const Vec3d &x0 = start[n[0]], &x1 = start[n[1]], &x2 = start[n[2]], &x3 = start[n[n.size() - 1]];
      for (int i = 0; i <= parts; ++i)
        for (int j = 0; j <= (n.size() == 3 ? parts - i : parts); ++j) {
          const double u = static_cast<double>(i) / parts, v = static_cast<double>(j) / parts;
          keep_deepest(n.size() == 3 ? x0 + u * (x1 - x0) + v * (x2 - x0)
                                     : (1 - v) * (x0 + u * (x1 - x0)) + v * (x3 + u * (x2 - x3)));
        }
    }
    if (count > 0 && !scene.contact.push_out)
      throw SceneError(text("garments[", g, "] \"", garment.name, "\": found node ", at, " ", deepest,
                            " m inside of ", what, " at the start, the deepest of ", count, " of ",
                            start.size(),
                            " nodes there, expected all nodes outside; move one of them, or set "
                            "contact.push_out to have the cloth moved out during the first steps"));
  }
}

}  // namespace

template <class Real>
ObstacleShapes<Real>::ObstacleShapes(const Device& device, const Scene& own_scene) : scene(own_scene) {
  start_depths.assign(scene.garments.size(), 0);
  std::vector<ShapeView<Real>> views;
  const auto add = [&](const ObstacleShape& shape, const std::string& key, const std::string& what,
                       const auto& pose_at) {
    Compiled<Real> compiled = std::visit(Compile<Real>{key, device.monitor()}, shape);
    find_start_depths(scene, what, pose_at, compiled, start_depths);
    if (compiled.view.kind == ShapeKind::grid) {
      grids.emplace_back(device, compiled.grid.distances);
      compiled.view.distances = std::as_const(grids.back()).view();
    }
    views.push_back(compiled.view);
    boxes.push_back(compiled.box);
  };
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    const Obstacle& obstacle = scene.obstacles[o];
    add(obstacle.shape, text("obstacles[", o, "].shape"), text("obstacle \"", obstacle.name, "\""),
        [&](double t) { return obstacle_pose(obstacle, t); });
  }
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const RigidBody& body = scene.bodies[b];
    const std::string key = text("bodies[", b, "].shape");
    const MassProperties properties = mass_properties(body.shape, key);
    const Pose start = shape_pose(start_state(body, properties).pose, properties);
    add(body.shape, key, text("body \"", body.name, "\""), [&](double) { return start; });
  }
  shapes = {device, views};
  moving = {device, size()};
  resting = {device, size()};
  refresh();
}

template <class Real>
void ObstacleShapes<Real>::refresh() {
  std::vector<Index> numbers;
  std::vector<Placement<Real>> places(size());
  moving_obstacles.clear();
  for (std::size_t o = 0; o < size(); ++o) {
    const bool moves = o >= scene.obstacles.size() || is_moving(scene.obstacles[o]);  // bodies do
    numbers.push_back(moves ? static_cast<Index>(moving_obstacles.size()) : -1);
    if (moves)
      moving_obstacles.push_back(static_cast<Index>(o));
    else
      places[o] = placement(o, 0, 0);
  }
  moving.upload(numbers);
  resting.upload(places);
}

template <class Real>
Placement<Real> ObstacleShapes<Real>::placement(std::size_t o, double from, double to) const {
  return placement(o, obstacle_pose(scene.obstacles[o], from), obstacle_pose(scene.obstacles[o], to));
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
    : device_(&device), shapes_(std::move(shapes)), clock_set_(garments.size(), 0) {
  const Scene& scene = shapes_->scene;
  std::vector<FrictionView<Real>> rows;
  const std::size_t count = size();
  auto same = [](const FrictionView<Real>& a, const FrictionView<Real>& b) {
    return a.static_ == b.static_ && a.dynamic == b.dynamic;
  };
  for (const Garment* garment : garments) {
    std::vector<FrictionView<Real>> own;
    for (const Obstacle& o : scene.obstacles)
      own.push_back({static_cast<Real>(o.friction.static_), static_cast<Real>(o.friction.dynamic)});
    for (const RigidBody& b : scene.bodies)
      own.push_back({static_cast<Real>(b.friction.static_), static_cast<Real>(b.friction.dynamic)});
    for (const FrictionPair& pair : scene.contact.pairs)
      if (&scene.garments[pair.garment] == garment)
        own[pair.obstacle] = {static_cast<Real>(pair.friction.static_),
                              static_cast<Real>(pair.friction.dynamic)};
    std::size_t row = rows.size() / count;  // the last is the likeliest
    while (row > 0 && !std::equal(own.begin(), own.end(),
                                  rows.begin() + static_cast<std::ptrdiff_t>((row - 1) * count), same))
      --row;
    if (row == 0) {
      rows.insert(rows.end(), own.begin(), own.end());
      row = rows.size() / count;
    }
    friction_row_.push_back(static_cast<Index>(row - 1));
  }
  friction_ = {device, rows};
  member_friction_ = {device, friction_row_};
  member_clock_ = {device, clock_set_};
}

template <class Real>
void ObstacleTable<Real>::set_motions(const std::vector<Clock>& clocks, double h, int steps) {
  steps_ = steps;
  if (size() == 0 || shapes_->moving_obstacles.empty()) return;
  std::vector<Clock> distinct;
  std::vector<Index> sets;
  for (const Clock& clock : clocks) {
    std::size_t s = distinct.size();
    while (s > 0 && (distinct[s - 1].offset != clock.offset || distinct[s - 1].steps != clock.steps)) --s;
    if (s == 0) {
      distinct.push_back(clock);
      s = distinct.size();
    }
    sets.push_back(static_cast<Index>(s - 1));
  }
  if (sets != clock_set_) {
    clock_set_ = sets;
    member_clock_.upload(sets);
  }
  const std::size_t moving = shapes_->moving_obstacles.size(),
                    count = distinct.size() * static_cast<std::size_t>(steps) * moving;
  if (motions_.size() < count) motions_ = {*device_, count};
  motions_.write(count, staging_, [&](Placement<Real>* motions) {
    for (const Clock& clock : distinct)
      for (int n = 0; n < steps; ++n)
        for (const Index o : shapes_->moving_obstacles) {
          if (static_cast<std::size_t>(o) < shapes_->scene.obstacles.size())
            *motions =
                shapes_->placement(static_cast<std::size_t>(o), clock.time(h, n), clock.time(h, n + 1));
          ++motions;
        }
  });
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
ObstacleSets<Real> ObstacleTable<Real>::sets() const {
  if (size() == 0) return {};
  return {.shapes = shapes_->shapes.view(),
          .moving = shapes_->moving.view(),
          .resting = shapes_->resting.view(),
          .motions = motions_.view(),
          .friction = friction_.view(),
          .clocks = member_clock_.view(),
          .friction_rows = member_friction_.view(),
          .steps = steps_,
          .moving_count = static_cast<Index>(shapes_->moving_obstacles.size())};
}

template <class Real>
ObstaclesView<Real> ObstacleTable<Real>::view(std::size_t member, int step) const {
  if (size() == 0) return {};
  const std::size_t count = size(), moving = shapes_->moving_obstacles.size(),
                    first = static_cast<std::size_t>(clock_set_[member] * steps_ + step) * moving;
  return {.shapes = shapes_->shapes.view(),
          .moving = shapes_->moving.view(),
          .resting = shapes_->resting.view(),
          .motions = moving == 0 ? ArrayView<const Placement<Real>>{}
                                 : slice(motions_.view(), first, first + moving),
          .friction = slice(friction_.view(), static_cast<std::size_t>(friction_row_[member]) * count,
                            static_cast<std::size_t>(friction_row_[member] + 1) * count),
          .first_body = shapes_->scene.bodies.empty() ? ObstaclesView<Real>::no_body
                                                      : static_cast<Index>(shapes_->scene.obstacles.size())};
}

template <class Real>
std::size_t ObstacleTable<Real>::memory_bytes() const {
  return friction_.bytes() + motions_.bytes() + member_friction_.bytes() + member_clock_.bytes();
}

template struct ObstacleShapes<float>;
template struct ObstacleShapes<double>;
template class ObstacleTable<float>;
template class ObstacleTable<double>;

}  // namespace isocloth

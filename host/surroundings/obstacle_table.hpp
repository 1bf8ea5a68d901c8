// Obstacles and bodies in the memory of a device, and where they are in the steps to come.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/geometry/bounding_box.hpp"
#include "engine/model/contact_thickness.hpp"
#include "engine/model/scene.hpp"
#include "host/memory/buffer.hpp"
#include "host/solver/garment_solver.hpp"
#include "kernels/contact/obstacles.hpp"

namespace isocloth {

/// What of a scene's obstacles never changes; all solvers of a scene share it. Bodies are the obstacles after
/// those of the scene.
template <class Real>
struct ObstacleShapes {
  /// Throws SceneError as build_distance_grid and StartDepths do.
  ObstacleShapes(const Device& device, const Scene& scene);
  /// Notes which obstacles move after motions have changed, and that friction may have. Between steps.
  void refresh();
  int version = 0;  ///< number of times that it was refreshed

  const Scene& scene;
  std::vector<std::array<Vec3d, 2>> boxes;  ///< opposite corners in the obstacle's frame [m]
  std::vector<Index> moving_obstacles;      ///< numbers of the obstacles that move, ascending
  std::vector<double>
      start_depths;  ///< deepest point of each garment in any of them and their margin at the start [m]
  std::vector<std::string> notes;  ///< how surfaces were taken that are no closed ones, a line each
  std::vector<Buffer<float>> grids;
  std::vector<Buffer<Index>> blocks;  ///< of each grid
  Buffer<ShapeView<Real>> shapes;
  Buffer<Index> moving;
  Buffer<Placement<Real>> resting;

  std::size_t size() const { return boxes.size(); }
  /// Placement of obstacle o of the scene between two moments, as garments of a world see it.
  Placement<Real> placement(std::size_t o, Index world, const Moment& from, const Moment& to) const;
  /// Placement of any obstacle or body between two poses of its shape.
  Placement<Real> placement(std::size_t o, const Pose& begin, const Pose& end) const;
};

/// What several cloths meet in several steps: those of one clock see the same motions.
template <class Real>
class ObstacleTable {
 public:
  /// A table without obstacles.
  ObstacleTable() = default;
  /// `garments` of the scene, in the order of their clocks.
  ObstacleTable(const Device& device, std::shared_ptr<const ObstacleShapes<Real>> shapes,
                const std::vector<const Garment*>& garments);

  std::size_t size() const { return shapes_ ? shapes_->size() : 0; }
  int version() const { return shapes_ ? shapes_->version : 0; }  ///< see ObstacleShapes
  /// Sets where the obstacles are in the next `steps` steps of h [s].
  void set_motions(const std::vector<Clock>& clocks, double h, int steps);
  /// Sets where the bodies are in one of the steps of set_motions(), or in a part of it that is sought; shape
  /// [body].
  void set_bodies(std::size_t member, int step, const std::vector<Placement<Real>>& places);
  /// Sets where the obstacles of the scene that move are when the one step of set_motions() begins and ends,
  /// of the one member, whatever their motions say; shape [obstacle].
  void set_poses(ArrayView<const std::array<Pose, 2>> poses);
  /// Whether an obstacle that the only member meets moves within a box in one of the steps of set_motions(),
  /// with its clock.
  bool moves_within(const BoundingBox& box, const Clock& clock, double h, int step) const;
  /// The obstacles that a member meets in one of the steps of set_motions().
  ObstaclesView<Real> view(std::size_t member, int step) const;
  ObstacleSets<Real> sets() const;
  std::size_t memory_bytes() const;

 private:
  void set_friction();
  /// Sets what is left of depths in steps of these clocks; start: time at which each clock starts [s].
  void set_eases(const std::vector<Clock>& clocks, const std::vector<double>& starts, double h);

  const Device* device_ = nullptr;
  std::shared_ptr<const ObstacleShapes<Real>> shapes_;
  std::vector<const Garment*> garments_;
  int version_ = 0;                              ///< that of the shapes when friction was set
  std::vector<Index> friction_row_, clock_set_;  ///< row of friction_, and clock set, of each member
  int steps_ = 0;
  Buffer<FrictionView<Real>> friction_;  ///< friction of the cloths with the obstacles, shape [row, obstacle]
  Buffer<Placement<Real>> motions_;  ///< motions of the obstacles that move, shape [clock set, step, moving]
  Buffer<Index> member_friction_, member_clock_;
  std::vector<Index> worlds_;   ///< worlds of the members, shape [member]
  std::vector<double> starts_;  ///< times at which the clocks of members start [s], shape [member]
  /// What is left of depths in the steps, see ObstacleSets; empty: nothing is eased out.
  std::vector<Real> eases_;
  Buffer<Real> device_eases_;
  std::vector<Placement<Real>> staging_;
  std::vector<Real> ease_staging_;
};

}  // namespace isocloth

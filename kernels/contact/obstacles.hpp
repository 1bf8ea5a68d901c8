// Obstacles as the kernels see them.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

enum class ShapeKind : int { plane, capsule, box, cylinder, grid };

/// A shape in its own frame; see engine/shapes/obstacle.hpp. Sizes are those of the core: what is left when
/// every surface is moved inwards by `rounding`.
template <class Real>
struct ShapeView {
  ShapeKind kind = ShapeKind::plane;
  Vec3<Real> half{};  ///< box: half lengths; cylinder: (radius, -, half height); capsule: (-, -, half
                      ///< length), 0 of a sphere [m]
  Real rounding{};    ///< distance from the core to the surface [m]
  Real reach{};       ///< a point that moves no further in one go cannot leave on the other side [m]
  // Signed distances at the nodes of a grid, x fastest, those of its blocks after them.
  Vec3<Real> origin{};  ///< [m]
  Real cell{};          ///< [m]
  Index nodes[3] = {0, 0, 0};
  ArrayView<const float> distances;  ///< [m]
  /// Which cells are blocks, as in DistanceGrid::blocks; empty: none.
  ArrayView<const Index> blocks;

  ISOCLOTH_HD bool is_convex() const { return kind != ShapeKind::grid; }
};

/// Where a frame is: x = center + axes x_local.
template <class Real>
struct PoseView {
  Vec3<Real> center{};
  Vec3<Real> axes[3] = {};
};

/// An obstacle's motion within a step, and a box around all of it.
template <class Real>
struct Placement {
  PoseView<Real> begin, end;
  Vec3<Real> least{}, most{};  ///< [m]; a plane's box holds all but what lies above the box of its points
};

/// Static and dynamic coefficient of one garment and one obstacle.
template <class Real>
struct FrictionView {
  Real static_{}, dynamic{};
};

/// What one cloth meets in one step.
template <class Real>
struct ObstaclesView {
  ArrayView<const ShapeView<Real>> shapes;   ///< shape [obstacle]
  ArrayView<const Index> moving;             ///< number among those that move, -1: at rest; shape [obstacle]
  ArrayView<const Placement<Real>> resting;  ///< shape [obstacle]; of those that move unused
  ArrayView<const Placement<Real>> motions;  ///< motions in this step, shape [moving]
  ArrayView<const FrictionView<Real>> friction;  ///< shape [obstacle]
  /// Obstacles from here on are bodies: their motions are of the part of the step that is sought.
  Index first_body = no_body;
  /// What is left of depths at the start when the step begins and ends, see kernels/contact/easing.hpp; 0:
  /// none
  Real ease_begin{}, ease_end{};

  static constexpr Index no_body = 0x7fffffff;
  ISOCLOTH_HD std::size_t size() const { return shapes.size(); }
  ISOCLOTH_HD const Placement<Real>& placement(Index o) const {
    return moving[o] < 0 ? resting[o] : motions[moving[o]];
  }
};

/// What several cloths meet in several steps.
template <class Real>
struct ObstacleSets {
  ArrayView<const ShapeView<Real>> shapes;       ///< shape [obstacle]
  ArrayView<const Index> moving;                 ///< see ObstaclesView
  ArrayView<const Placement<Real>> resting;      ///< shape [obstacle]
  ArrayView<const Placement<Real>> motions;      ///< shape [clock, step, moving]
  ArrayView<const FrictionView<Real>> friction;  ///< shape [row, obstacle]
  ArrayView<const Index> clocks;                 ///< clock of each cloth, shape [cloth]
  ArrayView<const Index> friction_rows;          ///< row of `friction` of each cloth, shape [cloth]
  /// What is left of depths at the start before each step and after the last, shape [clock, steps + 1];
  /// empty: nothing is eased out.
  ArrayView<const Real> eases;
  Index steps = 0, moving_count = 0;

  ISOCLOTH_HD ObstaclesView<Real> of(std::size_t cloth, Index step) const {
    const std::size_t count = shapes.size(), moved = static_cast<std::size_t>(moving_count);
    const std::size_t first = static_cast<std::size_t>(clocks[cloth] * steps + step) * moved;
    const std::size_t row = static_cast<std::size_t>(friction_rows[cloth]) * count;
    const std::size_t ease = static_cast<std::size_t>(clocks[cloth] * (steps + 1) + step);
    return {shapes,
            moving,
            resting,
            slice(motions, first, first + moved),
            slice(friction, row, row + count),
            ObstaclesView<Real>::no_body,
            eases.empty() ? Real(0) : eases[ease],
            eases.empty() ? Real(0) : eases[ease + 1]};
  }
};

}  // namespace isocloth

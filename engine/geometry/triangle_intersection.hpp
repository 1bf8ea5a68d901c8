// Whether triangles touch, decided exactly on integers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// Points snapped to integers in [0, 2^40]: the longest side of their bounding box has 2^40 steps, so that
/// every determinant below stays within 128 bits. What is true of the snapped points is decided without
/// rounding.
class PointLattice {
 public:
  struct LatticePoint {
    std::int64_t x, y, z;
    auto operator<=>(const LatticePoint&) const = default;
  };

  /// Shape [point_count] >= 1, finite.
  explicit PointLattice(const std::vector<Vec3d>& points);

  const LatticePoint& lattice_point(Index point) const { return lattice_points_[point]; }
  double step() const { return step_; }  ///< [m]; 0 where all points lie together

  /// Height of the triangle a b c over its longest side [m].
  double height(Index a, Index b, Index c) const;

  /// A common point [m] (to within rounding) of two triangles that is no corner or side of both: none where
  /// they meet in shared corners or a shared side only. Triangles are named by their points; shared points
  /// are those of the same number. Both have a height > 0.
  std::optional<Vec3d> common_point(const std::array<Index, 3>& s, const std::array<Index, 3>& t) const;

 private:
  std::optional<Vec3d> common_point(Index p, Index q, const std::array<Index, 3>& t) const;
  Vec3d point(const LatticePoint& lattice_point) const;

  Vec3d low_;
  double step_ = 0;
  std::vector<LatticePoint> lattice_points_;
};

}  // namespace isocloth

// What a drape meter sees: the shadow, from above, of cloth that hangs over a round disc (Cusick 1968).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

struct DrapeMeter {
  Vec2d center;        ///< centre of the disc, seen from above [m]
  double disc = 0.09;  ///< radius of the disc [m], > 0
  /// Number of directions in which the edge of the shadow is looked for, >= 8.
  std::size_t directions = 720;
};

struct DrapeShadow {
  /// Distance of the outermost cloth from the center [m], in the directions 2 pi k / directions from x to y;
  /// the disc's radius where none is farther.
  std::vector<double> radii;
  /// Area of the shadow outside of the disc; what lies over other cloth counts once [m^2].
  double area = 0;
};

/// By rays from the center, each cut exactly: radii and area go continuously with positions. Faces with more
/// than three corners are fans from the first.
DrapeShadow drape_shadow(const Mesh& mesh, const std::vector<Vec3d>& positions, const DrapeMeter& meter);

/// Shadow of the region between the centre of the disc and a closed outline around it [m].
DrapeShadow drape_shadow(const std::vector<Vec2d>& outline, const DrapeMeter& meter);

/// Folds along an edge: how often, once around, the radii rise by `height` from a trough and fall by it from
/// the crest; `height` > 0 [m].
int count_folds(const std::vector<double>& radii, double height);

/// Radii of directions k, k + 1, ... turned by `turn` [rad], linearly in between: result[k] is the radius at
/// 2 pi k / count + turn.
std::vector<double> turned(const std::vector<double>& radii, double turn);

/// The turn [rad] of `radii` that makes the sum of squared differences from `other`, of as many directions,
/// least.
double best_turn(const std::vector<double>& radii, const std::vector<double>& other);

}  // namespace isocloth

// What constant matrices of bending leave out where cloth turns far from one triangle to the next.
//
// A matrix that is constant sees of an angle theta between two triangles the length of the difference of
// their normals, 4 sin^2(theta/2) = theta^2 - theta^4/12 in the place of its square: too little, and more so
// on coarse meshes. What a chain of bars of length h should count is theta^2 + theta^4/12: a smooth curve
// through its nodes is longer than the bars by theta^2/24, so that its curvature is theta/h less by as much,
// which makes theta^2 (1 - theta^2/24) of the energy, and a strip that is so much longer hangs by its weight
// as one that is softer by three times that, theta^2/8. Rows
//   C = 2 tan(theta/2) sin(theta/2) = theta^2/2 + ...
// of energy K C^2 / 2 with two thirds of the K of hinges (engine/rows/hinges.hpp) are the difference, and C^2
// = 4 tan^2(theta/2) - 4 sin^2(theta/2) beyond. Of order theta^4, so that it does not matter what hinges make
// of small bends. From tan(theta/2) = 2 on, 127 degrees, C is straight. Angles are from flat, as those of the
// matrices: theta_0 is not subtracted.
//
// K has kappa across the edge: by n = (cos t, sin t) along warp and weft kappa (cos^2 t + sqrt(r) sin^2 t)^2,
// that of a strip along n.
#pragma once

#include "engine/rows/hinges.hpp"

namespace isocloth {

struct LargeAngleRows : AngleRows {
  static constexpr Index law = RowLaw::large_angle;
  static constexpr double rest_value = 0;
  static bool are_asked(const AskedRows& by) {
    return by.fabric.large_angles && by.fabric.bending_stiffness > 0;
  }
  /// K of each row [J].
  static std::vector<double> stiffness(const RowSetup& setup, const std::vector<Index>& places,
                                       const Fabric& fabric);
};

}  // namespace isocloth

// Shapes of obstacles and bodies where the host can ask for distances, in double.
#pragma once

#include <vector>

#include "host/surroundings/obstacle_table.hpp"
#include "kernels/contact/obstacles.hpp"

namespace isocloth {

struct HostShapes {
  template <class Real>
  explicit HostShapes(const ObstacleShapes<Real>& shapes);
  HostShapes(const HostShapes&) = delete;
  HostShapes& operator=(const HostShapes&) = delete;

  std::vector<ShapeView<double>> views;  ///< of the obstacles, then of the bodies

  /// The unit vector out of shape o at x in its frame.
  Vec3d normal(std::size_t o, const Vec3d& x) const;

 private:
  std::vector<std::vector<float>> grids_;
  std::vector<std::vector<Index>> blocks_;  ///< of each grid
};

}  // namespace isocloth

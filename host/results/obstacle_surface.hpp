// What obstacles look like: triangles for pictures, not for contact.
#pragma once

#include <array>
#include <vector>

#include "engine/shapes/obstacle.hpp"

namespace isocloth {

/// Triangles in the frame of a shape, counter-clockwise seen from outside.
struct ObstacleSurface {
  std::vector<Vec3d> vertices;  ///< vertices of the triangles [m], shape [vertex_count]
  std::vector<std::array<Index, 3>> triangles;
};

/// Solids of revolution and boxes: closed, vertices on the true surface, 12 pieces per quarter turn (4 where
/// only an edge is round). Height fields: samples, at most 201 along a side, evenly left out, and walls down
/// to the lowest. Meshes: their faces; from 60,000 triangles on vertices are merged cell by cell. A plane: a
/// square of 10 m.
ObstacleSurface obstacle_surface(const ObstacleShape& shape);

}  // namespace isocloth

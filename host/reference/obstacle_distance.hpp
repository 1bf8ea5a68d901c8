// Signed distances from obstacles, and how deep a cloth lies in one: what contact is validated against.
#pragma once

#include <array>
#include <vector>

#include "engine/shapes/obstacle.hpp"

namespace isocloth::reference {

struct SignedDistance {
  double value = 0;  ///< distance from the surface [m], < 0 inside
  Vec3d gradient;    ///< unit gradient of the distance; where several points are nearest, that of any of them
};

/// Distances from one shape in its own frame, by the nearest point of its surface.
///
/// Solids with a core (sphere, capsule, cylinder, box) project on the core from outside and compare all of
/// its sides inside. Meshes ask all triangles (quads cut from corner 0 to 2) and are inside where the
/// generalised winding number (Jacobson et al. 2013, (5)) of their faces is beyond 1/2, to either side: of
/// closed parts, however they overlap and run, the solid that contact takes, of open ones about that, of
/// sheets nothing but `thicken`, which is subtracted; inside that is a bound only. Height fields are solid
/// without end below; each bilinear patch is 8 x 8 x 2 triangles, off by at most |z_00 + z_11 - z_01 - z_10|
/// / 256 per patch. Cost O(1), O(triangles) for meshes and height fields.
class ShapeDistance {
 public:
  struct Triangle {
    std::array<Vec3d, 3> corners;
    Vec3d center;
    double radius;  ///< radius of a sphere around the center that holds the triangle [m]
    Triangle(Vec3d a, Vec3d b, Vec3d c);
  };

  explicit ShapeDistance(const ObstacleShape& shape);
  SignedDistance at(Vec3d local) const;

 private:
  SignedDistance at_mesh(const MeshShape& shape, Vec3d p) const;
  SignedDistance at_height_field(const HeightFieldShape& shape, Vec3d p) const;

  ObstacleShape shape_;
  std::vector<Triangle> triangles_;  ///< triangles of meshes and height fields
};

/// Signed distances from an obstacle in the world at time t [s], see ShapeDistance.
class ObstacleDistance {
 public:
  explicit ObstacleDistance(const Obstacle& obstacle) : obstacle_(obstacle), shape_(obstacle.shape) {}
  SignedDistance at(Vec3d x, double t) const;

 private:
  Obstacle obstacle_;
  ShapeDistance shape_;
};

/// How deep the middle of a cloth lies in what it must not enter, the obstacle at time t grown by half the
/// thickness: largest of thickness / 2 - distance over a lattice of samples x samples points on every face,
/// corners included (bilinear on quads; half the lattice on triangles) [m]; negative: it keeps that much
/// away. `positions` [m], shape [node_count]; samples >= 2. Throws ShapeError where sizes do not fit.
double deepest_penetration(const Mesh& mesh, const std::vector<Vec3d>& positions,
                           const ObstacleDistance& obstacle, double t, double thickness, int samples = 8);

}  // namespace isocloth::reference

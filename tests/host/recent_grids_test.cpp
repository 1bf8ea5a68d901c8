#include "host/surroundings/recent_grids.hpp"

#include <gtest/gtest.h>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

/// A tetrahedron without its last face: an obstacle, but no rigid body.
MeshShape open_corner(double height) {
  MeshShape shape;
  shape.surface.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, height}};
  shape.surface.add_face({0, 2, 1});
  shape.surface.add_face({0, 1, 3});
  shape.surface.add_face({0, 3, 2});
  shape.cell = 0.05;
  return shape;
}

TEST(RecentGrids, EqualThoseThatAreBuilt) {
  for (int turn = 0; turn < 2; ++turn)
    for (const double height : {0.5, 0.6, 0.7, 0.8, 0.9, 1.0}) {  // more than are kept
      const MeshShape shape = open_corner(height);
      const DistanceGrid built = build_obstacle_grid(shape, "body"),
                         found = recent_grid(shape, false, "body", {});
      EXPECT_EQ(found.distances, built.distances) << height;
      EXPECT_EQ(found.blocks, built.blocks) << height;
      EXPECT_EQ(found.note, built.note) << height;
    }
}

TEST(RecentGrids, TellSurfacesApartByEveryNumber) {
  const MeshShape shape = open_corner(1);
  MeshShape thicker = shape, finer = shape;
  thicker.thicken = 0.01;
  finer.cell = 0.04;
  const DistanceGrid first = recent_grid(shape, false, "body", {});
  EXPECT_NE(recent_grid(thicker, false, "body", {}).distances, first.distances);
  EXPECT_NE(recent_grid(finer, false, "body", {}).distances.size(), first.distances.size());
  EXPECT_THROW(recent_grid(shape, true, "body", {}), SceneError);  // of a rigid body it must be closed
  EXPECT_EQ(recent_grid(shape, false, "body", {}).distances, first.distances);
}

}  // namespace
}  // namespace isocloth

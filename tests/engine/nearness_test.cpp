// Features of surfaces that are nearer to each other than the surfaces are thick.
#include <gtest/gtest.h>

#include "engine/geometry/intersection_search.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

using Positions = std::vector<Vec3d>;

Nearness near(const std::vector<const Mesh*>& meshes, const std::vector<Positions>& positions,
              double thickness, bool counts_open_seams = true) {
  IntersectionSearch::Spacing spacing;
  spacing.counts_open_seams = counts_open_seams;
  for (const Mesh* mesh : meshes) {
    spacing.thicknesses.push_back(thickness);
    spacing.rests.push_back(&mesh->positions);
  }
  return IntersectionSearch(meshes).find_near(positions, spacing);
}

Positions lifted(Positions positions, const Vec3d& way) {
  for (Vec3d& p : positions) p += way;
  return positions;
}

TEST(Nearness, FindsWhatLiesInOnePlane) {
  const Mesh mesh = quad_grid(5, 5, 1, 1);
  const std::vector<const Mesh*> two{&mesh, &mesh};
  const auto at = [&](const Vec3d& way) {
    return std::vector<Positions>{mesh.positions, lifted(mesh.positions, way)};
  };
  for (const double thickness : {0.0, 0.01}) {
    EXPECT_GT(near(two, at({0, 0, 0}), thickness).coincident_count, 0);
    const Nearness shifted = near(two, at({0.113, 0.071, 0}), thickness);
    EXPECT_GT(shifted.coincident_count, 0);
    ASSERT_EQ(shifted.coincident.size(), Crossings::most_named);
    for (const NearFeatures& pair : shifted.coincident) EXPECT_NE(pair.surfaces[0], pair.surfaces[1]);
    EXPECT_EQ(near(two, at({0, 0, 0.011}), thickness).coincident_count, 0);
    EXPECT_EQ(near({&mesh}, {mesh.positions}, thickness).coincident_count, 0);
  }
  // No node of either in the other.
  Mesh star;
  star.positions = {{0, 0, 0}, {1, 0, 0}, {0.5, 1, 0}};
  star.add_face({0, 1, 2});
  Positions turned;
  for (const Vec3d& p : star.positions) turned.push_back({1 - p.x, 0.7 - p.y, 0});
  EXPECT_EQ(near({&star, &star}, {star.positions, turned}, 0).coincident_count, 6);
  const auto world_apart = IntersectionSearch({&mesh, &mesh}, {0, 1})
                               .find_near(at({0, 0, 0}), {{0.01, 0.01}, {&mesh.positions, &mesh.positions}});
  EXPECT_EQ(world_apart.coincident_count + world_apart.near_count, 0);
}

TEST(Nearness, MeasuresWhatIsNearerThanItsThickness) {
  const Mesh mesh = quad_grid(5, 5, 1, 1);
  const auto lifted_by = [&](double height) {
    return near({&mesh, &mesh}, {mesh.positions, lifted(mesh.positions, {0.1, 0.05, height})}, 0.01);
  };
  const Nearness found = lifted_by(0.004);
  EXPECT_EQ(found.coincident_count, 0);
  EXPECT_GT(found.near_count, 20);
  EXPECT_NEAR(found.nearest.distance, 0.004, 1e-15);
  EXPECT_EQ(found.nearest.thickness, 0.01);
  EXPECT_EQ(lifted_by(0.0101).near_count, 0);
  // What is near in the rest shape keeps half of its distance there.
  EXPECT_EQ(near({&mesh}, {mesh.positions}, 0.3).near_count, 0);
  Positions folded = mesh.positions;
  for (Vec3d& p : folded)
    if (p.x > 0.6) p = {1.2 - p.x, p.y, 0.003};
  const Nearness fold = near({&mesh}, {folded}, 0.01);
  EXPECT_LT(fold.nearest.distance, 0.003 + 1e-12);
  EXPECT_GT(fold.nearest.distance, 0.002);  // beside the crease, where it slopes
}

TEST(Nearness, KnowsSeams) {
  Mesh mesh;  // two squares side by side, whose nodes coincide there
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}};
  mesh.add_face({0, 1, 2, 3});
  mesh.add_face({4, 5, 6, 7});
  EXPECT_GT(near({&mesh}, {mesh.positions}, 0.01).coincident_count, 0);
  EXPECT_EQ(near({&mesh}, {mesh.positions}, 0, false).coincident_count, 0);
  mesh.stitches = {{1, 4, 0.5}, {2, 7, 0.5}};
  EXPECT_EQ(near({&mesh}, {mesh.positions}, 0.01).coincident_count, 0);
}

}  // namespace
}  // namespace isocloth

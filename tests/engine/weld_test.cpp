#include "engine/mesh/weld.hpp"

#include <gtest/gtest.h>

#include "engine/mesh/generators.hpp"
#include "engine/mesh/validate.hpp"

namespace isocloth {
namespace {

/// Two sheets side by side, their borders `gap` apart, which no face joins.
Mesh halves(double gap) {
  Mesh mesh = quad_grid(4, 3, 0.3, 0.2);
  const Mesh right = mesh;
  for (const Vec3d& p : right.positions) mesh.positions.push_back(p + Vec3d{0.3 + gap, 0, 0});
  for (Index f = 0; f < right.face_count(); ++f) {
    std::vector<Index> nodes;
    for (const Index node : right.face(f)) nodes.push_back(node + right.node_count());
    mesh.add_face(nodes);
  }
  mesh.corner_uvs.insert(mesh.corner_uvs.end(), right.corner_uvs.begin(), right.corner_uvs.end());
  return mesh;
}

TEST(Weld, JoinsWhatLiesNear) {
  Mesh mesh = halves(1e-6);
  EXPECT_EQ(piece_count(mesh), 2);
  const OpenSeam seam = find_open_seam(mesh, 1e-3);
  EXPECT_EQ(seam.pair_count, 3);
  EXPECT_EQ(seam.a, 3);
  EXPECT_EQ(seam.b, 12);
  EXPECT_NEAR(seam.gap, 1e-6, 1e-12);
  const std::vector<Index> numbers = weld(mesh, 1e-5);
  EXPECT_EQ(mesh.node_count(), 21);
  EXPECT_EQ(numbers[3], 3);
  EXPECT_EQ(numbers[12], 3);
  EXPECT_EQ(numbers[13], 12);
  EXPECT_EQ(piece_count(mesh), 1);
  EXPECT_EQ(find_open_seam(mesh, 1e-3).pair_count, 0);
  EXPECT_EQ(mesh.positions[3], (Vec3d{0.3, 0, 0}));
  EXPECT_EQ(validate_mesh(mesh, "mesh"), 0);
}

TEST(Weld, LeavesWhatLiesApart) {
  Mesh mesh = halves(1e-3);
  EXPECT_EQ(find_open_seam(mesh, 1e-4).pair_count, 0);
  weld(mesh, 1e-4);
  EXPECT_EQ(mesh.node_count(), 24);
  mesh = halves(0);
  EXPECT_EQ(find_open_seam(mesh, 0).pair_count, 3);
}

TEST(Weld, DropsFacesThatHaveNoAreaLeft) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1e-9, 1, 0}, {-1, 1, 0}};
  mesh.add_face({0, 1, 3, 2});
  mesh.add_face({2, 3, 4});
  weld(mesh, 1e-6);
  ASSERT_EQ(mesh.face_count(), 1);
  EXPECT_EQ(mesh.face_size(0), 3);
}

TEST(MeanElementSize, IsTheSideOfASquare) {
  EXPECT_NEAR(mean_element_size(quad_grid(11, 11, 1, 1)), 0.1, 1e-12);
}

}  // namespace
}  // namespace isocloth

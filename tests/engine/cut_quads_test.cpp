// Where quads are cut in two triangles.
#include "engine/mesh/cut_quads.hpp"

#include <gtest/gtest.h>

#include <set>

#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

/// Node 0 or 1 of whose colour every cut begins: those through which cuts run, and those that none touches.
TEST(CutQuads, CutsOfAGridAlternate) {
  // Even and odd numbers of columns: the numbers of nodes alone do not tell.
  for (const Index columns : {6, 7}) {
    const Mesh mesh = quad_grid(columns, 5, 0.6, 0.5);
    const std::vector<std::size_t> corners = cut_corners(mesh);
    std::set<Index> touched;
    for (Index f = 0; f < mesh.face_count(); ++f) {
      const std::size_t k = corners[static_cast<std::size_t>(f)];
      touched.insert({mesh.face(f)[k], mesh.face(f)[k + 2]});
    }
    for (Index i = 0; i < mesh.node_count(); ++i) {
      const bool is_even = (i % columns + i / columns) % 2 == 0;
      EXPECT_EQ(touched.count(i), is_even ? 1u : 0u) << columns << " columns, node " << i;
    }
  }
}

TEST(CutQuads, TheShorterDiagonalCuts) {
  Mesh mesh = quad_grid(2, 2, 1, 1);
  const std::vector<std::size_t> square = cut_corners(mesh);
  for (const double shift : {0.1, -0.1}) {
    Mesh sheared = mesh;
    for (Vec3d& p : sheared.positions) p.x += shift * p.y;
    const std::size_t k = cut_corners(sheared)[0];
    const auto at = [&](std::size_t i) {
      return sheared.positions[static_cast<std::size_t>(sheared.face(0)[i])];
    };
    EXPECT_LT(norm(at(k + 2) - at(k)), norm(at((k + 3) % 4) - at(k + 1))) << shift;
  }
  EXPECT_EQ(square[0], 0u);
}

// Around a tube of seven quads no two colours alternate.
TEST(CutQuads, WhereNoTwoColoursDoTheFirstCornerCuts) {
  for (const std::size_t corner : cut_corners(tube(3, 7, 0.1, 0.2, FaceKind::quads))) EXPECT_EQ(corner, 0u);
  std::set<std::size_t> of_eight;
  for (const std::size_t corner : cut_corners(tube(3, 8, 0.1, 0.2, FaceKind::quads))) of_eight.insert(corner);
  EXPECT_EQ(of_eight.size(), 2u);
}

}  // namespace
}  // namespace isocloth

// Matchings of triangles.
#include "engine/mesh/triangle_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/mesh/generators.hpp"
#include "engine/rows/membrane.hpp"

namespace isocloth {
namespace {

std::vector<TrianglePair> pairs_of(const Mesh& mesh) {
  return triangle_pairs(mesh, build_topology(mesh),
                        std::vector<char>(static_cast<std::size_t>(mesh.face_count()), 0));
}

/// Front side up, of a flat mesh that has it so.
bool is_front(const Mesh& mesh, const std::array<Index, 3>& nodes) {
  const auto at = [&](std::size_t i) { return mesh.positions[static_cast<std::size_t>(nodes[i])]; };
  return cross(at(1) - at(0), at(2) - at(0)).z > 0;
}

void expect_matching(const Mesh& mesh, std::ptrdiff_t most_singles) {
  const std::vector<TrianglePair> pairs = pairs_of(mesh);
  std::vector<int> seen(static_cast<std::size_t>(mesh.face_count()), 0);
  for (const TrianglePair& pair : pairs) {
    for (int t = 0; t < 2; ++t) {
      const Index face = pair.faces[static_cast<std::size_t>(t)];
      if (t == 0 || face != pair.faces[0]) ++seen[static_cast<std::size_t>(face)];
      auto own = pair.triangle(t);
      EXPECT_TRUE(is_front(mesh, own));
      if (mesh.face_size(face) == 4) continue;
      std::vector<Index> of_face(mesh.face(face).begin(), mesh.face(face).end());
      std::ranges::sort(own);
      std::ranges::sort(of_face);
      EXPECT_TRUE(std::ranges::equal(own, of_face));
    }
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](int n) { return n == 1; }));
  EXPECT_LE(std::ranges::count_if(pairs, &TrianglePair::is_single), most_singles);
  EXPECT_EQ(pairs, pairs_of(mesh));
}

TEST(TrianglePairs, HaveEveryFaceOnce) {
  expect_matching(quad_grid(5, 4, 0.5, 0.4), 0);
  for (const Diagonals diagonals : {Diagonals::parallel, Diagonals::alternating})
    expect_matching(triangle_grid(9, 7, 0.5, 0.4, diagonals), 0);
  for (const unsigned seed : {1u, 2u, 3u}) expect_matching(irregular_triangles(16, 225, 0.5, 0.5, seed), 1);
  expect_matching(irregular_triangles(60, 3000, 0.5, 0.5, 1), 6);
}

TEST(TrianglePairs, OfAGridAreItsSquares) {
  for (const Diagonals diagonals : {Diagonals::parallel, Diagonals::alternating}) {
    const Mesh mesh = triangle_grid(9, 7, 0.4, 0.3, diagonals);
    for (const TrianglePair& pair : pairs_of(mesh)) {
      double length[2];
      for (std::size_t i : {0u, 1u}) {
        const Vec3d d = mesh.positions[static_cast<std::size_t>(pair.nodes[i + 2])] -
                        mesh.positions[static_cast<std::size_t>(pair.nodes[i])];
        length[i] = norm(d);
      }
      EXPECT_NEAR(length[0], std::sqrt(2) * 0.05, 1e-12);
      EXPECT_NEAR(length[1], length[0], 1e-12);
    }
  }
}

TEST(TrianglePairs, CutQuadsAlongTheShorterDiagonal) {
  Mesh mesh = quad_grid(2, 2, 1, 1);
  EXPECT_EQ(pairs_of(mesh).front().nodes[0], mesh.face(0)[0]);  // equal: from the first corner
  for (const std::size_t corner : {0u, 1u}) {
    Mesh longer = mesh;
    Vec3d& p = longer.positions[static_cast<std::size_t>(mesh.face(0)[corner])];
    p = p + 0.2 * (p - Vec3d{0.5, 0.5, 0});
    EXPECT_EQ(pairs_of(longer).front().nodes[0], mesh.face(0)[corner == 0 ? 1 : 0]);
  }
}

// Threads that turn at an edge are two pieces sewn: a welded seam is no place for a mean.
TEST(TrianglePairs, DoNotCrossAWeldedSeam) {
  Mesh mesh = triangle_grid(5, 3, 0.4, 0.2, Diagonals::parallel);
  for (Index f = 0; f < mesh.face_count(); ++f)
    for (Index c = mesh.face_begin[f]; c < mesh.face_begin[f + 1]; ++c) {
      Vec3d middle;
      for (const Index node : mesh.face(f)) middle += mesh.positions[static_cast<std::size_t>(node)];
      const Vec3d& p = mesh.positions[static_cast<std::size_t>(mesh.face_nodes[c])];
      if (middle.x > 3 * 0.2) mesh.corner_uvs[c] = {p.y, -p.x};
    }
  for (const TrianglePair& pair : pairs_of(mesh)) {
    double side[2];
    for (int t = 0; t < 2; ++t) {
      side[t] = 0;
      for (const Index node : pair.triangle(t)) side[t] += mesh.positions[static_cast<std::size_t>(node)].x;
    }
    EXPECT_EQ(side[0] > 0.6, side[1] > 0.6);
  }
}

// An odd strip leaves one triangle, which is a pair of itself.
TEST(TrianglePairs, KeepWhatIsLeftOver) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 2, 0}};
  mesh.add_face({0, 1, 2});
  mesh.add_face({1, 3, 2});
  mesh.add_face({2, 3, 4});
  const auto pairs = pairs_of(mesh);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(std::ranges::count_if(pairs, &TrianglePair::is_single), 1);
  for (const TrianglePair& pair : pairs) {
    const auto [a, b] = areas_of(mesh, pair);
    EXPECT_DOUBLE_EQ(a + b, pair.is_single ? 0.5 : 1);
  }
}

// Greedy choices leave triangles on both ends of a path, which is turned over.
TEST(TrianglePairs, AreAsManyAsThereCanBe) {
  Mesh mesh;  // a strip of four, of which the two in the middle make the best quad
  mesh.positions = {{0, 0, 0}, {0.2, 1, 0}, {1, 0, 0}, {1, 1, 0}, {2, 0.4, 0}, {-1, 0.4, 0}};
  mesh.add_face({0, 2, 1});
  mesh.add_face({1, 2, 3});
  mesh.add_face({2, 4, 3});
  mesh.add_face({5, 0, 1});
  for (const TrianglePair& pair : pairs_of(mesh)) EXPECT_FALSE(pair.is_single);
}

}  // namespace
}  // namespace isocloth

#include "engine/geometry/face_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

using Pairs = std::set<std::pair<Index, Index>>;

std::vector<Vec3d> shaken(const Mesh& mesh, double size, std::uint64_t seed) {
  Random random(seed);
  std::vector<Vec3d> positions = mesh.positions;
  for (Vec3d& p : positions)
    p += size * Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
  return positions;
}

BoundingBox box_of(const FaceTree::Triangle& t, const std::vector<Vec3d>& x, double margin) {
  BoundingBox box;
  for (const Index node : t.nodes) {
    const Vec3d& p = x[node];
    box.low = {std::min(box.low.x, p.x - margin), std::min(box.low.y, p.y - margin),
               std::min(box.low.z, p.z - margin)};
    box.high = {std::max(box.high.x, p.x + margin), std::max(box.high.y, p.y + margin),
                std::max(box.high.z, p.z + margin)};
  }
  return box;
}

TEST(FaceTree, HoldsEveryTriangleAndGivesEveryEdgeToOne) {
  for (const Mesh& mesh :
       {quad_grid(2, 2, 1, 1), quad_grid(7, 5, 1, 2), ring(4, 9, 0.2, 1, FaceKind::triangles),
        disc(4, 9, 1, FaceKind::quads), tank_top(400)}) {
    const FaceTree tree(mesh);
    std::map<Index, std::multiset<std::set<Index>>> expected, found;
    std::map<std::pair<Index, Index>, int> owners;
    for (Index f = 0; f < mesh.face_count(); ++f) {
      const auto nodes = mesh.face(f);
      expected[f].insert({nodes[0], nodes[1], nodes[2]});
      if (nodes.size() == 4) expected[f].insert({nodes[0], nodes[2], nodes[3]});
    }
    for (const FaceTree::Triangle& t : tree.triangles()) {
      found[t.face].insert({t.nodes[0], t.nodes[1], t.nodes[2]});
      for (unsigned k = 0; k < 3; ++k)
        owners[std::minmax(Index{t.nodes[k]}, Index{t.nodes[(k + 1) % 3]})] += t.owned_sides >> k & 1U;
    }
    EXPECT_EQ(found, expected);
    for (const auto& [edge, count] : owners) EXPECT_EQ(count, 1) << edge.first << " " << edge.second;
  }
}

TEST(FaceTree, FindsAllPairsOfOverlappingBoxesOnce) {
  const Mesh mesh = quad_grid(9, 8, 1, 1), other = ring(3, 12, 0.2, 0.6, FaceKind::triangles);
  const FaceTree tree(mesh), other_tree(other);
  const auto &t = tree.triangles(), &u = other_tree.triangles();
  for (const double margin : {0., 0.03}) {
    const std::vector<Vec3d> x = shaken(mesh, 0.2, 1), y = shaken(other, 0.1, 2);
    FaceTree::Boxes boxes, other_boxes;
    tree.fit(x, margin, boxes);
    other_tree.fit(y, margin, other_boxes);
    Pairs own, both, expected_own, expected_both;
    std::size_t visits = 0;
    tree.for_each_near_pair(boxes, [&](const FaceTree::Leaf& a, const FaceTree::Leaf& b) {
      own.insert(std::minmax(Index{a.triangle}, Index{b.triangle}));
      ++visits;
      EXPECT_TRUE(overlap(a.box, b.box));
    });
    EXPECT_EQ(own.size(), visits);
    visits = 0;
    tree.for_each_near_pair(boxes, other_tree, other_boxes,
                            [&](const FaceTree::Leaf& a, const FaceTree::Leaf& b) {
                              both.insert({a.triangle, b.triangle});
                              ++visits;
                            });
    EXPECT_EQ(both.size(), visits);
    for (std::size_t i = 0; i < t.size(); ++i) {
      const BoundingBox box = box_of(t[i], x, margin);
      for (std::size_t j = i + 1; j < t.size(); ++j)
        if (overlap(box, box_of(t[j], x, margin)))
          expected_own.insert({static_cast<Index>(i), static_cast<Index>(j)});
      for (std::size_t j = 0; j < u.size(); ++j)
        if (overlap(box, box_of(u[j], y, margin)))
          expected_both.insert({static_cast<Index>(i), static_cast<Index>(j)});
    }
    EXPECT_EQ(own, expected_own);
    EXPECT_EQ(both, expected_both);
  }
}

TEST(FaceTree, BoxesOfWhatIsNoNumberAreEmpty) {
  const Mesh mesh = quad_grid(3, 3, 1, 1);
  const FaceTree tree(mesh);
  std::vector<Vec3d> x = shaken(mesh, 0.3, 3);
  x[8].y = std::numeric_limits<double>::quiet_NaN();
  FaceTree::Boxes boxes;
  tree.fit(x, 0.1, boxes);
  EXPECT_EQ(boxes.size(), 2 * tree.triangles().size() - 1);
  tree.for_each_near_pair(boxes, [&](const FaceTree::Leaf& a, const FaceTree::Leaf& b) {
    for (const Index triangle : {a.triangle, b.triangle})
      for (const Index node : tree.triangles()[triangle].nodes) EXPECT_NE(node, 8);
  });
  EXPECT_TRUE(std::isfinite(boxes.front().high.y - boxes.front().low.y));
}

}  // namespace
}  // namespace isocloth

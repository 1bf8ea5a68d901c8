#include "engine/geometry/enclosure.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/random.hpp"
#include "tests/engine/closed_meshes.hpp"

namespace isocloth {
namespace {

using testing::box_mesh;

TEST(Enclosure, TellsInsideFromOutsideWhicheverWayFacesRun) {
  Mesh box = box_mesh({2, 2, 2}, 3);  // from -1 to 1
  Random random(5);
  std::vector<Vec3d> points{{0, 0, 0}, {0.5, 0, 0}};  // on diagonals and rims, too
  Index expected = 2;
  for (int i = 0; i < 2000; ++i) {
    const Vec3d p{random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5)};
    expected += std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}) < 1;
    points.push_back(p);
  }
  EXPECT_TRUE(is_watertight(box));
  for (int turn = 0; turn < 2; ++turn) {
    const Enclosed found = enclosed_points(box, box.positions, points);
    EXPECT_EQ(found.count, expected);
    EXPECT_EQ(found.deepest, 0);
    EXPECT_NEAR(found.depth, 1, 1e-12);
    std::reverse(box.face_nodes.begin(), box.face_nodes.end());  // quads all
  }
  Mesh open;
  open.positions = box.positions;
  for (Index f = 1; f < box.face_count(); ++f)
    open.add_face({box.face(f)[0], box.face(f)[1], box.face(f)[2], box.face(f)[3]});
  EXPECT_FALSE(is_watertight(open));
  EXPECT_EQ(enclosed_points(box, box.positions, {{5, 0, 0}}).count, 0);
}

}  // namespace
}  // namespace isocloth

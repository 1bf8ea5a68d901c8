#include "engine/geometry/passage_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/core/random.hpp"
#include "engine/geometry/intersection_search.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

using Positions = std::vector<Vec3d>;

Mesh triangle(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  Mesh mesh;
  mesh.positions = {a, b, c};
  mesh.add_face({0, 1, 2});
  return mesh;
}

Positions moved(const Positions& positions, const Vec3d& way) {
  Positions all;
  for (const Vec3d& p : positions) all.push_back(p + way);
  return all;
}

TEST(PassageSearch, FindsWhatIsApartBeforeAndAfter) {
  const Mesh lower = quad_grid(5, 5, 1, 1);
  Mesh upper = quad_grid(4, 4, 0.5, 0.5);
  upper.positions = moved(upper.positions, {0.21, 0.22, 0.1});
  PassageSearch search({&lower, &upper}, {}, {});
  const auto passages = [&](const Vec3d& way) {
    return search.find({lower.positions, upper.positions}, {lower.positions, moved(upper.positions, way)});
  };
  const Passages through = passages({0, 0, -0.4});
  EXPECT_TRUE(through.is_complete);
  EXPECT_GE(through.count, 16);  // nodes of the upper one
  ASSERT_EQ(through.first.size(), Passages::most_named);
  for (const Passage& passage : through.first) {
    EXPECT_NEAR(passage.time, 0.25, 1e-12);
    EXPECT_NEAR(passage.position.z, 0, 1e-12);
    EXPECT_NE(passage.surfaces[0], passage.surfaces[1]);
  }
  EXPECT_EQ(passages({0, 0, -0.09}).count, 0);
  EXPECT_EQ(passages({3, 0, 0}).count, 0);
  EXPECT_EQ(passages({0, 0, 1}).count, 0);
  // Both at once, as fast as each other.
  EXPECT_EQ(search
                .find({lower.positions, upper.positions},
                      {moved(lower.positions, {0, 0, -9}), moved(upper.positions, {0, 0, -9})})
                .count,
            0);
  EXPECT_FALSE(passages({0, 0, std::numeric_limits<double>::quiet_NaN()}).is_complete);
}

/// Volumes of pairs in one plane are rounding of either sign.
TEST(PassageSearch, AFlatSheetThatFallsFlatPassesNothing) {
  const Mesh mesh = quad_grid(9, 9, 0.4, 0.4);
  PassageSearch search({&mesh}, {}, {});
  Random random(1);
  const auto noise = [&random] { return 1 + random.uniform(-2, 2) * std::numeric_limits<double>::epsilon(); };
  const auto fallen = [&](int step) {
    Positions all = moved(mesh.positions, {-0.2, -0.2, 1.2 - 1.2e-4 * step * step});
    for (Vec3d& p : all)  // as steps leave it
      p = {p.x * noise(), p.y * noise(), p.z * noise()};
    return all;
  };
  Positions before = fallen(0);
  for (int step = 1; step <= 200; ++step) {
    const Positions after = fallen(step);
    EXPECT_EQ(search.find({before}, {after}).count, 0) << step;
    before = after;
  }
}

TEST(PassageSearch, FindsAWayInAndOutAgain) {
  // A corner that dips through a triangle which meanwhile turns over: two roots within one step.
  const Mesh face = triangle({-1, -1, 0}, {1, -1, 0}, {0, 1, 0}),
             other = triangle({0, 0, 0.1}, {5, 0, 5}, {5, 1, 5});
  PassageSearch search({&face, &other}, {}, {});
  const Positions turned{{-1, -1, 0.4}, {1, -1, 0.4}, {0, 1, -0.4}};
  const Positions away{{0, -0.9, 0.1}, {5, 0, 5}, {5, 1, 5}};
  const Passages found = search.find({face.positions, other.positions}, {turned, away});
  ASSERT_GT(found.count, 0);
  EXPECT_GT(found.first[0].time, 0);
  EXPECT_LT(found.first[0].time, 1);
}

/// Whatever a search of many states between finds crossing where neither end does has passed.
TEST(PassageSearch, FindsWhatStatesBetweenShow) {
  Random random(3);
  const auto point = [&] { return Vec3d{random.uniform(), random.uniform(), random.uniform()}; };
  int passing = 0;
  for (int i = 0; i < 2000; ++i) {
    const Mesh one = triangle(point(), point(), point()), other = triangle(point(), point(), point());
    const Positions to{point(), point(), point()}, other_to{point(), point(), point()};
    PassageSearch search({&one, &other}, {}, {});
    const auto crosses = [&](double t) {
      IntersectionSearch exact({&one, &other});
      std::vector<Positions> at(2);
      for (std::size_t k = 0; k < 3; ++k) {
        at[0].push_back((1 - t) * one.positions[k] + t * to[k]);
        at[1].push_back((1 - t) * other.positions[k] + t * other_to[k]);
      }
      return exact.find(at).crossing.count > 0;
    };
    const Passages found = search.find({one.positions, other.positions}, {to, other_to});
    bool any = false, all = true;
    for (int k = 0; k <= 50; ++k) {
      const bool is_crossing = crosses(k / 50.0);
      any = any || is_crossing;
      all = all && is_crossing;
    }
    if (any && !all) {
      EXPECT_GT(found.count, 0) << i;
      ++passing;
    }
    for (const Passage& passage : found.first)  // just before and after, states differ
      EXPECT_TRUE(crosses(passage.time - 1e-6) || crosses(passage.time + 1e-6)) << i;
  }
  EXPECT_GT(passing, 500);
}

}  // namespace
}  // namespace isocloth

#include "engine/geometry/surface_solid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"
#include "engine/geometry/triangle_soup.hpp"
#include "engine/geometry/winding_number.hpp"
#include "tests/engine/closed_meshes.hpp"
#include "tests/engine/mesh_measures.hpp"
#include "tests/support/nasty_bodies.hpp"

namespace isocloth {
namespace {

using namespace testing;

std::vector<TriangleCorners> corners_of(const TriangleSoup& soup) {
  std::vector<TriangleCorners> corners;
  for (std::size_t t = 0; t < soup.triangles.size(); ++t)
    corners.push_back(soup.corners(static_cast<Index>(t)));
  return corners;
}
Vec3d random_in(Random& random, double half) {
  const double x = random.uniform(-half, half), y = random.uniform(-half, half);
  return {x, y, random.uniform(-half, half)};
}

// The sum over all triangles is the reference of the tree of dipoles.
TEST(WindingNumber, IsTheSumOfSolidAngles) {
  Random random(1);
  for (const Mesh& mesh : {torus_mesh(48, 24, 0.3, 0.1), open_head_mesh(), sheet_mesh(), hand_mesh()}) {
    const std::vector<TriangleCorners> corners = corners_of(make_soup(mesh));
    const WindingNumber winding(corners);
    for (int n = 0; n < 400; ++n) {
      const Vec3d p = random_in(random, 0.5);
      double sum = 0;
      for (const TriangleCorners& c : corners) sum += winding_of(c, p);
      ASSERT_NEAR(winding.at(p), sum, 0.06);
    }
  }
}

TEST(WindingNumber, IsWholeOfClosedSurfacesAndHalfOnThem) {
  const TriangleCorners below{Vec3d{0, 0, 0}, {0, 1, 0}, {1, 0, 0}};
  EXPECT_NEAR(winding_of(below, {0.25, 0.25, 1e-9}), 0.5, 1e-6);
  EXPECT_NEAR(winding_of(below, {0.25, 0.25, -1e-9}), -0.5, 1e-6);
  const std::vector<TriangleCorners> corners = corners_of(make_soup(octasphere(3)));
  const WindingNumber winding(corners);
  EXPECT_NEAR(winding.at({0.1, 0.2, -0.3}), 1, 0.06);
  EXPECT_NEAR(winding.at({1.5, 0.2, -0.3}), 0, 0.06);
  for (Index t = 0; t < 40; ++t) {
    const auto& [a, b, c] = corners[t];
    EXPECT_NEAR(winding.at((1.0 / 3) * (a + b + c), t), 0.5, 0.06);
  }
}

TEST(TriangleSoup, LeavesOutWhatIsFlatOrTwice) {
  const TriangleSoup soup = make_soup(dirty_mesh());
  EXPECT_EQ(soup.flat, 8);
  EXPECT_EQ(soup.turned, 0);
  EXPECT_EQ(soup.piece_count, 1) << "seams of nodes at one place are closed";
  Mesh twice = box_mesh({1, 1, 1}, 1);
  append_mesh(twice, box_mesh({1, 1, 1}, 1));
  EXPECT_EQ(make_soup(twice).triangles.size(), 12u);
  // Drawn from both sides: a sheet.
  Mesh both = sheet_mesh();
  append_mesh(both, turned_inside_out(sheet_mesh()));
  EXPECT_EQ(make_soup(both).triangles.size(), 288u);
}

TEST(TriangleSoup, TakesAwayWallsBetweenSolids) {
  Mesh two = box_mesh({1, 1, 1}, 1);
  Mesh next = box_mesh({1, 1, 1}, 1);
  for (Vec3d& x : next.positions) x.x += 1;
  append_mesh(two, next);
  const TriangleSoup soup = make_soup(two);
  EXPECT_EQ(soup.triangles.size(), 20u);
  EXPECT_EQ(soup.piece_count, 1);
}

TEST(TriangleSoup, TurnsTheSmallerPartOfAPiece) {
  const TriangleSoup soup = make_soup(polygons_mesh());
  EXPECT_EQ(soup.turned, 2);
  EXPECT_EQ(soup.triangles.size(), 44u);
}

/// Whether a point lies in one of the solids that a body of closed pieces is made of: by the winding number
/// of each alone.
bool is_in_any(const std::vector<Mesh>& solids, Vec3d p) {
  for (const Mesh& solid : solids) {
    double sum = 0;
    for (const TriangleCorners& c : corners_of(make_soup(solid))) sum += winding_of(c, p);
    if (std::abs(sum) > 0.5) return true;
  }
  return false;
}

TEST(SurfaceSolid, IsTheUnionOfClosedPieces) {
  Random random(2);
  const Mesh ball = ball_mesh({}, 0.1), other = ball_mesh({0.25, 0, 0}, 0.08),
             eye = ball_mesh({0.06, 0.06, 0}, 0.03);
  Mesh all = ball;
  append_mesh(all, turned_inside_out(other));
  append_mesh(all, eye);
  append_mesh(all, ball_mesh({0.01, 0, 0.02}, 0.05));  // within the first
  const SurfaceSolid solid(all, "surface");
  int inside = 0;
  for (int n = 0; n < 2000; ++n) {
    const Vec3d p = random_in(random, 0.35);
    ASSERT_EQ(solid.is_inside(p), is_in_any({ball, other, eye}, p)) << n;
    inside += solid.is_inside(p);
  }
  EXPECT_GT(inside, 20);
  EXPECT_NE(solid.changes().find("528 triangles turned"), std::string::npos) << solid.changes();
  for (const BoundingTriangle& t : solid.triangles())
    EXPECT_GT(norm(t.corners[0] - Vec3d{0.01, 0, 0.02}), 0.051);
}

// In a corner, along an edge, over a part of a face: nothing to weld, nothing to draw apart.
TEST(SurfaceSolid, TakesSolidsThatTouch) {
  for (const Vec3d& way : {Vec3d{1, 1, 1}, {1, 1, 0}, {1, 0.3, 0.2}, {0.6, 0.3, 0.2}, {1, 0, 0}}) {
    Mesh two = box_mesh({1, 1, 1}, 1), next = two;
    for (Vec3d& x : next.positions) x += way;
    append_mesh(two, next);
    const SurfaceSolid solid(two, "surface");
    EXPECT_FALSE(solid.has_sheets());
    Random random(3);
    for (int n = 0; n < 200; ++n) {
      const Vec3d p = random_in(random, 1.5);
      const auto in_box = [&](Vec3d q) {
        return std::max({std::abs(q.x), std::abs(q.y), std::abs(q.z)}) < 0.5;
      };
      EXPECT_EQ(solid.is_inside(p), in_box(p) || in_box(p - way));
    }
  }
}

TEST(SurfaceSolid, ClosesHolesOfBodies) {
  const SurfaceSolid solid(open_head_mesh(), "surface");
  EXPECT_EQ(solid.changes(), "3 holes closed");
  EXPECT_FALSE(solid.has_sheets());
  EXPECT_TRUE(solid.is_inside({}));
  EXPECT_TRUE(solid.is_inside({0, 0, -0.075})) << "just within the neck";
  EXPECT_FALSE(solid.is_inside({0, 0, -0.09})) << "beyond the neck";
  EXPECT_FALSE(solid.is_inside({0, 0.11, 0.03}));
}

TEST(SurfaceSolid, TakesWhatEnclosesNothingAsSheets) {
  const SurfaceSolid sheet(sheet_mesh(), "surface");
  EXPECT_FALSE(sheet.has_solid());
  EXPECT_FALSE(sheet.is_inside({0, 0, 0.02}));
  // A body with a sheet beside it, and half a ball, which is one.
  Mesh both = ball_mesh({}, 0.1);
  Mesh bowl = without_faces(ball_mesh({0.3, 0, 0}, 0.1), [](Vec3d x) { return x.z > 0; });
  append_mesh(both, bowl);
  const SurfaceSolid solid(both, "surface");
  EXPECT_TRUE(solid.has_solid() && solid.has_sheets());
  EXPECT_TRUE(solid.is_inside({0.02, 0, 0}));
  EXPECT_FALSE(solid.is_inside({0.3, 0, -0.05})) << "in the bowl";
}

TEST(SurfaceSolid, MeasuresWalls) {
  const SurfaceSolid fingers(hand_mesh(), "surface");
  int thin = 0;
  for (const BoundingTriangle& t : fingers.triangles()) thin += t.thickness > 0.0065 && t.thickness < 0.0085;
  EXPECT_GT(thin, 50);
  EXPECT_EQ(refusal_of([] {
              Mesh flat;
              flat.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
              flat.add_face({0, 1, 2});
              SurfaceSolid(flat, "body.surface");
            }),
            "body.surface: found no face with an area, expected a surface; is its scale right?");
}

}  // namespace
}  // namespace isocloth

#include "engine/geometry/closed_surface.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <regex>

#include "engine/core/random.hpp"
#include "engine/geometry/triangle_intersection.hpp"
#include "engine/mesh/weld.hpp"
#include "tests/engine/closed_meshes.hpp"
#include "tests/engine/mesh_measures.hpp"

namespace isocloth {
namespace {

using testing::append;
using testing::bent_mesh;
using testing::box_mesh;
using testing::octasphere;
using testing::torus_mesh;
using testing::turned;

/// Without what it says of numbers, which it does where there are any.
std::string refusal(const Mesh& mesh) {
  std::string found = testing::refusal_of([&] { check_closed_surface(mesh, "body"); });
  const std::string numbering = " (nodes and faces are counted from 0)";
  const bool has_number = std::regex_search(found, std::regex("(node|face|edge)s? [0-9]"));
  EXPECT_EQ(found.ends_with(numbering), has_number) << found;
  if (has_number) found.resize(found.size() - numbering.size());
  return found;
}

/// The mesh without some faces.
Mesh without(const Mesh& mesh, const std::vector<Index>& gone) {
  Mesh result;
  result.positions = mesh.positions;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    if (std::find(gone.begin(), gone.end(), f) != gone.end()) continue;
    result.add_face(std::vector<Index>(mesh.face(f).begin(), mesh.face(f).end()));
  }
  return result;
}

const Vec3d unit{1, 1, 1};

Mesh tetrahedron() {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (const auto& face : std::vector<std::vector<Index>>{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}) {
    mesh.add_face(face);
  }
  return mesh;
}

TEST(CheckClosedSurface, AcceptsSolids) {
  EXPECT_EQ(refusal(tetrahedron()), "accepted");
  EXPECT_EQ(refusal(box_mesh(unit, 1)), "accepted");
  EXPECT_EQ(refusal(box_mesh({3, 1e-3, 2}, 5)), "accepted");
  EXPECT_EQ(refusal(octasphere(4)), "accepted");
  EXPECT_EQ(refusal(torus_mesh(40, 20, 1, 0.3)), "accepted");
  EXPECT_EQ(refusal(bent_mesh(60, 30)), "accepted");
}

TEST(CheckClosedSurface, AcceptsSeveralPiecesAndHollows) {
  Mesh mesh = box_mesh({3, 3, 3}, 2);
  append(mesh, turned(octasphere(2)), {});         // a hollow
  append(mesh, box_mesh({0.5, 0.5, 0.5}, 1), {});  // in which a box floats
  append(mesh, octasphere(1), {4, 0.3, 0.1});
  EXPECT_EQ(refusal(mesh), "accepted");
}

TEST(CheckClosedSurface, RefusesArraysThatAreNoSurface) {
  EXPECT_EQ(refusal({}),
            "body: the surface has too few faces: found 0, expected at least 4; a solid has no fewer, "
            "give a closed surface");
  EXPECT_EQ(refusal(without(tetrahedron(), {1})),
            "body: the surface has too few faces: found 3, expected at least 4; a solid has no fewer, give a "
            "closed "
            "surface");
  Mesh mesh = tetrahedron();
  mesh.positions[2].y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(mesh), "body: node 2 is nowhere: found (0 nan 0), expected finite numbers; repair it");
  mesh = tetrahedron();
  mesh.face_begin[4] = 11;
  EXPECT_EQ(
      refusal(mesh),
      "body: face_begin does not fit face_nodes: found 0 .. 11, expected 0 .. 12; build faces with add_face");
  mesh.face_begin = {0, 2, 6, 9, 12};
  EXPECT_EQ(refusal(mesh),
            "body: face 0 is no triangle or quad: found 2 corners, expected 3 or 4; split the face");
  mesh = tetrahedron();
  mesh.face_nodes[4] = 9;
  EXPECT_EQ(
      refusal(mesh),
      "body: face 1 names a node that does not exist: found nodes 0 9 3, expected 0 to 3; repair the face");
  mesh = tetrahedron();
  mesh.face_nodes[4] = 3;
  EXPECT_EQ(refusal(mesh),
            "body: face 1 repeats node 3: found nodes 0 3 3, expected distinct nodes; delete the face");
  mesh = tetrahedron();
  mesh.positions.resize(6);
  EXPECT_EQ(refusal(mesh),
            "body: node 4 belongs to no face, as do 1 others: expected every node in use; delete them");
  mesh = tetrahedron();
  for (Vec3d& x : mesh.positions) x = 1e7 * x;
  EXPECT_EQ(refusal(mesh),
            "body: the surface has no size to work with: found 10000000 m along the longest side of its box, "
            "expected "
            "1e-06 to 1000000 m; scale it to metres");
  for (Vec3d& x : mesh.positions) x = unit;
  EXPECT_EQ(refusal(mesh),
            "body: the surface has no size to work with: found 0 m along the longest side of its box, "
            "expected 1e-06 "
            "to 1000000 m; scale it to metres");
}

TEST(CheckClosedSurface, RefusesOpenSurface) {
  EXPECT_EQ(refusal(without(box_mesh({2, 2, 2}, 1), {3})),
            "body: the surface is open: found 4 edges with one face only, first edge 2 3 of face 0 at (-1 1 "
            "0), expected "
            "two faces at every edge; close the holes: 1 curve of such edges");
}

TEST(CheckClosedSurface, TellsSeamsFromHoles) {
  // Each side of the cube with nodes of its own, as files with texture coordinates bring them.
  const auto parted = [](double gap) {
    const Mesh box = box_mesh({2, 2, 2}, 1);
    Mesh mesh;
    for (Index f = 0; f < box.face_count(); ++f) {
      std::vector<Index> nodes;
      for (const Index node : box.face(f)) {
        nodes.push_back(mesh.node_count());
        mesh.positions.push_back(box.positions[node] + (f == 3 ? Vec3d{0, gap, 0} : Vec3d{}));
      }
      mesh.add_face(nodes);
    }
    return mesh;
  };
  EXPECT_EQ(refusal(parted(0)),
            "body: nodes 0 and 8 lie at one place, (-1 -1 -1): found 16 nodes on top of others, expected one "
            "node per "
            "place; weld them: set weld to 1.90734863e-06 m");
  Mesh near = box_mesh({2, 2, 2}, 1);  // one node doubled at one face, a hair away
  near.positions.push_back(near.positions[0] + Vec3d{1e-8, 1e-8, 1e-8});
  near.face_nodes[0] = 8;
  EXPECT_NE(refusal(near).find("set weld to 1.90734863e-06 m, which unites 1 nodes with others that nearly "
                               "coincide, such as 0 and 8, 1.732050"),
            std::string::npos)
      << refusal(near);
  weld(near, 1.90734863e-06);
  EXPECT_EQ(refusal(near), "accepted");
  Mesh sides = parted(0);
  weld(sides, 1.90734863e-06);
  EXPECT_EQ(refusal(sides), "accepted");
}

TEST(CheckClosedSurface, AdvisesWeldOnlyWhereItHelps) {
  Mesh mesh = octasphere(0);
  append(mesh, octasphere(0), {2, 0, 0});  // corner on corner, each a node of its own
  const std::string found = refusal(mesh);
  EXPECT_NE(found.find(" lie at one place, (1 0 0)"), std::string::npos) << found;
  EXPECT_EQ(found.find("weld to"), std::string::npos) << found;
  EXPECT_NE(found.find("draw apart what touches there, or make each solid an obstacle of its own"),
            std::string::npos)
      << found;
}

TEST(CheckClosedSurface, RefusesEdgeOfManyFaces) {
  Mesh mesh = box_mesh({2, 2, 2}, 1);
  mesh.add_face({0, 6, 2});
  EXPECT_NE(refusal(mesh).find(" belongs to too many faces: found 3 (faces "), std::string::npos)
      << refusal(mesh);
  EXPECT_NE(refusal(mesh).find(", expected 2; delete faces inside of the solid or part it"),
            std::string::npos);
}

TEST(CheckClosedSurface, RefusesTurnedFace) {
  Mesh mesh = box_mesh({2, 2, 2}, 1);
  std::reverse(mesh.face_nodes.begin() + 8, mesh.face_nodes.begin() + 12);
  const std::string found = refusal(mesh);
  EXPECT_EQ(found.find("body: faces "), 0u) << found;
  EXPECT_NE(found.find(" run through their edge "), std::string::npos) << found;
  EXPECT_NE(
      found.find(
          "the same way: expected opposite ways, all faces counter-clockwise seen from outside; turn one "
          "of them"),
      std::string::npos)
      << found;
  EXPECT_NE(found.find(" 2 "), std::string::npos) << "names face 2: " << found;
}

TEST(CheckClosedSurface, RefusesSurfaceInsideOut) {
  EXPECT_EQ(refusal(turned(box_mesh({2, 2, 2}, 3))),
            "body: all faces run the wrong way: found a volume of -8 m^3, expected one > 0, faces "
            "counter-clockwise "
            "seen from outside; turn all faces");
}

TEST(CheckClosedSurface, RefusesPiecesThatDoNotFit) {
  Mesh mesh = box_mesh({2, 2, 2}, 1);
  append(mesh, turned(octasphere(0)), {5, 0, 0});
  EXPECT_EQ(refusal(mesh),
            "body: the piece of face 6 (8 of 14 faces) runs the wrong way: expected faces "
            "counter-clockwise seen from outside; turn its faces");
  mesh = box_mesh({4, 4, 4}, 1);
  append(mesh, octasphere(0), {});
  EXPECT_EQ(refusal(mesh),
            "body: the piece of face 6 (8 of 14 faces) lies within another piece: expected nothing "
            "before a face; delete it, or turn its faces if it bounds a hollow");
}

TEST(CheckClosedSurface, RefusesPiecesThatMeetInOneNode) {
  Mesh mesh = tetrahedron();
  Mesh other = tetrahedron();
  append(mesh, turned(other), {});
  for (std::size_t k = 5; k < 8; ++k) mesh.positions[k] = -mesh.positions[k];
  for (Index& node : mesh.face_nodes) node = node == 4 ? 0 : node > 4 ? node - 1 : node;
  mesh.positions.erase(mesh.positions.begin() + 4);
  EXPECT_EQ(refusal(mesh),
            "body: node 0 joins parts that meet in it alone: found 6 faces of which 3 follow each other, "
            "expected a single ring; duplicate the node and draw the parts apart");
}

TEST(CheckClosedSurface, RefusesFaceWithoutArea) {
  Mesh mesh = tetrahedron();
  mesh.positions[3] = {0.3, 0, 0};
  EXPECT_EQ(
      refusal(mesh),
      "body: face 1 (nodes 0 1 3) has no area: found nodes 0, 1 and 3 on a line, to within 0 m, expected at "
      "least 7.27595762e-12 m; delete the face or merge nodes");
}

TEST(CheckClosedSurface, RefusesIntersectingFaces) {
  Mesh mesh = box_mesh({2, 2, 2}, 1);
  append(mesh, octasphere(0), {1.5, 0.1, 0.05});  // two solids that overlap
  std::string found = refusal(mesh);
  EXPECT_NE(found.find(") touch or intersect at ("), std::string::npos) << found;
  EXPECT_NE(
      found.find(
          "expected faces that meet in shared nodes only; remove the overlap: unite overlapping solids, or "
          "make each an obstacle of its own"),
      std::string::npos)
      << found;

  mesh = box_mesh({2, 2, 2}, 1);
  append(mesh, box_mesh({1, 1, 1}, 1), {1.5, 0, 0});  // side on side
  EXPECT_NE(refusal(mesh).find("touch or intersect"), std::string::npos);

  mesh = box_mesh({2, 2, 2}, 1);
  append(mesh, box_mesh({1, 1, 1}, 1), {1.5 + 1e-9, 0, 0});  // as good as, but not
  EXPECT_EQ(refusal(mesh), "accepted");

  mesh = octasphere(3);
  for (std::size_t k = 0; k < mesh.positions.size(); ++k) {
    if (mesh.positions[k].z > 0.999)
      mesh.positions[k].z = -1.3;  // the pole is pulled out through the other side
  }
  EXPECT_NE(refusal(mesh).find("touch or intersect"), std::string::npos) << refusal(mesh);

  mesh = tetrahedron();
  mesh.positions[3] = {0.3, 0.3, 0};  // all in one plane
  EXPECT_NE(refusal(mesh).find("touch or intersect"), std::string::npos) << refusal(mesh);
}

/// A convex polygon with whole coordinates.
__extension__ using Wide = __int128;
struct WholePoint {
  Wide x, y, z;
  friend WholePoint operator-(WholePoint a, WholePoint b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
};
WholePoint whole_cross(WholePoint a, WholePoint b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Whether two flat convex polygons have a point in common: no axis separates them.
bool polygons_touch(const std::vector<WholePoint>& a, const std::vector<WholePoint>& b) {
  const auto sides = [](const std::vector<WholePoint>& p) {
    std::vector<WholePoint> result;
    for (std::size_t k = 0; k < p.size(); ++k) result.push_back(p[(k + 1) % p.size()] - p[k]);
    return result;
  };
  std::vector<WholePoint> axes{whole_cross(a[1] - a[0], a[2] - a[0]), whole_cross(b[1] - b[0], b[2] - b[0])};
  const std::vector<WholePoint> normals = axes;
  for (const WholePoint& s : sides(a)) {
    for (const WholePoint& t : sides(b)) axes.push_back(whole_cross(s, t));
    for (const WholePoint& n : normals) axes.push_back(whole_cross(s, n));
  }
  for (const WholePoint& t : sides(b)) {
    for (const WholePoint& n : normals) axes.push_back(whole_cross(t, n));
  }
  for (const WholePoint& axis : axes) {
    const auto reach = [&](const std::vector<WholePoint>& p) {
      Wide low = 0, high = 0;
      for (std::size_t k = 0; k < p.size(); ++k) {
        const Wide along = p[k].x * axis.x + p[k].y * axis.y + p[k].z * axis.z;
        low = k == 0 || along < low ? along : low;
        high = k == 0 || along > high ? along : high;
      }
      return std::pair{low, high};
    };
    const auto [low_a, high_a] = reach(a);
    const auto [low_b, high_b] = reach(b);
    if (high_a < low_b || high_b < low_a) return false;
  }
  return true;
}

TEST(PointLattice, AgreesWithSeparatingAxes) {
  // Corners on a lattice of 5^3 places: half of all pairs touch, many in corners, sides and planes.
  constexpr int scale = 1 << 12;  // shared features are cut off at 2^-12 of the way to the other corners
  Random random(5);
  std::array<std::array<int, 2>, 3> counts{};
  for (int trial = 0; trial < 60000; ++trial) {
    const int shared = trial % 3;
    std::vector<Vec3d> points{{0, 0, 0}, {8, 8, 8}};  // fixes the step
    for (int k = 0; k < 6; ++k) {
      points.push_back({std::floor(random.uniform(0, 5)), std::floor(random.uniform(0, 5)),
                        std::floor(random.uniform(0, 5))});
    }
    const std::array<Index, 3> s{2, 3, 4}, t{shared > 0 ? 2 : 5, shared > 1 ? 3 : 6, 7};
    const PointLattice lattice(points);
    if (!(lattice.height(s[0], s[1], s[2]) > 0) || !(lattice.height(t[0], t[1], t[2]) > 0)) continue;
    const auto whole = [&](Index k, Index towards) {
      const auto along = [](double x, double y) {
        return static_cast<int>(x) * (scale - 1) + static_cast<int>(y);
      };
      const Vec3d p = points[k], q = points[towards];
      return WholePoint{along(p.x, q.x), along(p.y, q.y), along(p.z, q.z)};
    };
    const std::vector<WholePoint> first{whole(2, 2), whole(3, 3), whole(4, 4)};
    std::vector<WholePoint> second{whole(t[0], t[0]), whole(t[1], t[1]), whole(t[2], t[2])};
    if (shared == 1) second = {whole(t[0], t[1]), whole(t[1], t[1]), whole(t[2], t[2]), whole(t[0], t[2])};
    if (shared == 2) second = {whole(t[0], t[2]), whole(t[1], t[2]), whole(t[2], t[2])};
    const bool expected = polygons_touch(first, second);
    EXPECT_EQ(lattice.common_point(s, t).has_value(), expected) << trial;
    EXPECT_EQ(lattice.common_point(t, s).has_value(), expected) << trial;
    ++counts[shared][expected];
  }
  for (const auto& [apart, touching] : counts) {
    EXPECT_GT(apart, 1000);
    EXPECT_GT(touching, 200);
  }
}

/// Random points around the mesh: anywhere, and at all distances from corners, sides and faces.
std::vector<Vec3d> test_points(const Mesh& mesh, int count, std::uint64_t seed) {
  Random random(seed);
  const auto anywhere = [&](double size) {
    return Vec3d{random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
  };
  std::vector<Vec3d> points;
  for (int i = 0; i < count; ++i) {
    const auto nodes = mesh.face(static_cast<Index>(random.uniform(0, mesh.face_count())));
    const Vec3d a = mesh.positions[nodes[0]], b = mesh.positions[nodes[1]], c = mesh.positions[nodes[2]];
    const double near = std::pow(10, random.uniform(-9, 0));
    points.push_back(anywhere(2));
    points.push_back(a + anywhere(near));
    points.push_back(a + random.uniform() * (b - a) + anywhere(near));
    points.push_back((1.0 / 3) * (a + b + c) + anywhere(near));
  }
  return points;
}

TEST(ClosedSurface, AgreesWithBruteForce) {
  Mesh hollow = box_mesh({2.5, 2.6, 2.7}, 3);
  append(hollow, turned(octasphere(2)), {0.1, 0, 0.05});
  Mesh knife = testing::wedge_mesh(0.05, 0.7);
  for (const Mesh& mesh :
       {octasphere(2), tetrahedron(), box_mesh({1, 0.3, 1.7}, 2), bent_mesh(24, 12), hollow, knife}) {
    Mesh triangles;  // the same cut for both
    triangles.positions = mesh.positions;
    for (const FaceTriangle& t : cut_faces(mesh)) triangles.add_face({t.nodes[0], t.nodes[1], t.nodes[2]});
    const ClosedSurface solid(mesh);
    for (const Vec3d p : test_points(mesh, 400, 3)) {
      const double expected = testing::brute_force_distance(triangles, p), found = solid.signed_distance(p);
      // Coordinates up to 3: a few dozen roundings; the sign where the distance exceeds them.
      EXPECT_NEAR(std::abs(found), std::abs(expected), 1e-13);
      EXPECT_TRUE(std::abs(expected) <= 1e-13 || (found > 0) == (expected > 0)) << expected;
    }
  }
}

TEST(ClosedSurface, MeasuresBoxes) {
  const Vec3d size{1, 0.4, 1.6};
  const ClosedSurface solid(box_mesh(size, 4));
  for (const Vec3d p : test_points(box_mesh(size, 4), 1000, 8))
    EXPECT_NEAR(solid.signed_distance(p), testing::box_distance(size, p), 1e-14);
}

TEST(CutFaces, CutsConcaveQuadsAtTheirReflexCorner) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, -1, 0}, {0.2, 0, 0}, {1, 1, 0}};  // reflex at node 2
  mesh.add_face({0, 1, 2, 3});
  mesh.add_face({1, 2, 3, 0});
  for (const FaceTriangle& t : cut_faces(mesh)) {
    const auto& x = mesh.positions;
    EXPECT_GT(cross(x[t.nodes[1]] - x[t.nodes[0]], x[t.nodes[2]] - x[t.nodes[0]]).z, 0);
  }
}

}  // namespace
}  // namespace isocloth

#include "engine/mesh/validate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/mesh/face_normal.hpp"
#include "engine/mesh/generators.hpp"
#include "tests/engine/mesh_measures.hpp"

namespace isocloth {
namespace {

std::string refusal(Mesh mesh) {
  try {
    validate_mesh(mesh, "a.obj");
  } catch (const MeshError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "accepted";
}

/// Triangles over the first nodes of a bent strip, no three on a line.
Mesh strip(Index node_count, const std::vector<std::vector<Index>>& faces) {
  Mesh mesh;
  for (Index k = 0; k < node_count; ++k) {
    mesh.positions.push_back({std::floor(k / 2.0), static_cast<double>(k % 2), 0.1 * k * k});
  }
  for (const auto& face : faces) mesh.add_face(face);
  return mesh;
}

TEST(ValidateMesh, RefusesEmptyMesh) {
  EXPECT_EQ(refusal({}), "a.obj: the mesh is empty: found no nodes, expected at least 3; add vertices");
  EXPECT_EQ(refusal(strip(3, {})),
            "a.obj: the mesh is empty: found no faces, expected at least 1; add faces");
}

TEST(ValidateMesh, RefusesArraysThatDoNotFit) {
  Mesh mesh = strip(3, {{0, 1, 2}});
  mesh.face_nodes.push_back(0);
  EXPECT_EQ(
      refusal(mesh),
      "a.obj: face_begin does not fit face_nodes: found 0 .. 3, expected 0 .. 4; build faces with add_face");
  EXPECT_EQ(refusal(strip(5, {{0, 2, 1}, {0, 1, 2, 3, 4}})),
            "a.obj: face 1 is no triangle or quad: found 5 corners, expected 3 or 4; split the face");
  mesh = strip(3, {{0, 1, 2}});
  mesh.corner_uvs.resize(2);
  EXPECT_EQ(refusal(mesh),
            "a.obj: corner_uvs do not fit: found 2, expected none or one per face corner, 3; give every face "
            "texture "
            "coordinates or none");
}

TEST(ValidateMesh, RefusesNodeOutOfRange) {
  EXPECT_EQ(
      refusal(strip(3, {{0, 1, 3}})),
      "a.obj: face 0 names a node that does not exist: found nodes 0 1 3, expected 0 to 2; repair the face");
  EXPECT_NE(refusal(strip(3, {{0, 1, -1}})).find("found nodes 0 1 -1"), std::string::npos);
}

TEST(ValidateMesh, RefusesNumbersThatAreNotFinite) {
  Mesh mesh = quad_grid(3, 3, 1, 1);
  mesh.corner_uvs[5].y = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal(mesh).find("corner_uvs[5] is nowhere"), std::string::npos);
  mesh.positions[4].y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(mesh), "a.obj: node 4 is nowhere: found 0.5 nan 0, expected finite numbers; repair it");
}

TEST(ValidateMesh, RefusesRepeatedNode) {
  EXPECT_EQ(refusal(strip(4, {{0, 2, 1}, {1, 3, 1}})),
            "a.obj: face 1 repeats node 1: found nodes 1 3 1, expected distinct nodes; delete the face");
}

TEST(ValidateMesh, RefusesFaceWithoutArea) {
  Mesh mesh = strip(4, {{0, 2, 1}, {1, 2, 3}});
  mesh.positions[3] = 0.5 * (mesh.positions[1] + mesh.positions[2]);
  EXPECT_NE(refusal(mesh).find("face 1 has no area: found "), std::string::npos);
  mesh.positions[3] += Vec3d{0, 1e-5, 0};  // area 1e-5 against a limit of 1e-12
  EXPECT_EQ(refusal(mesh), "accepted");
  mesh = {};
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0.5, 1e-9, 0}, {0.5, 1, 0}};
  mesh.add_face({0, 1, 2});
  mesh.add_face({1, 3, 2});
  EXPECT_NE(refusal(mesh).find("face 0 is a sliver: found a height of 1e-09 m over an edge of 1 m"),
            std::string::npos)
      << refusal(mesh);
}

TEST(ValidateMesh, RefusesDuplicateFaces) {
  EXPECT_EQ(
      refusal(strip(4, {{0, 2, 1}, {1, 2, 3}, {2, 3, 1}, {1, 0, 2}})),
      "a.obj: face 2 repeats face 1: found nodes 2 3 1 twice, expected each face once; delete one of them");
}

TEST(ValidateMesh, RefusesEdgeOfThreeFaces) {
  EXPECT_EQ(refusal(strip(5, {{0, 2, 1}, {1, 2, 3}, {1, 2, 4}})),
            "a.obj: edge 1 2 belongs to too many faces: found 3 (face 0, face 1, face 2), expected at most "
            "2; delete "
            "faces or "
            "separate the surfaces");
}

TEST(ValidateMesh, RefusesIsolatedNode) {
  EXPECT_EQ(refusal(strip(4, {{0, 3, 1}})),
            "a.obj: node 2 is isolated: found no face at it, expected at least one; delete it");
}

TEST(ValidateMesh, RefusesBowTie) {
  EXPECT_EQ(refusal(strip(5, {{0, 2, 1}, {2, 3, 4}})),
            "a.obj: node 2 joins pieces that meet in it alone (bow tie): found 2 faces of which 1 follow "
            "each other, "
            "expected a single fan; duplicate the node");
}

TEST(ValidateMesh, RefusesTwoSpheresThatTouchInANode) {
  // Closed fans: the boundary knows nothing of this one.
  Mesh mesh = testing::octasphere(1);
  const Mesh other = mesh;
  const Index offset = mesh.node_count() - 1;
  for (std::size_t k = 1; k < other.positions.size(); ++k)
    mesh.positions.push_back(other.positions[k] + Vec3d{2, 0, 0});
  mesh.positions[0] = {1, 0, 0};
  for (Index f = 0; f < other.face_count(); ++f) {
    std::vector<Index> nodes;
    for (const Index node : other.face(f)) nodes.push_back(node == 0 ? 0 : node + offset);
    mesh.add_face(nodes);
  }
  EXPECT_NE(refusal(mesh).find("node 0 joins pieces that meet in it alone"), std::string::npos);
}

TEST(ValidateMesh, RefusesMoebiusStrip) {
  Mesh mesh;
  const Index count = 12;
  for (Index k = 0; k < count; ++k) {
    const double angle = 2 * std::numbers::pi * k / count;
    for (const double side : {-0.3, 0.3}) {
      const double radius = 1 + side * std::cos(angle / 2);
      mesh.positions.push_back(
          {radius * std::cos(angle), radius * std::sin(angle), side * std::sin(angle / 2)});
    }
  }
  for (Index k = 0; k + 1 < count; ++k) mesh.add_face({2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1});
  EXPECT_EQ(refusal(mesh), "accepted");
  mesh.add_face({2 * count - 2, 1, 0, 2 * count - 1});
  EXPECT_NE(refusal(mesh).find("found a one-sided surface (Moebius strip), expected two sides; cut it"),
            std::string::npos);
}

TEST(ValidateMesh, RefusesQuadThatFoldsOver) {
  Mesh mesh = quad_grid(2, 2, 1, 1);
  mesh.positions[3] = {0.55, 0.55, 0};
  EXPECT_EQ(refusal(mesh), "accepted");
  mesh.positions[3] = {0.1, 0.1, 0};
  EXPECT_NE(refusal(mesh).find("face 0 folds over: found Jacobian "), std::string::npos);
  mesh.positions[3] = {1, 1, 0.8};  // not flat, not folded
  EXPECT_EQ(refusal(mesh), "accepted");
}

TEST(ValidateMesh, TurnsFacesLikeTheFirstOfTheirPiece) {
  const Mesh straight = tank_top(300);
  Mesh mesh = straight;
  const Mesh second = quad_grid(3, 3, 1, 1);
  const Index offset = mesh.node_count(), first_quad = mesh.face_count();
  for (const Vec3d& x : second.positions) mesh.positions.push_back(x + Vec3d{5, 0, 0});
  for (Index f = 0; f < second.face_count(); ++f) {
    std::vector<Index> nodes;
    for (const Index node : second.face(f)) nodes.push_back(node + offset);
    mesh.add_face(nodes);
  }
  mesh.corner_uvs.insert(mesh.corner_uvs.end(), second.corner_uvs.begin(), second.corner_uvs.end());
  const Mesh expected = mesh;
  const auto turn = [&](Index f) {
    std::reverse(mesh.face_nodes.begin() + mesh.face_begin[f] + 1,
                 mesh.face_nodes.begin() + mesh.face_begin[f + 1]);
    std::reverse(mesh.corner_uvs.begin() + mesh.face_begin[f] + 1,
                 mesh.corner_uvs.begin() + mesh.face_begin[f + 1]);
  };
  for (Index f = 1; f < first_quad; f += 3) turn(f);
  turn(first_quad + 2);
  const Index turned = (first_quad + 1) / 3 + 1;
  EXPECT_EQ(validate_mesh(mesh, "mixed"), turned);
  EXPECT_EQ(mesh.face_nodes, expected.face_nodes);
  EXPECT_EQ(mesh.corner_uvs, expected.corner_uvs);
  EXPECT_EQ(validate_mesh(mesh, "mixed"), 0);
}

TEST(ValidateMesh, FirstFaceOfAPieceDecides) {
  Mesh mesh = triangle_grid(4, 4, 1, 1, Diagonals::alternating);
  std::reverse(mesh.face_nodes.begin(), mesh.face_nodes.begin() + 3);
  std::reverse(mesh.corner_uvs.begin(), mesh.corner_uvs.begin() + 3);
  EXPECT_EQ(validate_mesh(mesh, "grid"), mesh.face_count() - 1);
  for (Index f = 0; f < mesh.face_count(); ++f) EXPECT_LT(area_vector(mesh, f).z, 0);
}

TEST(ValidateMesh, RefusesNodesWhoseAreasAreNoNumbers) {
  Mesh far = quad_grid(3, 3, 1, 1);
  for (Vec3d& p : far.positions) p = 1e200 * p;
  try {
    validate_mesh(far, "far");
    FAIL() << "accepted";
  } catch (const MeshError& error) {
    EXPECT_NE(std::string(error.what()).find("node 1 is too far away: found 5e+199 0 0"), std::string::npos)
        << error.what();
  }
}

TEST(ValidateMesh, RefusesANodeOfTooManyFaces) {
  Mesh fan;
  constexpr Index count = 1001;
  for (Index i = 0; i < count; ++i)
    fan.positions.push_back({std::cos(2 * M_PI * i / count), std::sin(2 * M_PI * i / count), 0});
  fan.positions.push_back({0, 0, 0});
  for (Index i = 0; i < count; ++i) fan.add_face({i, (i + 1) % count, count});
  try {
    validate_mesh(fan, "fan");
    FAIL() << "accepted";
  } catch (const MeshError& error) {
    EXPECT_NE(std::string(error.what()).find("node 1001: found 1001 faces around it"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace isocloth

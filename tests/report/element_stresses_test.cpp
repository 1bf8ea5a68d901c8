// Stress of elements from positions, against closed forms.
#include "host/report/element_stresses.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

Fabric weave() {
  Fabric fabric;
  fabric.stretch_stiffness = 800;
  fabric.weft_stretch_stiffness = 300;
  fabric.shear_stiffness = 20;
  return fabric;
}

/// Garments of these meshes, one after another, each with the law if one is given.
ReportData garments(const std::vector<Mesh>& meshes, const std::vector<std::optional<MembraneLaw>>& laws) {
  ReportData data;
  for (std::size_t g = 0; g < meshes.size(); ++g) {
    const Mesh& mesh = meshes[g];
    ReportGarment garment;
    garment.node_begin = static_cast<Index>(data.rest_positions.size() / 3);
    garment.node_count = mesh.node_count();
    garment.face_begin = mesh.face_begin;
    garment.face_nodes = mesh.face_nodes;
    garment.corner_uvs = mesh.corner_uvs;
    garment.law = laws[g];
    data.garments.push_back(garment);
    for (const Vec3d& p : mesh.positions)
      data.rest_positions.insert(data.rest_positions.end(), {p.x, p.y, p.z});
  }
  return data;
}

/// Every node p to p.x a + p.y b + a shift, far from the origin.
std::vector<double> moved(const std::vector<double>& rest, Vec3d a, Vec3d b) {
  std::vector<double> positions;
  for (std::size_t i = 0; i < rest.size(); i += 3) {
    const Vec3d p = rest[i] * a + rest[i + 1] * b + Vec3d{10, -20, 30};
    positions.insert(positions.end(), {p.x, p.y, p.z});
  }
  return positions;
}

/// Coordinates of 30 m, rounded, over edges of 0.05 m, times 800 N/m.
constexpr double rounding = 4 * 800 * 30 * 2.3e-16 / 0.05;

const std::vector<Mesh> sheets() {
  return {quad_grid(7, 9, 0.3, 0.4), triangle_grid(7, 9, 0.3, 0.4, Diagonals::alternating),
          irregular_triangles(6, 30, 0.3, 0.4, 1)};
}

TEST(ElementStresses, AreTheLawsWhereStrainIsEven) {
  const MembraneLaw law(find_recipe("membrane"), weave());
  for (const Mesh& mesh : sheets()) {
    const ReportData data = garments({mesh}, {law});
    const ElementStresses stresses(data, 1);
    ASSERT_TRUE(stresses.exist());
    // Turned out of its plane, pulled along x, sheared.
    const Vec3d a{0.6 * 1.02, 0, 0.8 * 1.02}, b{0.03, 0.99, 0.04};
    const MembraneStress even = law.stress(a, b);
    EXPECT_NEAR(even.warp, 800 * (1.02 * 1.02 - 1) / 2, 1e-10);
    const auto found = stresses.of(moved(data.rest_positions, a, b).data());
    ASSERT_EQ(found.size(), static_cast<std::size_t>(mesh.face_count()));
    for (const MembraneStress& stress : found) {
      EXPECT_NEAR(stress.warp, even.warp, rounding);
      EXPECT_NEAR(stress.weft, even.weft, rounding);
      EXPECT_NEAR(stress.shear, even.shear, rounding);
    }
    for (const MembraneStress& stress : stresses.of(data.rest_positions.data()))
      EXPECT_NEAR(stress.von_mises(), 0, rounding);
  }
}

// Coordinates of the pattern say where warp runs, whatever way the piece lies.
TEST(ElementStresses, FollowTheThreadsOfThePattern) {
  for (Mesh mesh : sheets()) {
    mesh.corner_uvs.clear();
    for (const Index node : mesh.face_nodes) {
      const Vec3d& p = mesh.positions[static_cast<std::size_t>(node)];
      mesh.corner_uvs.push_back({p.y, -p.x});
    }
    const ReportData data = garments({mesh}, {MembraneLaw(find_recipe("membrane"), weave())});
    for (const MembraneStress& stress :
         ElementStresses(data, 1).of(moved(data.rest_positions, {1, 0, 0}, {0, 1.03, 0}).data())) {
      EXPECT_NEAR(stress.warp, 800 * (1.03 * 1.03 - 1) / 2, rounding);
      EXPECT_NEAR(stress.weft, 0, rounding);
      EXPECT_NEAR(stress.shear, 0, rounding);
    }
  }
}

TEST(ElementStresses, AreThoseOfEachGarmentsFabric) {
  const Mesh sheet = quad_grid(3, 3, 0.1, 0.1);
  Fabric stiff = weave();
  stiff.stretch_stiffness = 4000;
  const Recipe& recipe = find_recipe("soft_constraints");
  const ReportData data = garments({sheet, sheet, sheet},
                                   {MembraneLaw(recipe, weave()), std::nullopt, MembraneLaw(recipe, stiff)});
  const std::vector<double> pulled = moved(data.rest_positions, {1.1, 0, 0}, {0, 1, 0});
  const auto found = ElementStresses(data, 3).of(pulled.data());
  ASSERT_EQ(found.size(), 12u);
  const double expected[] = {800 * 0.1 / 1.1, 0, 4000 * 0.1 / 1.1};
  for (std::size_t f = 0; f < 12; ++f) EXPECT_NEAR(found[f].warp, expected[f / 4], 5 * rounding);
  EXPECT_FALSE(ElementStresses(garments({sheet}, {std::nullopt}), 1).exist());
}

// A quad that is bent out of its rectangle in its plane: the stress of the mean strain of its triangles on
// both sides of the diagonal from the first corner, along whose legs positions are linear.
TEST(ElementStresses, AreOfTheMeanStrainOfAQuad) {
  const MembraneLaw law(find_recipe("membrane"), weave());
  const ReportData data = garments({quad_grid(2, 2, 0.1, 0.1)}, {law});
  std::vector<double> positions = data.rest_positions;
  const double d = 0.004;
  for (std::size_t i = 0; i < 12; i += 3)  // the upper edge longer by d, the lower one shorter
    positions[i] += (positions[i] > 0.05 ? 0.5 : -0.5) * (positions[i + 1] > 0.05 ? d : -d);
  // The triangle with the lower edge has F_u = 1 - d / 0.1, the other 1 + d / 0.1; upright edges lean by d.
  const double e = d / 0.1;
  const MembraneStress mean = law.stress({{1 - e, 0, 0}, {e, 1, 0}}, {{1 + e, 0, 0}, {-e, 1, 0}}, 0.5);
  EXPECT_NEAR(mean.warp, 800 * e * e / 2, 1e-9);
  const MembraneStress found = ElementStresses(data, 1).of(positions.data()).front();
  EXPECT_NEAR(found.warp, mean.warp, rounding);
  EXPECT_NEAR(found.weft, mean.weft, rounding);
  EXPECT_NEAR(found.shear, mean.shear, rounding);
}

}  // namespace
}  // namespace isocloth

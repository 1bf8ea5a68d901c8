// Fabrics of single faces.
#include "engine/rows/face_fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/mesh/cut_folds.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/validate.hpp"
#include "engine/model/recipe.hpp"
#include "engine/rows/row_families.hpp"
#include "engine/rows/row_pattern.hpp"

namespace isocloth {
namespace {

std::vector<double> stiffness(const Mesh& mesh, const Fabric& fabric, const std::string& recipe) {
  const std::vector<char> free(mesh.positions.size(), 0);
  const RowPattern rows =
      build_row_pattern(mesh, build_topology(mesh), row_families(find_recipe(recipe), mesh, fabric), free);
  return row_stiffness(mesh, rows, fabric, free);
}

Fabric woven() {
  Fabric fabric;
  fabric.stretch_stiffness = 900;
  fabric.weft_stretch_stiffness = 400;
  fabric.shear_stiffness = 30;
  fabric.poisson_ratio = 0.2;
  fabric.bending = BendingModel::discrete_shells;
  fabric.bending_stiffness = 1e-5;
  fabric.principal_strain_limit = 0.1;
  return fabric;
}

TEST(FaceFabric, OfAllFacesIsAFabric) {
  const FabricFactors factors{.density = 3, .stretch = 2, .weft_stretch = 3, .shear = 5, .bending = 7};
  for (const std::string recipe : {"membrane", "soft_constraints", "springs", "elastic_edges"}) {
    Fabric fabric = woven(), scaled;
    if (recipe != "membrane") fabric.poisson_ratio = 0;
    scaled = fabric;
    set_factors(factors, fabric, scaled);
    EXPECT_EQ(scaled.density, 3);
    EXPECT_NEAR(scaled.poisson_coupling(), fabric.poisson_coupling(), 1e-15);
    Mesh mesh = irregular_triangles(6, 20, 0.5, 0.4, 3);
    const std::vector<double> expected = stiffness(mesh, scaled, recipe);
    mesh.face_factors.assign(static_cast<std::size_t>(mesh.face_count()), factors);
    const std::vector<double> found = stiffness(mesh, fabric, recipe);
    ASSERT_EQ(found.size(), expected.size()) << recipe;
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-12 * expected[i]) << recipe << " " << i;
  }
}

TEST(FaceFabric, OfAPairIsTheMeanByArea) {
  Mesh mesh = quad_grid(3, 2, 0.2, 0.1);
  mesh.face_factors = {{1, 1, 1, 1, 1}, {4, 4, 4, 4, 4}};
  const FabricFactors mean = mean_factors(mesh, {{0, 3}, {1, 1}});
  EXPECT_DOUBLE_EQ(mean.stretch, 1.75);
  EXPECT_DOUBLE_EQ(mean.bending, 1.75);
}

TEST(FaceFabric, IsRefusedWhereItIsNone) {
  const auto refusal = [](const auto& change) {
    Mesh mesh = quad_grid(3, 2, 0.2, 0.1);
    change(mesh);
    try {
      validate_mesh(mesh, "mesh");
    } catch (const MeshError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal([](Mesh& m) { m.face_factors.resize(2); }), "");
  EXPECT_NE(refusal([](Mesh& m) { m.face_factors.resize(3); }).find("face_factors: found 3"),
            std::string::npos);
  EXPECT_NE(refusal([](Mesh& m) {
              m.face_factors.resize(2);
              m.face_factors[1].bending = 0;
            }).find("face 1: found a factor of bending stiffness of 0"),
            std::string::npos);
  EXPECT_NE(refusal([](Mesh& m) {
              m.folds = {{.nodes = {1, 4, 3, 6}}};
            }).find("fold 0 names a node"),
            std::string::npos);
  EXPECT_NE(refusal([](Mesh& m) {
              m.folds = {{.nodes = {1, 4, 3, 3}}};
            }).find("expected four nodes"),
            std::string::npos);
  EXPECT_NE(refusal([](Mesh& m) {
              m.folds = {{.nodes = {1, 4, 3, 5}, .angle = 4}};
            }).find("an angle of 4 rad"),
            std::string::npos);
}

// 3 x 2 quads of 0.1 m with a fold between the second and the third column, and one that ends inside.
TEST(Folds, PartWhatBendsBesideThem) {
  Mesh mesh = quad_grid(4, 3, 0.3, 0.2);
  const CutFolds whole = cut_at_folds(mesh);
  EXPECT_EQ(whole.mesh.positions.size(), 12u);
  mesh.folds = {{.nodes = {2, 6, 1, 3}}, {.nodes = {6, 10, 5, 7}}};
  EXPECT_EQ(folded_edges(mesh), (std::vector<std::array<Index, 2>>{{2, 6}, {6, 10}}));
  const CutFolds cut = cut_at_folds(mesh);
  EXPECT_EQ(cut.mesh.positions.size(), 15u);
  EXPECT_EQ(cut.origin.size(), 15u);
  for (std::size_t i = 0; i < cut.origin.size(); ++i)
    EXPECT_EQ(norm(cut.mesh.positions[i] - mesh.positions[static_cast<std::size_t>(cut.origin[i])]), 0);
  EXPECT_EQ(build_topology(cut.mesh).boundary_loops.size(), 2u);
  mesh.folds.pop_back();  // 6 is its tip
  EXPECT_EQ(cut_at_folds(mesh).mesh.positions.size(), 13u);
  // Hinges are at all other edges, quads cut in two.
  const std::size_t all = hinges_of(quad_grid(4, 3, 0.3, 0.2)).size();
  EXPECT_EQ(hinges_of(mesh).size(), all - 1);
}

TEST(Folds, HaveTheirStiffnessAndAngle) {
  Mesh mesh = quad_grid(4, 3, 0.3, 0.2);
  mesh.folds = {{.nodes = {2, 6, 5, 3}, .angle = 1, .stiffness = 0.25, .factor = 2},
                {.nodes = {6, 10, 9, 7}, .angle = -1}};  // turns freely
  Fabric fabric = woven();
  fabric.principal_strain_limit = 0;
  const std::vector<char> free(12, 0);
  const RowPattern rows = build_row_pattern(mesh, build_topology(mesh),
                                            row_families(find_recipe("membrane"), mesh, fabric), free);
  ASSERT_EQ(rows.parts.back().family, RowFamily::folds);
  EXPECT_EQ(rows.parts.back().places, std::vector<Index>{0});
  EXPECT_EQ(FoldRows::rest_values(mesh, {0}), std::vector<double>{1});
  EXPECT_DOUBLE_EQ(row_stiffness(mesh, rows, fabric, free).back(), 0.25 + 2e-5);
}

}  // namespace
}  // namespace isocloth

// Cusick's test: the state of lowest energy, what folds and mesh leave open, and what is refused.
#include <gtest/gtest.h>

#include "bench/commands.hpp"
#include "engine/core/errors.hpp"

namespace isocloth::bench {
namespace {

double cell(const Table& table, std::size_t row, const std::string& column) {
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].starts_with(column)) return table.rows[row][c].get<double>();
  ADD_FAILURE() << "no column " << column;
  return 0;
}

/// A clamp of first order would change by 5 points from the first of these meshes to the second.
TEST(Cusick, ChangesLittleByTheMesh) {
  const Table coarse = measure_cusick({.fabrics = {"cotton"}, .scenes = {}, .edge = 0.01, .folds = {6}})[0];
  const Table fine = measure_cusick({.fabrics = {"cotton"}, .scenes = {}, .edge = 0.0075, .folds = {6}})[0];
  EXPECT_EQ(cell(coarse, 0, "folds"), 6);
  EXPECT_EQ(cell(fine, 0, "folds"), 6);
  EXPECT_NEAR(cell(fine, 0, "coefficient"), cell(coarse, 0, "coefficient"), 2);
  EXPECT_EQ(fine.rows[0].back(), "yes");  // at rest
  // 1.157e-5 N m on 150.3 g/m^2: 19.87 mm, of which an edge of 7.5 mm is no quarter.
  EXPECT_NEAR(cell(fine, 0, "(kappa"), 19.87, 0.01);
  EXPECT_EQ(fine.rows[0][fine.rows[0].size() - 2], "no");
  EXPECT_LE(cell(fine, 0, "least"), cell(fine, 0, "coefficient"));
  EXPECT_GE(cell(fine, 0, "largest"), cell(fine, 0, "coefficient"));
}

TEST(Cusick, StiffClothStaysFlat) {
  const Table table = measure_cusick({.fabrics = {"paper"}, .scenes = {}, .edge = 0.012, .folds = {4}})[0];
  EXPECT_GT(cell(table, 0, "coefficient"), 95);
  EXPECT_LE(cell(table, 0, "coefficient"), 100);
}

TEST(Cusick, RefusesWhatIsNoTest) {
  EXPECT_THROW(measure_cusick({.fabrics = {"marble"}, .scenes = {}}), SceneError);
  EXPECT_THROW(measure_cusick({.fabrics = {"cotton"}, .scenes = {}, .disc = 0.15, .radius = 0.15}),
               SceneError);
}

}  // namespace
}  // namespace isocloth::bench

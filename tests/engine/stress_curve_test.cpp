// Curves of stress and strain, and sheets of Kawabata's figures.
#include "engine/model/stress_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/model/kes_sheet.hpp"
#include "engine/model/recipe.hpp"

namespace isocloth {
namespace {

double value(const std::vector<CurvePiece>& law, double c) {
  double found = 0;
  for (const CurvePiece& p : law)
    if (const double t = c - p.begin; t >= 0) found = p.value + t * (p.slope + t * (p.square + t * p.cube));
  return found;
}

/// Force per width of a thread at a displacement, by Volino, Magnenat-Thalmann, Faure 2009, (15) and (16).
double force(const std::vector<CurvePiece>& law, double stiffness, double d) {
  const double strain = d + d * d / 2, stress = stiffness / 2 * value(law, 2 * strain);
  return stress * (1 + d);
}

const StressCurve stiffening{{{0.01, 5}, {0.03, 40}, {0.05, 150}, {0.08, 700}}};

TEST(StressCurve, PassesThroughItsPointsAndRisesBetween) {
  const auto law = thread_law(stiffening, 500);
  for (const auto& [d, f] : stiffening.points) EXPECT_NEAR(force(law, 500, d), f, 1e-11 * f) << d;
  double before = 0;
  for (int i = 1; i <= 2000; ++i) {
    const double now = value(law, i * 1e-4);
    EXPECT_GT(now, before) << i;
    before = now;
  }
}

TEST(StressCurve, HasNoKinks) {
  for (const auto& law : {thread_law(stiffening, 500), shear_law(stiffening, 20)}) {
    ASSERT_EQ(law.size(), 5u);
    for (std::size_t i = 1; i < law.size(); ++i) {
      const CurvePiece& p = law[i - 1];
      const double t = law[i].begin - p.begin;
      EXPECT_NEAR(p.value + t * (p.slope + t * (p.square + t * p.cube)), law[i].value, 1e-13 * law[i].value);
      EXPECT_NEAR(p.slope + t * (2 * p.square + 3 * t * p.cube), law[i].slope, 1e-12 * law[i].slope);
    }
    EXPECT_EQ(law.back().square, 0);
    EXPECT_EQ(law.back().cube, 0);
  }
}

// Baraff and Witkin's threads: force over elongation is the curve itself.
TEST(StressCurve, TakesForcesAsTheyAreByTheEngineeringMeasure) {
  const auto law = thread_law(stiffening, 500, StrainMeasure::engineering);
  for (const auto& [d, f] : stiffening.points) EXPECT_NEAR(250 * value(law, 2 * d), f, 1e-12 * f) << d;
  const auto laws = stress_laws(find_recipe("soft_constraints"), Fabric{});
  ASSERT_EQ(laws.size(), static_cast<std::size_t>(RowLaw::count));
  for (const CurvePiece& piece : laws) EXPECT_EQ(piece.slope, 1);
  EXPECT_TRUE(stress_laws(find_recipe("membrane"), Fabric{}).empty());
}

TEST(StressCurve, FollowsAStraightShearExactly) {
  const auto law = shear_law({{{0.1, 3}, {0.2, 6}, {0.5, 15}}}, 60);
  for (const double c : {0.05, 0.15, 0.4, 1.0}) EXPECT_NEAR(value(law, c), c / 2, 1e-15);
}

// Slopes that keep the curve rising make it of second order in the distance of the points.
TEST(StressCurve, ComesNearerWithMorePoints) {
  const auto exact = [](double d) { return 50 * d + 4e4 * d * d * d; };
  const auto error = [&](int points) {
    StressCurve curve;
    for (int i = 1; i <= points; ++i) curve.points.push_back({0.2 * i / points, exact(0.2 * i / points)});
    const auto law = thread_law(curve, 100);
    double most = 0;
    for (int i = 1; i < 400; ++i)
      most = std::max(most, std::fabs(force(law, 100, i / 2000.0) - exact(i / 2000.0)));
    return most;
  };
  EXPECT_LT(error(16), error(8) / 3.5);
  EXPECT_LT(error(16), 0.01 * exact(0.2));
}

TEST(StressCurve, RefusesWhatDoesNotRise) {
  const auto message = [](const StressCurves& curves) -> std::string {
    try {
      validate_curves("fabric.curves", curves);
    } catch (const SceneError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({.warp = stiffening, .weft = {}, .shear = stiffening}), "");
  EXPECT_NE(message({.warp = {{{0.02, 5}, {0.01, 9}}}, .weft = {}, .shear = {}})
                .find("fabric.curves.warp[1].strain"),
            std::string::npos);
  EXPECT_NE(message({.warp = {}, .weft = {{{0.01, 5}, {0.02, 5}}}, .shear = {}})
                .find("fabric.curves.weft[1].force"),
            std::string::npos);
  EXPECT_NE(message({.warp = {}, .weft = {}, .shear = {{{0.01, -5}}}}).find("fabric.curves.shear[0].force"),
            std::string::npos);
  EXPECT_NE(message({.warp = {{{0.01, 1e-6}, {0.02, 100}}}, .weft = {}, .shear = {}}).find("rise everywhere"),
            std::string::npos);
  EXPECT_NE(message({.warp = {{{std::nan(""), 5}}}, .weft = {}, .shear = {}}).find("finite"),
            std::string::npos);
}

TEST(StressCurve, LawsOfAMembraneHaveAsManyPiecesAsTheLongest) {
  Fabric fabric;
  EXPECT_TRUE(stress_laws(find_recipe("membrane"), fabric).empty());
  fabric.curves.shear = stiffening;
  const auto laws = stress_laws(find_recipe("membrane"), fabric);
  ASSERT_EQ(laws.size(), 20u);
  for (const double c : {0.001, 0.2})
    EXPECT_EQ(value({laws.begin(), laws.begin() + 5}, c), c) << "linear warp";
  EXPECT_EQ(stress_laws(find_recipe("membrane"), fabric, 9).size(), 36u);
}

// EMT is the extension at 500 gf/cm, LT the work of loading over that of a straight line.
TEST(KesSheet, CurvesHaveItsExtensionAndItsWork) {
  const KesSheet sheet{.warp = {6.3, 0.62, 0.09}, .weft = {9.0, 0.45, 0.06}, .weight = 21, .shear = 0.6};
  const Fabric fabric = kes_fabric(sheet);
  EXPECT_DOUBLE_EQ(fabric.rho, 0.21);
  EXPECT_NEAR(fabric.kappa, 8.826e-6, 1e-9);
  EXPECT_NEAR(fabric.weft_kappa / fabric.kappa, 0.06 / 0.09, 1e-12);
  EXPECT_NEAR(fabric.shear_stiffness, 0.6 * 56.188, 1e-2);
  for (const auto& [curve, thread, stiffness] :
       {std::tuple{fabric.curves.warp, sheet.warp, fabric.stretch_stiffness},
        {fabric.curves.weft, sheet.weft, fabric.weft_stretch_stiffness}}) {
    const auto law = thread_law(curve, stiffness);
    const double most = thread.extension / 100, full = 490.3325;
    EXPECT_NEAR(force(law, stiffness, most), full, 1e-9 * full);
    double work = 0;
    const int parts = 1000;
    for (int i = 0; i < parts; ++i) work += force(law, stiffness, most * (i + 0.5) / parts) * most / parts;
    EXPECT_NEAR(work / (full * most / 2), thread.linearity, 0.005);
  }
}

}  // namespace
}  // namespace isocloth

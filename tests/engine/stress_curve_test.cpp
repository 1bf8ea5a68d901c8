// Curves of stress and strain, and sheets of Kawabata's figures.
#include "engine/material/stress_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/material/kes_sheet.hpp"
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

double polynomial(const StressCurve& curve, double d) {
  double force = 0;
  for (std::size_t k = curve.polynomial.size(); k-- > 0;) force = (force + curve.polynomial[k]) * d;
  return force;
}
StressCurve of_polynomial(std::vector<double> coefficients, double up_to) {
  StressCurve curve;
  curve.polynomial = std::move(coefficients);
  curve.up_to = up_to;
  return curve;
}

// Exact where strain is linear in displacement, up to cubes; else within 1e-5 of the last force up to the
// fifth degree, and 1e-4 up to the eighth.
TEST(StressCurve, FollowsPolynomials) {
  const auto error = [](const StressCurve& curve, StrainMeasure measure) {
    const bool is_green = measure == StrainMeasure::green;
    const auto law = thread_law(curve, 500, measure);
    double most = 0;
    for (int i = 1; i <= 1000; ++i) {
      const double d = curve.up_to * i / 1000,
                   found = is_green ? force(law, 500, d) : 250 * value(law, 2 * d);
      most = std::max(most, std::fabs(found - polynomial(curve, d)));
    }
    return most / polynomial(curve, curve.up_to);
  };
  const StressCurve cubic = of_polynomial({50, -200, 4e4}, 0.2),
                    quintic = of_polynomial({50, 0, 0, 0, 4e6}, 1),
                    steep = of_polynomial({1, 0, 0, 0, 0, 0, 0, 9}, 1);
  EXPECT_EQ(thread_law(cubic, 500, StrainMeasure::engineering).size(), 2u);
  EXPECT_LT(error(cubic, StrainMeasure::engineering), 1e-14);
  for (const StrainMeasure measure : {StrainMeasure::green, StrainMeasure::engineering}) {
    EXPECT_LT(error(cubic, measure), 1e-6);
    EXPECT_LT(error(quintic, measure), 1e-5);
    EXPECT_LT(error(steep, measure), 1e-4);
  }
  const auto law = shear_law(cubic, 20);
  for (const double d : {0.01, 0.07, 0.2}) EXPECT_NEAR(20 * value(law, d), polynomial(cubic, d), 1e-12);
  EXPECT_NEAR(20 * (value(law, 0.5) - value(law, 0.2)), (50 - 400 * 0.2 + 12e4 * 0.04) * 0.3, 1e-9);
  const auto points = sampled(cubic);
  ASSERT_EQ(points.size(), 64u);
  EXPECT_NEAR(points[31][1], polynomial(cubic, 0.1), 1e-12);
}

TEST(StressCurve, GoesStraightFromPointToPoint) {
  StressCurve curve = stiffening;
  curve.between = CurveBetween::linear;
  EXPECT_EQ(thread_law(curve, 500, StrainMeasure::engineering).size(), 5u);
  for (const bool is_green : {true, false}) {
    const auto law = thread_law(curve, 500, is_green ? StrainMeasure::green : StrainMeasure::engineering);
    std::array<double, 2> from{0, 0};
    for (const auto& to : curve.points) {
      for (const double t : {0.1, 0.5, 0.7, 1.0}) {
        const double d = from[0] + t * (to[0] - from[0]), expected = from[1] + t * (to[1] - from[1]);
        EXPECT_NEAR(is_green ? force(law, 500, d) : 250 * value(law, 2 * d), expected, 1e-7 * expected) << d;
      }
      from = to;
    }
  }
}

TEST(StressCurve, RefusesPolynomialsThatDoNotRise) {
  const auto message = [](const StressCurve& curve, bool is_shear) -> std::string {
    StressCurves curves;
    (is_shear ? curves.shear : curves.warp) = curve;
    try {
      validate_curves("fabric.curves", curves);
    } catch (const SceneError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(of_polynomial({50, -200, 4e4}, 0.2), false), "");
  // f' = 50 - 400 d has its end at 0.125, and is least at up_to.
  EXPECT_EQ(message(of_polynomial({50, -200}, 0.12), true), "");
  EXPECT_EQ(
      message(of_polynomial({50, -200}, 0.2), true),
      "fabric.curves.shear.polynomial: found a force per width that does not rise at "
      "strain 0.2, expected one that rises up to strain 0.2, everywhere by 0.0001 of where it rises most; "
      "lower up_to, or change the coefficients");
  // f' = 50 - 600 d + 1500 d^2 is least at 0.2, where it is below 0.
  EXPECT_NE(message(of_polynomial({50, -300, 500}, 1), true).find("does not rise at strain 0.2,"),
            std::string::npos);
  // f rises, and the stress f / (1 + d) falls.
  EXPECT_EQ(message(of_polynomial({50, -10}, 1.5), true), "");
  EXPECT_NE(message(of_polynomial({50, -10}, 1.5), false).find("does not rise at strain"), std::string::npos);
  EXPECT_NE(message(of_polynomial({0, 0, 100}, 1), true).find("does not rise at strain 0,"),
            std::string::npos);
  EXPECT_NE(message(of_polynomial({1}, 0), true).find("fabric.curves.shear.up_to: found 0"),
            std::string::npos);
  EXPECT_NE(message(of_polynomial(std::vector<double>(9, 1), 1), true).find("at most 8"), std::string::npos);
}

TEST(StressCurve, ViscosityIsOfRatesOfStrain) {
  Fabric fabric;
  EXPECT_TRUE(viscosity_laws(fabric).empty());
  fabric.viscosity.stretch = 20;
  auto laws = viscosity_laws(fabric);
  ASSERT_EQ(laws.size(), static_cast<std::size_t>(RowLaw::count));
  EXPECT_EQ(laws[RowLaw::warp].slope, 20 / fabric.stretch_stiffness);
  EXPECT_EQ(laws[RowLaw::shear].slope, 0);
  fabric.viscosity.curves.warp = stiffening;
  laws = viscosity_laws(fabric);
  ASSERT_EQ(laws.size(), std::size_t{5} * RowLaw::count);
  for (const auto& [rate, stress] : stiffening.points)
    EXPECT_NEAR(fabric.stretch_stiffness / 2 * value({laws.begin(), laws.begin() + 5}, 2 * rate), stress,
                1e-12);
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
  ASSERT_EQ(laws.size(), std::size_t{5} * RowLaw::count);
  for (const double c : {0.001, 0.2})
    EXPECT_EQ(value({laws.begin(), laws.begin() + 5}, c), c) << "linear warp";
  EXPECT_EQ(stress_laws(find_recipe("membrane"), fabric, 9).size(), std::size_t{9} * RowLaw::count);
}

// EMT is the extension at 500 gf/cm, LT the work of loading over that of a straight line.
TEST(KesSheet, CurvesHaveItsExtensionAndItsWork) {
  const KesSheet sheet{.warp = {6.3, 0.62, 0.09}, .weft = {9.0, 0.45, 0.06}, .weight = 21, .shear = 0.6};
  const Fabric fabric = kes_fabric(sheet);
  EXPECT_DOUBLE_EQ(fabric.density, 0.21);
  EXPECT_NEAR(fabric.bending_stiffness, 8.826e-6, 1e-9);
  EXPECT_NEAR(fabric.weft_bending_stiffness / fabric.bending_stiffness, 0.06 / 0.09, 1e-12);
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

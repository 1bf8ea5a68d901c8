// Fabrics by the figures of FAST.
#include "engine/material/fast_sheet.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace isocloth {
namespace {

constexpr FastSheet suiting{.warp = {0.6, 1.7, 3.1, 9.1},
                            .weft = {0.9, 2.6, 5.2, 6.4},
                            .bias = 3.4,
                            .weight = 185,
                            .thickness = 0.42};

// 1 gf/cm = 0.980665 N/m.
TEST(FastSheet, CurvesHaveItsExtensions) {
  const Fabric fabric = fast_fabric(suiting);
  EXPECT_DOUBLE_EQ(fabric.density, 0.185);
  EXPECT_DOUBLE_EQ(fabric.gravity_density, 0.185);
  EXPECT_DOUBLE_EQ(fabric.thickness, 0.42e-3);
  EXPECT_DOUBLE_EQ(fabric.bending_stiffness, 9.1e-6);
  EXPECT_DOUBLE_EQ(fabric.weft_bending_stiffness, 6.4e-6);
  for (const auto& [curve, thread, stiffness] :
       {std::tuple{fabric.curves.warp, suiting.warp, fabric.stretch_stiffness},
        {fabric.curves.weft, suiting.weft, fabric.weft_stretch_stiffness}}) {
    const auto law = thread_law(curve, stiffness);
    // (16) of Volino, Magnenat-Thalmann, Faure 2009: sigma (1 + d) at C = (1 + d)^2 - 1, sigma = k f(C) / 2.
    const auto force = [&](double d) { return stiffness / 2 * response(law, d * (2 + d)) * (1 + d); };
    EXPECT_NEAR(force(thread.at_5 / 100), 5 * 0.980665, 1e-6);
    EXPECT_NEAR(force(thread.at_20 / 100), 20 * 0.980665, 1e-6);
    EXPECT_NEAR(force(thread.at_100 / 100), 100 * 0.980665, 1e-6);
  }
}

// What reads 0 at 5 gf/cm says nothing of the curve there.
TEST(FastSheet, LeavesOutWhatReadsZero) {
  FastSheet stiff = suiting;
  stiff.warp.at_5 = 0;
  const Fabric fabric = fast_fabric(stiff);
  EXPECT_EQ(fabric.curves.warp.points.size(), 2u);
  EXPECT_EQ(fabric.curves.weft.points.size(), 3u);
}

// A strip at 45 degrees whose threads keep their length: stress f / 2 along and across the threads' shear.
TEST(FastSheet, ShearIsThatOfTheBias) {
  const Fabric fabric = fast_fabric(suiting);
  const double stress = 5 * 0.980665 / 2, angle = stress / fabric.shear_stiffness;
  EXPECT_NEAR(angle / 2, suiting.bias / 100, 0.004 * suiting.bias / 100) << "123 is 122.6, rounded";
}

// rho g C^3 in units of the sheet.
TEST(FastSheet, BendingIsThatOfItsLength) {
  EXPECT_NEAR(fast_bending(17, 200) * 1e-6, 0.2 * 9.80665 * std::pow(0.017, 3), 1e-15);
}

}  // namespace
}  // namespace isocloth

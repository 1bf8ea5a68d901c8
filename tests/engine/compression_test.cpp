// The law of compression against its closed forms, and its fit to figures of KES-FB3.
#include "engine/material/compression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/material/fabric_presets.hpp"

namespace isocloth {
namespace {

constexpr double low = 49.03325, high = 4903.325;  // 0.5 and 50 gf/cm^2 [Pa]

TEST(Compression, GoesThroughTheFiguresOfItsSheet) {
  struct Sheet {
    double t0, tm, lc;
  };
  for (const Sheet& s : {Sheet{0.992e-3, 0.585e-3, 0.305}, {0.4e-3, 0.29e-3, 0.35}, {2.2e-3, 1.2e-3, 0.4}}) {
    const Compression c = fitted_compression(s.t0, s.tm, s.lc);
    EXPECT_NEAR(c.pressure(s.t0), low, 1e-6 * low);
    EXPECT_NEAR(c.pressure(s.tm), high, 1e-6 * high);
    EXPECT_NEAR(c.energy(s.tm) - c.energy(s.t0), s.lc * high / 2 * (s.t0 - s.tm), 1e-9 * high * s.t0);
    EXPECT_GT(c.core, 0);
    EXPECT_LT(c.core, s.tm);
    EXPECT_GT(c.thickness, s.t0);
  }
}

TEST(Compression, IsVanWyksWithACoreAndThenLinear) {
  const Compression c = fitted_compression(0.398e-3, 0.288e-3, 0.35);
  const auto cube = [](double x) { return x * x * x; };
  for (const double t : {0.42e-3, 0.35e-3, 0.3e-3, 0.26e-3}) {
    const double p = c.stiffness * (1 / cube(t - c.core) - 1 / cube(c.thickness - c.core));
    EXPECT_NEAR(c.pressure(t), p, 1e-9 * p);
    EXPECT_NEAR(c.slope(p), 3 * c.stiffness / (cube(t - c.core) * (t - c.core)), 1e-9 * c.slope(p));
  }
  EXPECT_EQ(c.pressure(c.thickness), 0);
  EXPECT_EQ(c.pressure(1), 0);
  EXPECT_EQ(c.energy(1), 0);
  // From the slope of the fibre on: straight, on through the core, where the curve alone has no end.
  const double from = c.linear_from(), most = Compression::fibre_modulus / c.core;
  EXPECT_NEAR(c.slope(from), most, 1e-9 * most);
  EXPECT_EQ(c.slope(10 * from), c.slope(from));
  EXPECT_NEAR(c.pressure(0) - c.pressure(c.core), most * c.core, 1e-9 * most * c.core);
}

TEST(Compression, ItsInverseSlopeAndEnergyBelongTogether) {
  for (const FabricPreset& preset : fabric_presets()) {
    const Compression& c = preset.fabric.compression;
    for (double p = 1; p < 1e10; p *= 7) {
      const double t = c.thickness_at(p), dt = 1e-5 * (c.thickness - c.core) / (1 + p / c.offset()) + 1e-12;
      EXPECT_NEAR(c.pressure(t), p, 1e-9 * p) << preset.name;
      EXPECT_NEAR((c.energy(t - dt) - c.energy(t + dt)) / (2 * dt), p, 1e-3 * p) << preset.name << " " << p;
      const double dp = 1e-4 * p;
      EXPECT_NEAR(2 * dp / (c.thickness_at(p - dp) - c.thickness_at(p + dp)), c.slope(p), 1e-3 * c.slope(p))
          << preset.name << " " << p;
    }
  }
}

// The thickness of a preset is that at 1 kPa.
TEST(Compression, PresetsHaveTheirThicknessAtOneKilopascal) {
  for (const FabricPreset& preset : fabric_presets())
    EXPECT_NEAR(preset.fabric.compression.thickness_at(1000), preset.fabric.thickness,
                5e-3 * preset.fabric.thickness)
        << preset.name;
}

TEST(Compression, OfAThicknessAloneScales) {
  const Compression one = compression_of_thickness(1e-3), two = compression_of_thickness(2e-3);
  EXPECT_NEAR(one.core, 0.564e-3, 1e-6);
  EXPECT_NEAR(two.thickness_at(1000), 2 * one.thickness_at(1000), 1e-12);
  EXPECT_NEAR(one.thickness_at(high) / one.thickness_at(low), 0.67 / 0.93, 1e-9);
}

// A terry's work is more than any core leaves: the pressures are right, and the core is a tenth.
TEST(Compression, OfSoftThickClothHasItsPressures) {
  for (const auto& [t0, tm, lc] : {std::array{2e-3, 0.6e-3, 0.5}, {1e-3, 0.5e-3, 0.6}}) {
    const Compression curve = fitted_compression(t0, tm, lc);
    EXPECT_NEAR(curve.core, 0.1 * tm, 1e-3 * tm) << t0;
    EXPECT_NEAR(curve.pressure(tm), high, 0.01 * high) << t0;
    EXPECT_NEAR(curve.thickness_at(low), t0, 0.03 * t0) << t0;
    EXPECT_GT(curve.linear_from(), high) << t0;
  }
}

}  // namespace
}  // namespace isocloth

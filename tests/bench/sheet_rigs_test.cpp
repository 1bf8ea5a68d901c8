// Data sheets come back from the rigs.
#include "bench/sheet_rigs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace isocloth::bench {
namespace {

TEST(SheetRigs, GiveKesFiguresBack) {
  const std::vector<SheetFigure> all = test_kes(kes_suiting);
  ASSERT_EQ(all.size(), 7u);
  for (const SheetFigure& f : all) {
    // Sheared cloth is uneven near its free edges, and bending goes with the cube of its length.
    const double within = f.name == "G" ? 0.03 : f.name[0] == 'B' ? 0.02 : 0.01;
    EXPECT_NEAR(f.rig / f.sheet, 1, within) << f.name << ": " << f.sheet << ", " << f.rig;
  }
}

TEST(SheetRigs, GiveFastFiguresBack) {
  for (const SheetFigure& f : test_fast(fast_suiting)) {
    if (f.name.starts_with("EB5")) continue;
    EXPECT_NEAR(f.rig / f.sheet, 1, 0.01) << f.name << ": " << f.sheet << ", " << f.rig;
  }
}

}  // namespace
}  // namespace isocloth::bench

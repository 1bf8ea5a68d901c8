// Systems that are not symmetric, near one that is.
#include "host/linear/gmres.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/core/random.hpp"

namespace isocloth {
namespace {

using Vector = std::vector<double>;

constexpr std::size_t size = 30;

/// A diagonal of widely different numbers and a part that is not symmetric, as sliding contacts have it.
Vector product(const Vector& x) {
  Vector y(size);
  for (std::size_t i = 0; i < size; ++i) {
    y[i] = (1 + 1e6 * static_cast<double>(i % 3)) * x[i];
    if (i % 3 == 1) y[i - 1] += 5e5 * x[i];
    y[i] += 0.1 * x[(i + 7) % size];
  }
  return y;
}
Vector inverse(const Vector& r) {
  Vector z(size);
  for (std::size_t i = 0; i < size; ++i) z[i] = r[i] / (1 + 1e6 * static_cast<double>(i % 3));
  return z;
}

TEST(Gmres, SolvesWhatIsNotSymmetric) {
  Random random(1);
  Vector expected;
  for (std::size_t i = 0; i < size; ++i) expected.push_back(random.uniform(-1, 1));
  const GmresSolution found = gmres(product, inverse, product(expected), 1e-12, 60);
  EXPECT_TRUE(found.is_met);
  EXPECT_LE(found.iterations, static_cast<int>(size));
  for (std::size_t i = 0; i < size; ++i)
    EXPECT_NEAR(found.x[i], expected[i], 1e-4);  // the soft ones feel errors of the stiff
}

TEST(Gmres, TellsWhereItEnds) {
  EXPECT_TRUE(gmres(product, inverse, Vector(size), 1e-12, 60).is_met);  // of nothing
  Vector b(size);
  b[1] = 1;
  EXPECT_FALSE(gmres(product, inverse, b, 1e-12, 1).is_met);
  EXPECT_TRUE(
      gmres([](const Vector& x) { return x; }, [](const Vector& x) { return x; }, b, 1e-12, 5).is_met);
  b[2] = std::nan("");
  EXPECT_FALSE(gmres(product, inverse, b, 1e-12, 60).is_met);
}

}  // namespace
}  // namespace isocloth

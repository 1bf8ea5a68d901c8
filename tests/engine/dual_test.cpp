// Derivatives of formulas by dual numbers.
#include "engine/core/dual.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/vec3.hpp"

namespace isocloth {
namespace {

using Number = Dual<2>;

TEST(Dual, HasTheDerivativesOfFormulas) {
  const double a = 1.3, b = -0.7;
  const Number x = Number::variable(a, 0), y = Number::variable(b, 1);
  const Number f = 3 * x * y - x / y + square_root(x + 2) - magnitude(y) + 1;
  EXPECT_DOUBLE_EQ(f.value, 3 * a * b - a / b + std::sqrt(a + 2) + b + 1);
  EXPECT_DOUBLE_EQ(f.by[0], 3 * b - 1 / b + 0.5 / std::sqrt(a + 2));
  EXPECT_DOUBLE_EQ(f.by[1], 3 * a + a / (b * b) + 1);
}

TEST(Dual, TakesTheBranchOfItsValue) {
  const Number x = Number::variable(2, 0), y = Number::variable(3, 1);
  const Number larger = select(x > y, x, y);
  EXPECT_EQ(larger.value, 3);
  EXPECT_EQ(larger.by[0], 0);
  EXPECT_EQ(larger.by[1], 1);
  EXPECT_EQ(static_cast<int>(y), 3);
  EXPECT_EQ(square_root(Number(0)).by[0], 0);  // of what does not vary
}

TEST(Dual, IsANumberOfVectors) {
  const Vec3<Number> v{Number::variable(1, 0), 2, Number::variable(-2, 1)};
  const Number square = dot(v, v);
  EXPECT_EQ(square.value, 9);
  EXPECT_EQ(square.by[0], 2);
  EXPECT_EQ(square.by[1], -4);
}

TEST(Dual, ChainsKnownDerivatives) {
  const Number x = Number::variable(0.4, 1);
  const Number sine = Number::of(std::sin(0.4), std::cos(0.4), 2 * x);
  EXPECT_DOUBLE_EQ(sine.by[1], 2 * std::cos(0.4));
  EXPECT_EQ(Number::by_first(Dual<1>::variable(5, 0)).by[0], 1);
}

}  // namespace
}  // namespace isocloth

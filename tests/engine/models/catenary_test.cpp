// Catenaries against closed forms: ends, lengths and sags in every regime.
#include "engine/models/drape/catenary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

namespace isocloth {
namespace {

constexpr double relative = 1e-12;  ///< what the class promises

/// Where the curve arrives when it is followed by arc length up to just before its end, which at() would give
/// by itself; and that a step along it is as long as the difference of arc lengths.
void expect_hangs(const Vec3d& from, const Vec3d& to, double length) {
  const Catenary curve(from, to, length);
  const double short_of_end = length * (1 - 1e-15);
  EXPECT_LE(norm(curve.at(short_of_end) - to), 2 * relative * length) << "length " << length;
  EXPECT_EQ(curve.at(0), from);
  EXPECT_EQ(curve.at(length), to);
}

TEST(Catenary, EndsWhereItMustInEveryRegime) {
  for (const double height : {0.0, 0.3, -0.3, 2.0, -2.0})
    for (const double across : {1.0, 1e-3, 1e-6, 1e-9, 1e-12})
      for (const double slack : {1e-14, 1e-10, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1e4}) {
        const Vec3d from{1, 2, 3}, to{1 + 0.6 * across, 2 + 0.8 * across, 3 + height};
        expect_hangs(from, to, (1 + slack) * norm(to - from));
      }
}

TEST(Catenary, IsAsLongAsAsked) {
  for (const auto& [to, length] : {std::pair{Vec3d{1, 0, 0}, 1.001},
                                   {Vec3d{1, 0, 0.5}, 1.3},
                                   {Vec3d{0.2, 0.1, -0.7}, 2.0},
                                   {Vec3d{1e-3, 0, 0.1}, 1.0}}) {
    const Catenary curve({}, to, length);
    // Chords fall short of the arc by (s / a)^2 s / 24: with n of them the sum is exact to (L / a n)^2 / 24.
    constexpr int n = 200'000;
    double sum = 0;
    Vec3d last;
    for (int i = 1; i <= n; ++i) {
      const Vec3d next = curve.at(length * i / n);
      sum += norm(next - last);
      last = next;
    }
    const double chord = length / curve.parameter() / n;
    EXPECT_NEAR(sum, length, (relative + chord * chord / 24) * length);
  }
}

TEST(Catenary, HasTheSagsOfClosedForms) {
  // L = 2 a sinh(1 / 2a), sag = a (cosh(1 / 2a) - 1).
  for (const auto& [length, sag] : {std::pair{1.2, 0.292344}, {1.5, 0.502633}, {2.0, 0.796388}})
    EXPECT_NEAR(-Catenary({}, {1, 0, 0}, length).at(length / 2).z, sag, 5e-7);
  const double a = 0.37, from = -0.8, to = 1.9;  // of the vertex, over a
  const Vec3d p{a * from, 0, a * std::cosh(from)}, q{a * to, 0, a * std::cosh(to)};
  const double length = a * (std::sinh(to) - std::sinh(from));
  const Catenary curve(p, q, length);
  EXPECT_NEAR(curve.parameter(), a, relative * a);
  for (const double x : {-0.5, 0.0, 0.9, 1.5}) {
    const Vec3d found = curve.at(a * (std::sinh(x) - std::sinh(from)));
    EXPECT_NEAR(found.x, a * x, relative * length);
    EXPECT_NEAR(found.z, a * std::cosh(x), relative * length);
  }
  // Nearly taut: sag^2 = 3 h (L - h) / 8.
  for (const double slack : {1e-4, 1e-8, 1e-12}) {
    const double exact_slack = (1 + slack) - 1;
    const double sag = -Catenary({}, {1, 0, 0}, 1 + slack).at((1 + slack) / 2).z;
    EXPECT_NEAR(sag, std::sqrt(3 * exact_slack / 8), slack * sag + 1e-12);
  }
}

TEST(Catenary, KeepsTheDigitsOfANearlyTautChain) {
  // sinh(t)^2 / t^2 = 1 + t^2 / 3 + 2 t^4 / 45 + ... is 1 + e / h^2 with e = L^2 - h^2 - v^2, so that t^2 = 3
  // e / h^2 (1 - 2 e / 5 h^2 + ...), and a = h / 2t. Here e is exact but for one rounding; L - sqrt(3) has
  // lost its digits.
  for (const double slack : {1e-15, 1e-13, 1e-11, 1e-9}) {
    const double length = std::sqrt(3.0) * (1 + slack), e = std::fma(length, length, -3.0),
                 h = std::sqrt(2.0);
    ASSERT_GT(e, 0);
    const double a = h / (2 * std::sqrt(3 * e / 2 * (1 - e / 5)));
    for (const Vec3d& from : {Vec3d{}, Vec3d{7, -5, 3}, Vec3d{0x1p30, 1, 0x1p20}}) {
      EXPECT_NEAR(Catenary(from, from + Vec3d{1, 1, 1}, length).parameter() / a, 1, relative) << slack;
      EXPECT_NEAR(Catenary(from, from + Vec3d{1, 1, -1}, length).parameter() / a, 1, relative) << slack;
    }
  }
}

TEST(Catenary, GoesDownAndUpBetweenPointsAboveEachOther) {
  const Catenary above({0, 0, 0}, {0, 0, 1}, 3), closed({1, 1, 1}, {1, 1, 1}, 2);
  EXPECT_EQ(above.at(1), (Vec3d{0, 0, -1}));
  EXPECT_EQ(above.at(2), (Vec3d{0, 0, 0}));
  EXPECT_EQ(closed.at(1), (Vec3d{1, 1, 0}));
  EXPECT_EQ(above.parameter(), 0);
  // The limit of points ever closer to one vertical.
  EXPECT_NEAR(norm(Catenary({0, 0, 0}, {1e-10, 0, 1}, 3).at(1) - above.at(1)), 0, 1e-8);
}

TEST(Catenary, IsStraightWhereItIsNoLongerThanTheDistance) {
  const Catenary taut({0, 0, 0}, {3, 0, 4}, 5), torn({0, 0, 0}, {3, 0, 4}, 2.5),
      point({1, 2, 3}, {1, 2, 3}, 0);
  EXPECT_NEAR(norm(taut.at(2.5) - Vec3d{1.5, 0, 2}), 0, 1e-15);
  EXPECT_NEAR(norm(torn.at(1.25) - Vec3d{1.5, 0, 2}), 0, 1e-15);
  EXPECT_EQ(point.at(0), (Vec3d{1, 2, 3}));
  EXPECT_TRUE(std::isinf(taut.parameter()));
}

TEST(Catenary, IsItsOwnMirrorImage) {
  const Vec3d from{0.1, 0.2, 0.3}, to{0.9, -0.4, 0.8};
  const Catenary there(from, to, 1.7), back(to, from, 1.7);
  for (int i = 0; i <= 10; ++i)
    EXPECT_NEAR(norm(there.at(0.17 * i) - back.at(1.7 - 0.17 * i)), 0, 1.7 * relative);
}

TEST(Catenary, ContainsTheCatenariesOfItsParts) {
  const Catenary whole({0, 0, 0}, {1, 0, 0.4}, 2.2);
  const Catenary part(whole.at(0.5), whole.at(1.4), 0.9);
  for (int i = 0; i <= 9; ++i) EXPECT_NEAR(norm(part.at(0.1 * i) - whole.at(0.5 + 0.1 * i)), 0, 1e-11);
}

}  // namespace
}  // namespace isocloth

#include "engine/geometry/exact_predicates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "engine/core/random.hpp"
#include "tests/support/exact_counts.hpp"

namespace isocloth {
namespace {

using Points = std::array<Vec3d, 4>;

int of(const Points& p) { return orientation(p[0], p[1], p[2], p[3]); }

/// The determinant as rounding leaves it.
int rounded_orientation(const Points& p) {
  const double volume = dot(cross(p[1] - p[0], p[2] - p[0]), p[3] - p[0]);
  return (volume > 0) - (volume < 0);
}

void expect_all_orders(const Points& p, int expected) {
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  do {
    int inversions = 0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < i; ++j) inversions += order[j] > order[i];
    ASSERT_EQ(of({p[order[0]], p[order[1]], p[order[2]], p[order[3]]}),
              inversions % 2 == 0 ? expected : -expected);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Orientation, IsPositiveInFront) {
  const Points p{Vec3d{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.2, 1}};
  expect_all_orders(p, 1);
  expect_all_orders({p[0], p[1], p[2], {5, 7, 0}}, 0);
  expect_all_orders({p[0], p[1], p[2], {5, 7, -1e-90}}, -1);
}

/// Integers decide: points of a plane, and one step beside it.
TEST(Orientation, AgreesWithIntegers) {
  __extension__ using Wide = __int128;
  Random random(4);
  const auto whole = [&random](double size) {
    return static_cast<std::int64_t>(random.uniform(-size, size));
  };
  int lost_to_rounding = 0;
  for (int i = 0; i < 20000; ++i) {
    std::array<std::array<std::int64_t, 3>, 4> p{};
    std::array<std::int64_t, 3> u{}, v{};
    for (std::size_t k = 0; k < 3; ++k) {
      p[0][k] = whole(0x1p36);
      u[k] = whole(0x1p18);
      v[k] = whole(0x1p18);
    }
    for (std::size_t n = 1; n < 4; ++n) {
      const std::int64_t s = whole(0x1p17), t = whole(0x1p17);
      for (std::size_t k = 0; k < 3; ++k) p[n][k] = p[0][k] + s * u[k] + t * v[k];
    }
    p[3][static_cast<std::size_t>(i % 3)] += i % 5 - 2;
    std::array<std::array<Wide, 3>, 3> d{};
    for (std::size_t n = 0; n < 3; ++n)
      for (std::size_t k = 0; k < 3; ++k) d[n][k] = p[n + 1][k] - p[0][k];
    const Wide volume = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) +
                        d[0][1] * (d[1][2] * d[2][0] - d[1][0] * d[2][2]) +
                        d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
    const int expected = (volume > 0) - (volume < 0);
    // Products of the smallest are lost to underflow, of the largest to overflow.
    for (const double unit : {0x1p-38, 0x1p-1074, 0x1p-1037, 0x1p980}) {
      Points x;
      for (std::size_t n = 0; n < 4; ++n)
        x[n] = unit * Vec3d{static_cast<double>(p[n][0]), static_cast<double>(p[n][1]),
                            static_cast<double>(p[n][2])};
      ASSERT_EQ(of(x), expected) << i << ", in units of " << unit;
      if (unit == 0x1p-38) lost_to_rounding += rounded_orientation(x) != expected;
    }
  }
  EXPECT_GT(lost_to_rounding, 1000);
}

/// Doubles whose determinant, computed by rational numbers, has that sign: generic points of a plane, a
/// lattice of some 2^-53 among large numbers, and magnitudes from 2^-290 to 2^290. Rounding loses all of
/// them.
TEST(Orientation, AgreesWithRationalNumbers) {
  struct Case {
    Points points;
    int sign;
  };
  const std::vector<Case> cases = {
      // clang-format off
      {{{{-0x1.861b50897adb0p-4, 0x1.e9a7c76d6d7e0p-4, 0x1.b2644263fef40p-1}, {0x1.817ebe0553296p-2, 0x1.c01a7f4d97ceep-4, 0x1.7adc644614500p-1}, {0x1.cad642d78e4dep-2, 0x1.80888845432eap-4, 0x1.225371e2509e0p-1}, {-0x1.86f1aae31a3aap-2, 0x1.1b96c431c6590p-3, 0x1.0ea178e8f4a63p+0}}}, 1},
      {{{{0x1.395459de819a0p-5, 0x1.1f51424b4d844p-2, -0x1.dbbbfb4bc6000p-12}, {-0x1.8e31f4b593a96p-3, -0x1.f038a97088e74p-4, -0x1.beb483bb81a62p-2}, {-0x1.1d5ddaa25d77fp-1, -0x1.77080218780b0p-4, -0x1.866fc9b83317cp-5}, {0x1.27ff390c7373bp-2, 0x1.c38b9eb59a484p-1, 0x1.7c905d4d2277ap-1}}}, 1},
      {{{{-0x1.a6c3abd82a488p-1, -0x1.56dd58fc1f298p-2, 0x1.db36cbb47c8c6p-1}, {-0x1.40c62f9142862p+0, 0x1.b4acd3c28810cp-5, 0x1.535925565fb1cp+0}, {-0x1.8ba3dcd1402cfp-2, 0x1.28fef673fda21p-2, 0x1.3a5d5fe3501acp-1}, {0x1.4e19c8e461100p-9, -0x1.43b61a86ce320p-5, 0x1.0492729b6d9a2p-2}}}, 1},
      {{{{0x1.879f2f859dcacp-2, 0x1.59de09e4ca168p-3, -0x1.7048d3b47ef4ap-1}, {0x1.d6a50c2174cb9p-4, -0x1.035375256e1b2p-3, -0x1.d8e9ca69a29d4p-2}, {-0x1.88c8157dfbdd3p-3, -0x1.38c009a0f2e1cp-1, 0x1.756fd91a54a80p-8}, {-0x1.c67898b18e669p-1, -0x1.948f9d28fd637p+0, 0x1.d3abf152d4422p-1}}}, -1},
      {{{{0x1.8p+3, 0x1.8p+4, 0x1.8p+3}, {0x1.0000000000001p-1, 0x1.0p-1, 0x1.0000000000004p-1}, {0x1.0p-1, 0x1.0000000000003p-1, 0x1.0p-1}, {0x1.8p+3, 0x1.0000000000005p-1, 0x1.8p+4}}}, 1},
      {{{{0x1.0p-1, 0x1.0000000000006p-1, 0x1.8p+3}, {0x1.8p+3, 0x1.0000000000001p-1, 0x1.0000000000006p-1}, {0x1.8p+3, 0x1.0000000000006p-1, 0x1.0000000000006p-1}, {0x1.0p-1, 0x1.8p+3, 0x1.0p-1}}}, -1},
      {{{{0x1.8p+4, 0x1.0p-1, 0x1.0p-1}, {0x1.0000000000006p-1, 0x1.8p+4, 0x1.8p+3}, {0x1.8p+4, 0x1.0p-1, 0x1.0000000000009p-1}, {0x1.8p+3, 0x1.0000000000001p-1, 0x1.8p+4}}}, -1},
      {{{{0x1.0p-1, 0x1.8p+4, 0x1.0000000000005p-1}, {0x1.8p+3, 0x1.8p+4, 0x1.8p+3}, {0x1.0p-1, 0x1.0p-1, 0x1.0000000000007p-1}, {0x1.8p+3, 0x1.8p+3, 0x1.8p+3}}}, 1},
      {{{{0x1.e9e35f793d241p+9, 0x1.3bb000f2b533ep+9, 0x1.751fec1be76abp+9}, {0x1.e9e35f793d23fp+9, 0x1.3bb000f2b5339p+9, 0x1.751fec1be76acp+9}, {0x1.e9e35f793d23dp+9, 0x1.3bb000f2b533cp+9, 0x1.751fec1be76aep+9}, {0x1.e9e35f793d23ep-191, 0x1.3bb000f2b533cp-191, 0x1.751fec1be76afp-191}}}, 1},
      {{{{0x1.2fd7627d62ac3p+8, -0x1.b717749bb2fa9p+9, -0x1.15c0d569f15dfp+9}, {0x1.2fd7627d62ac9p+8, -0x1.b717749bb2fa9p+9, -0x1.15c0d569f15e1p+9}, {0x1.2fd7627d62acdp+8, -0x1.b717749bb2fabp+9, -0x1.15c0d569f15ddp+9}, {0x1.2fd7627d62ac3p-192, -0x1.b717749bb2fafp-191, -0x1.15c0d569f15e2p-191}}}, -1},
      {{{{-0x1.721e8288ddc3ap+35, 0, 0}, {0, -0x1.05808745ef960p+172, -0x1.6a0b1307d2ce8p-168}, {0, 0, 0}, {0x1.0c920fe6d8bd2p+243, 0x1.c9db940bcb1e0p+248, 0}}}, -1},
      {{{{0, 0, 0}, {-0x1.dace363ba917cp-13, 0, 0}, {0x1.8dc54a73ca9b0p-93, 0, 0x1.7944ed905d484p+184}, {0x1.2bbb1991c4e00p+142, 0x1.427466d327b76p-41, -0x1.d079adf4df886p-46}}}, 1},
      // clang-format on
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    expect_all_orders(cases[i].points, cases[i].sign);
  }
}

/// Numbers without rounding decide: every magnitude that doubles have, mixed.
TEST(Orientation, AgreesAtAllMagnitudes) {
  Random random(11);
  int flat = 0, lost = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto any = [&] {
      const double size = random.uniform(0, 5);
      if (size < 1) return 0.0;
      return std::ldexp(random.uniform(-1, 1),
                        static_cast<int>(random.uniform(-1074, size < 3 ? -900 : 1024)));
    };
    const auto point = [&] { return Vec3d{any(), any(), any()}; };
    const Points p{point(), point(), point(), i % 2 == 0 ? point() : Vec3d{any(), 0, 0}};
    const ExactPoint u = exact::difference(exact_point(p[1]), exact_point(p[0]));
    const ExactPoint v = exact::difference(exact_point(p[2]), exact_point(p[0]));
    const ExactPoint w = exact::difference(exact_point(p[3]), exact_point(p[0]));
    const ExactPoint normal{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const int expected = exact::dot(normal, w).sign();
    ASSERT_EQ(of(p), expected) << i;
    for (int axis = 0; axis < 3; ++axis)
      ASSERT_EQ(turn(p[0], p[1], p[2], axis), normal[static_cast<std::size_t>(axis)].sign()) << i;
    flat += expected == 0;
    lost += rounded_orientation(p) != expected;
  }
  EXPECT_GT(flat, 10);
  EXPECT_LT(flat, 3000);
  EXPECT_GT(lost, 1000);
}

class MeetingTest : public ::testing::Test {
 protected:
  /// In every order of corners and ends.
  void expect(Meeting expected, const Vec3d& p, const Vec3d& q) const {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d &a = t_[k], &b = t_[(k + 1) % 3], &c = t_[(k + 2) % 3];
      EXPECT_EQ(meeting(p, q, a, b, c), expected);
      EXPECT_EQ(meeting(q, p, a, b, c), expected);
      EXPECT_EQ(meeting(p, q, c, b, a), expected);
    }
  }
  const std::array<Vec3d, 3> t_{Vec3d{0, 0, 0.5}, {1, 0, 0.5}, {0, 1, 0.5}};
};

TEST_F(MeetingTest, FindsWhatPassesThroughTheInside) {
  expect(Meeting::crossing, {0.2, 0.2, 0}, {0.2, 0.2, 1});
  expect(Meeting::crossing, {0.9, 0.05, 0.4}, {0.1, 0.1, 0.6});
  expect(Meeting::crossing, {0x1p-52, 0x1p-52, 0}, {0x1p-52, 0x1p-52, 1});
  expect(Meeting::crossing, {0.2, 0.2, 0x1.fffffffffffffp-2}, {0.2, 0.2, 0x1.0000000000001p-1});
}

/// The least numbers that there are, and the largest.
TEST_F(MeetingTest, KnowsNoUnderflowOrOverflow) {
  constexpr double least = 5e-324, largest = 0x1.fffffffffffffp1023;
  const auto of_unit = [](double unit, double lift, const Vec3d& p, const Vec3d& q) {
    return meeting(p, q, {0, 0, lift}, {unit, 0, lift}, {0, unit, lift});
  };
  EXPECT_EQ(of_unit(1, 0, {0.2, 0.2, -least}, {0.2, 0.2, 1}), Meeting::crossing);
  EXPECT_EQ(of_unit(1, 0, {0.2, 0.2, -least}, {0.2, 0.2, least}), Meeting::crossing);
  EXPECT_EQ(of_unit(1, 0, {0.2, 0.2, 0}, {0.2, 0.2, least}), Meeting::touching);
  EXPECT_EQ(of_unit(1, 0, {0.2, 0.2, least}, {0.2, 0.2, 1}), Meeting::none);
  EXPECT_EQ(of_unit(1, 0, {least, 0.2, -1}, {least, 0.2, 1}), Meeting::crossing);
  EXPECT_EQ(of_unit(1, 0, {-least, 0.2, -1}, {-least, 0.2, 1}), Meeting::none);
  EXPECT_EQ(of_unit(1, least, {0.2, 0.2, 0}, {0.2, 0.2, 2 * least}), Meeting::crossing);
  EXPECT_EQ(of_unit(4 * least, 0, {least, least, -least}, {least, least, least}), Meeting::crossing);
  EXPECT_EQ(of_unit(4 * least, 0, {2 * least, 2 * least, -least}, {2 * least, 2 * least, least}),
            Meeting::touching);
  EXPECT_EQ(of_unit(largest, 0, {1, 1, -largest}, {1, 1, largest}), Meeting::crossing);
  EXPECT_EQ(of_unit(largest, 0, {least, least, -largest}, {least, least, least}), Meeting::crossing);
  EXPECT_EQ(of_unit(largest, 0, {largest, least, -1}, {largest, least, 1}), Meeting::none);
  EXPECT_EQ(of_unit(largest, 0, {largest, 0, -1}, {largest, 0, 1}), Meeting::touching);
}

#if defined(__x86_64__)
/// Processors can take denormal numbers for zero, as programs beside this library may have told them to.
TEST_F(MeetingTest, DoesNotDependOnWhatHappensToDenormalNumbers) {
  const unsigned before = _mm_getcsr();
  constexpr unsigned flush_results = 0x8000, read_as_zero = 0x0040;
  const Points slanted{Vec3d{0, 0, 0}, {0x1p-400, 0, 0}, {0, 0x1p-400, 0}, {0.2, 0.2, 0x1p-1074}};
  for (const unsigned bits : {0U, flush_results, read_as_zero, flush_results | read_as_zero}) {
    _mm_setcsr(before | bits);
    const Meeting crosses = meeting({0.2, 0.2, -5e-324}, {0.2, 0.2, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0});
    const int in_front = of(slanted), turns = turn({0, 0, 0}, {0x1p-1074, 0, 0}, {0, 0x1p-1074, 0}, 2);
    _mm_setcsr(before);
    EXPECT_EQ(crosses, Meeting::crossing) << bits;
    EXPECT_EQ(in_front, 1) << bits;
    EXPECT_EQ(turns, 1) << bits;
  }
}
#endif

TEST_F(MeetingTest, LeavesOutWhatPassesBy) {
  expect(Meeting::none, {0.6, 0.6, 0}, {0.6, 0.6, 1});
  expect(Meeting::none, {-0x1p-52, 0.2, 0}, {-0x1p-52, 0.2, 1});
  expect(Meeting::none, {0.2, 0.2, 0.6}, {0.2, 0.2, 1});
  expect(Meeting::none, {0.2, 0.2, 0x1.0000000000001p-1}, {0.2, 0.2, 1});
  expect(Meeting::none, {0.6, 0.6, 0.5}, {0.6, 0.6, 1});  // an end in the plane, outside
}

TEST_F(MeetingTest, TellsTouchingFromCrossing) {
  expect(Meeting::touching, {0.2, 0.2, 0.5}, {0.2, 0.2, 1});  // an end in the inside
  expect(Meeting::touching, {0.2, 0, 0.5}, {0.2, 0, 1});      // on a side
  expect(Meeting::touching, {1, 0, 0.5}, {2, 5, 1});          // on a corner
  expect(Meeting::touching, {0.2, 0, 0}, {0.2, 0, 1});        // through a side
  expect(Meeting::touching, {0.5, 0.5, 0}, {0.5, 0.5, 1});
  expect(Meeting::touching, {0, 0, 0}, {0, 0, 1});    // through a corner
  expect(Meeting::touching, {1, -1, 0}, {-1, 1, 1});  // the same, aslant
}

TEST_F(MeetingTest, LeavesOutWhatLiesInThePlaneOrHasNoArea) {
  expect(Meeting::none, {-1, 0.2, 0.5}, {2, 0.2, 0.5});
  expect(Meeting::none, {0.2, 0.2, 0.5}, {0.2, 0.2, 0.5});
  EXPECT_EQ(meeting({0.5, 0, -1}, {0.5, 0, 1}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}), Meeting::none);
  EXPECT_EQ(meeting({0, 0, -1}, {0, 0, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}), Meeting::none);
}

}  // namespace
}  // namespace isocloth

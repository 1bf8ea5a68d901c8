// Contacts of one cloth in fast projection, which are rigid and start each step without forces, found once
// and moved once, against the formulas with Eigen.
#include <algorithm>
#include <set>

#include "tests/kernels/contact_terms_case.hpp"

namespace isocloth {
namespace {

constexpr double stiffening = 1000, release_distance = 1e-3;

/// Along the normal, and across it where it sticks.
struct RigidContact {
  bool is_active = false;
  double k = 0, gamma = 0, pull = 0;  ///< k [kg]; normal force, and of an unchanged position [kg m]
  Vector3d tau = Vector3d::Zero();    ///< tangential part of p [kg m]
  Vector3d slip = Vector3d::Zero();   ///< [m]
};
RigidContact rigid_contact(const reference::SqueezedPoint& point) {
  // What may stay of a depth that was there before: nine tenths up to the tolerance, half beyond.
  const double depth = point.gap < 0 ? std::max(0.0, -point.gap_before) : 0,
               gap = point.gap + 0.9 * std::min(depth, tolerance) + 0.5 * std::max(0.0, depth - tolerance);
  const Vector3d& n = point.normal;
  const Vector3d p = time_unit * point.force;
  RigidContact c;
  c.gamma = std::max(0.0, p.dot(n));
  c.is_active = std::isfinite(point.inertia) && (gap < 0 || (c.gamma > 0 && gap < release_distance));
  if (!c.is_active) return c;
  c.k = stiffening * time_unit * point.inertia;
  c.pull = c.gamma - c.k * gap;
  c.tau = p - n * n.dot(p);
  c.slip = point.way - n * n.dot(point.way);
  return c;
}

template <class Real>
class RigidContactTermsTest : public ContactTermsCase<Real> {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RigidContactTermsTest, Precisions);

TYPED_TEST(RigidContactTermsTest, FindAndUpdateFollowTheFormulas) {
  std::set<ContactMode> seen;
  int pairs = 0, left = 0, loose = 0, held = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    this->plant(seed);
    this->find(false);
    const SamplePattern& p = this->pattern;
    const auto found_on = this->obstacles, found_modes = this->modes, found_forces = this->forces,
               found_pulls = this->pulls;
    this->update(false);
    for (Index s = 0; s < p.sample_count(); ++s) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", sample " << s);
      Matrix3d sum = Matrix3d::Zero();  // of what sticks or is smooth
      Vector3d force = Vector3d::Zero();
      double error = 0;
      int count = 0, slides = 0;
      const Index first = p.first_contact(s);
      for (int o = 0; o < 4; ++o) {
        SCOPED_TRACE(::testing::Message() << "obstacle " << o);
        Index was = -1, at = -1;
        for (Index c = first; c < first + p.contacts_of(s); ++c) {
          if (this->planted_on[c] == o) was = c;
          if (static_cast<int>(found_on[c]) == o) at = c;
        }
        if (s >= p.node_count && at < 0) continue;  // another one is deeper, or none
        const Expected found = this->expected(s, o, was, at);
        const RigidContact e = rigid_contact(found.point);
        ASSERT_EQ(at >= 0, e.is_active);
        if (at < 0) continue;
        const auto mode = static_cast<ContactMode>(static_cast<int>(found_modes[at]));
        seen.insert(mode);
        ++count;
        // Places are known to a few u of a metre, forces to k times that.
        const double u =
            32 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()) * std::max(e.k, 1.0);
        const auto of = [at](const auto& vectors) {
          return Vector3d(vectors[3 * at], vectors[3 * at + 1], vectors[3 * at + 2]);
        };
        const Vector3d n = found.point.normal, pull = of(found_pulls), across = pull - n * n.dot(pull);
        ASSERT_NEAR(n.dot(pull), e.pull, u);
        const bool sticks = mode == ContactMode::stick;
        const double grip = static_cast<double>(this->stiffness[3 * at + 1]);
        const Vector3d hold = e.tau - e.k * e.slip;
        if (sticks) {
          ASSERT_NEAR(grip, e.k, u);
          ASSERT_LE((across - hold).norm(), u);
        } else if (mode == ContactMode::smooth) {
          ASSERT_EQ(found.friction.static_, 0);
          ASSERT_LE(across.norm(), u);
        } else {
          ++slides;
          ASSERT_EQ(grip, 0);
          // Besides its force, what the point alone needs to leave counts.
          const double alone = std::max(0.0, e.pull - e.gamma) / stiffening;
          ASSERT_NEAR(across.norm(), found.friction.dynamic * (e.gamma + alone), u);
        }
        sum += e.k * n * n.transpose();
        if (sticks) sum += e.k * (Matrix3d::Identity() - n * n.transpose());
        force += pull - time_unit * found.point.force;
        error += u;
        // gamma' is that of the linear law, tau' that within Coulomb's bounds.
        const Vector3d d = this->at_sample(s, this->correction, true), after = of(this->forces);
        const double gamma = std::max(0.0, e.pull - e.k * n.dot(d));
        const Vector3d tau = after - n * n.dot(after), free = hold - e.k * (d - n * n.dot(d));
        ASSERT_NEAR(n.dot(after), gamma, 4 * u);
        const double bound = (sticks ? found.friction.static_ : found.friction.dynamic) * gamma;
        ASSERT_LE(tau.norm(), bound + 4 * u);
        if (sticks && free.norm() < bound) {
          ++held;
          ASSERT_LE((tau - free).norm(), 4 * u);
        }
        left += gamma == 0;
      }
      pairs += s < p.node_count && count > 1;
      ASSERT_NO_FATAL_FAILURE(this->expect_sums(s, sum, force, 2 * error, error));
      // Contacts that ended keep nothing.
      for (Index c = first; c < first + p.contacts_of(s); ++c)
        if (static_cast<int>(found_on[c]) < 0) {
          loose += this->planted_on[c] >= 0;
          ASSERT_EQ(found_forces[3 * c + 2], 0);
          ASSERT_EQ(static_cast<int>(found_modes[c]), static_cast<int>(ContactMode::none));
        }
    }
  }
  EXPECT_GE(seen.size(), 3u) << "smooth, stick, slide";
  EXPECT_GT(pairs, 20);
  EXPECT_GT(left, 5);
  EXPECT_GT(loose, 5);
  EXPECT_GT(held, 5);
}

}  // namespace
}  // namespace isocloth

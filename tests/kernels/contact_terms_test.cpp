// Contacts of one cloth, found once and moved once, against the formulas with Eigen.
#include <algorithm>
#include <set>

#include "tests/kernels/contact_terms_case.hpp"

namespace isocloth {
namespace {

template <class Real>
class ContactTermsTest : public ContactTermsCase<Real> {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ContactTermsTest, Precisions);

TYPED_TEST(ContactTermsTest, FindAndUpdateFollowTheFormulas) {
  std::set<ContactMode> seen;
  int pairs = 0, left = 0, loose = 0, held = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const bool keeps_forces : {true, false}) {
      this->plant(seed);
      this->find(keeps_forces);
      const SamplePattern& p = this->pattern;
      const auto found_on = this->obstacles, found_modes = this->modes, found_forces = this->forces,
                 found_pulls = this->pulls;
      if (keeps_forces) this->update();
      for (Index s = 0; s < p.sample_count(); ++s) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", sample " << s);
        Matrix3d sum = Matrix3d::Zero();  // of what sticks or is smooth
        Vector3d force = Vector3d::Zero();
        double error = 0;
        int count = 0, slides = 0;
        const Index first = p.first_contact(s);
        for (int o = 0; o < 4; ++o) {
          SCOPED_TRACE(::testing::Message() << "obstacle " << o);
          Vector3d before = Vector3d::Zero();
          Index at = -1;
          for (Index c = first; c < first + p.contacts_of(s); ++c) {
            if (this->planted_on[c] == o) before = this->planted[c];
            if (static_cast<int>(found_on[c]) == o) at = c;
          }
          if (s >= p.node_count && at < 0) continue;  // another one is deeper, or none
          const Expected e = this->expected(s, o, before, at, keeps_forces);
          ASSERT_EQ(at >= 0, e.active);
          if (at < 0) continue;
          const auto mode = static_cast<ContactMode>(static_cast<int>(found_modes[at]));
          seen.insert(mode);
          ++count;
          const double u = this->known(e);
          const auto of = [at](const auto& vectors) {
            return Vector3d(vectors[3 * at], vectors[3 * at + 1], vectors[3 * at + 2]);
          };
          const Vector3d pull = of(found_pulls), n = e.normal, across = pull - n * n.dot(pull);
          ASSERT_NEAR(n.dot(pull), e.pull, u);
          // Across the normal contacts may be softer than along it; the law holds with that stiffness.
          const bool is_held = mode == ContactMode::stick;
          const double grip = static_cast<double>(this->stiffness[2 * at + 1]);
          const Vector3d hold = e.tau - grip * e.slip;
          if (is_held) {
            ASSERT_LE((across - hold).norm(), u);
          } else if (mode == ContactMode::smooth) {
            ASSERT_EQ(e.friction.static_, 0);
            ASSERT_LE(across.norm(), u);
          } else {
            ++slides;
            // Without forces of the step before, what the point alone needs to leave counts, too; k is
            // `stiffening` times the point's inertia.
            const double alone = keeps_forces ? 0 : std::max(0.0, e.pull - e.gamma) / stiffening;
            ASSERT_NEAR(across.norm(), e.friction.dynamic * (e.gamma + alone), u);
          }
          sum += e.k * n * n.transpose();
          if (is_held) {
            ASSERT_GT(grip, 0);
            ASSERT_LE(grip, e.k + u);
            sum += grip * (Matrix3d::Identity() - n * n.transpose());
          }
          force += keeps_forces ? pull : Vector3d(pull - before);
          error += u;
          if (!keeps_forces) continue;
          // gamma' is that of the linear law, tau' that within Coulomb's bounds.
          const Vector3d d = this->at_sample(s, this->correction, true), after = of(this->forces);
          const double gamma = std::max(0.0, e.pull - e.k * n.dot(d));
          const Vector3d tau = after - n * n.dot(after), free = hold - grip * (d - n * n.dot(d));
          ASSERT_NEAR(n.dot(after), gamma, 4 * u);
          const double bound = (mode == ContactMode::stick ? e.friction.static_ : e.friction.dynamic) * gamma;
          ASSERT_LE(tau.norm(), bound + 4 * u);
          if (is_held && free.norm() < bound) {
            ++held;
            ASSERT_LE((tau - free).norm(), 4 * u);
          }
          left += gamma == 0;
        }
        pairs += s < p.node_count && count > 1;
        // What an element that touches nothing exerts is left as it was, and has no weight.
        const auto weight = this->weights.begin();
        if (std::all_of(weight + p.sample_begin[s], weight + p.sample_begin[s + 1],
                        [](TypeParam w) { return w == 0; })) {
          ASSERT_EQ(sum.norm() + force.norm(), 0);
        } else {
          Matrix3d found;
          const auto* a = this->sample_stiffness.data() + 6 * s;
          found << a[0], a[1], a[2], a[1], a[3], a[4], a[2], a[4], a[5];
          if (slides == 0) {
            ASSERT_LE((found - sum).norm(), 2 * error);
          } else {  // no softer than without its tangential part, which is at most that of what sticks
            const Eigen::SelfAdjointEigenSolver<Matrix3d> more(found - sum);
            ASSERT_GE(more.eigenvalues().minCoeff(), -2 * error);
            ASSERT_LE(more.eigenvalues().maxCoeff(), slides * found.norm() + 2 * error);
          }
          for (int k = 0; k < 3; ++k)
            ASSERT_NEAR(static_cast<double>(this->sample_forces[3 * s + k]), force[k], error);
        }
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

// A corner of a box in face 0, and a bar across edges whose ends are free of it.
TYPED_TEST(ContactTermsTest, PointsOfEdgesAndFacesAreTheDeepest) {
  this->plant(1);
  this->find(true);
  const SamplePattern& p = this->pattern;
  std::set<int> seen;
  for (Index s = p.node_count; s < p.sample_count(); ++s) {
    const int o = static_cast<int>(this->obstacles[p.first_contact(s)]);
    if (o < 0 || this->planted_on[p.first_contact(s)] == o) continue;  // that one stays where it was
    seen.insert((s < p.node_count + p.edge_count ? 0 : 10) + o);
    const reference::ObstacleDistance distance(this->scene.obstacles[static_cast<std::size_t>(o)]);
    const Index slot = p.sample_begin[s];
    const int size = static_cast<int>(p.sample_begin[s + 1] - slot);
    double sum = 0;
    for (int i = 0; i < size; ++i) {
      ASSERT_GE(this->weights[slot + i], 0);
      sum += static_cast<double>(this->weights[slot + i]);
    }
    EXPECT_NEAR(sum, 1, 8 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()));
    const Vector3d place = this->at_sample(s, this->iterate);
    const double value = distance.at({place.x(), place.y(), place.z()}, 0).value;
    double deepest = 1;
    const auto corner = [&](int i, int k) {
      return static_cast<double>(this->iterate[static_cast<std::size_t>(3 * p.slot_nodes[slot + i] + k)]);
    };
    constexpr int parts = 128;
    for (int i = 0; i <= parts; ++i)
      for (int j = 0; j <= (size == 2 ? 0 : parts); ++j) {
        const double u = static_cast<double>(i) / parts, v = static_cast<double>(j) / parts;
        Vec3d x;
        for (int k = 0; k < 3; ++k) {
          double* const to = k == 0 ? &x.x : k == 1 ? &x.y : &x.z;
          *to = size == 2 ? (1 - u) * corner(0, k) + u * corner(1, k)
                          : (1 - v) * ((1 - u) * corner(0, k) + u * corner(1, k)) +
                                v * ((1 - u) * corner(3, k) + u * corner(2, k));
        }
        deepest = std::min(deepest, distance.at(x, 0).value);
      }
    // Edges are searched to 1/128, faces to about 1/64, of 0.125 m; distances grow by at most 1 per metre.
    EXPECT_LE(value, deepest + (size == 2 ? 1.0 / 128 : std::sqrt(2.0) / 64) * 0.125) << "sample " << s;
  }
  EXPECT_EQ(seen.count(12), 1u) << "a face in the corner";
  EXPECT_GE(seen.count(3), 1u) << "an edge on the bar";
}

// Of an edge that lies across the bar.
TYPED_TEST(ContactTermsTest, ContactsGoWithTheDeepestPointUntilItJumps) {
  const SamplePattern& p = this->pattern;
  ASSERT_EQ(p.contacts_per_element, 2);
  this->plant(1);
  this->find(true);
  Index edge = p.node_count;
  while (edge < p.node_count + p.edge_count && static_cast<int>(this->obstacles[p.first_contact(edge)]) != 3)
    ++edge;
  ASSERT_LT(edge, p.node_count + p.edge_count);
  const Index first = p.first_contact(edge), second = p.first_contact(edge + p.element_count());
  const double deepest = static_cast<double>(this->points[2 * first]);
  const Vector3d force(0, 0, 0.001);
  const auto force_of = [&](Index c) {
    return Vector3d(this->forces[3 * c], this->forces[3 * c + 1], this->forces[3 * c + 2]);
  };
  const auto obstacle_of = [&](Index c) { return static_cast<int>(this->obstacles[c]); };
  const auto find_from = [&](double u) {
    this->plant(1);
    this->obstacles[first] = 3;
    for (int k = 0; k < 3; ++k) this->forces[3 * first + k] = static_cast<TypeParam>(force[k]);
    this->points[2 * first] = static_cast<TypeParam>(u);
    this->points[2 * first + 1] = 0;
    this->find(true);
  };
  const double inward = deepest < 0.5 ? 1 : -1;  // the bar is a sixth of the edge wide

  find_from(deepest + 0.045 * inward);
  EXPECT_EQ(obstacle_of(first), 3);
  EXPECT_TRUE(force_of(first).isApprox(force, 1e-6)) << "the same contact";
  EXPECT_NEAR(static_cast<double>(this->points[2 * first]), deepest, 1e-6);
  EXPECT_EQ(obstacle_of(second), -1);

  const double beside = deepest + 0.055 * inward;
  find_from(beside);
  EXPECT_EQ(obstacle_of(first), 3);
  EXPECT_TRUE(force_of(first).isApprox(force, 1e-6));
  EXPECT_NEAR(static_cast<double>(this->points[2 * first]), beside, 1e-6) << "stays there";
  EXPECT_NEAR(static_cast<double>(this->weights[p.sample_begin[edge] + 1]), beside, 1e-6);
  EXPECT_EQ(obstacle_of(second), 3) << "one more at the deepest point";
  EXPECT_EQ(force_of(second), Vector3d::Zero());
  EXPECT_NEAR(static_cast<double>(this->points[2 * second]), deepest, 1e-6);
  EXPECT_NEAR(static_cast<double>(this->weights[p.sample_begin[edge + p.element_count()] + 1]), deepest,
              1e-6);
}

}  // namespace
}  // namespace isocloth

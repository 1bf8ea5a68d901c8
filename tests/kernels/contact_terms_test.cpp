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
  int pairs = 0, left = 0, cut = 0, rests = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    this->plant(seed);
    this->find(true);
    const SamplePattern& p = this->pattern;
    const auto found_on = this->obstacles, found_modes = this->modes, found_forces = this->forces,
               found_pulls = this->pulls;
    this->update();
    for (Index s = 0; s < p.sample_count(); ++s) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", sample " << s);
      Matrix3d sum = Matrix3d::Zero();
      Vector3d force = Vector3d::Zero();
      double error = 0;
      int count = 0;
      const Index first = p.first_contact(s);
      for (int o = 0; o < 4; ++o) {
        SCOPED_TRACE(::testing::Message() << "obstacle " << o);
        Index was = -1, at = -1;
        for (Index c = first; c < first + p.contacts_of(s); ++c) {
          if (this->planted_on[c] == o) was = c;
          if (static_cast<int>(found_on[c]) == o) at = c;
        }
        if (s >= p.node_count && at < 0) continue;  // another one is deeper, or none
        const Expected e = this->expected(s, o, was, at);
        const auto mode =
            at < 0 ? ContactMode::none : static_cast<ContactMode>(static_cast<int>(found_modes[at]));
        ASSERT_EQ(mode != ContactMode::none, e.row.exists);
        if (!e.row.exists) {
          rests += at >= 0;
          continue;
        }
        seen.insert(mode);
        ++count;
        const double u = this->known(e);
        const auto of = [at](const auto& vectors) {
          return Vector3d(vectors[3 * at], vectors[3 * at + 1], vectors[3 * at + 2]);
        };
        ASSERT_LE((of(found_pulls) - time_unit * e.row.force).norm(), u);
        ASSERT_EQ(mode == ContactMode::smooth, e.row.spring_rate == 0);
        if (e.row.spring_rate > 0) {
          ASSERT_EQ(mode == ContactMode::stick, !e.row.slides);
        }
        ASSERT_GE(static_cast<double>(this->errors[s]) * tolerance,
                  e.row.error - u / time_unit / e.row.normal_rate);
        sum += time_unit * e.row.stiffness;
        force += time_unit * e.row.force;
        error += u;
        const Vector3d d = this->at_sample(s, this->correction, true);
        const reference::SqueezedForce next =
            reference::squeezed_force(e.point, e.row, d, e.friction, time_step);
        const double after =
            u + 1e-4 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()) * e.row.normal_rate;
        ASSERT_LE((of(this->forces) - time_unit * next.force).norm(), 4 * after);
        left += next.force.norm() == 0;
        if (e.row.spring_rate == 0) continue;
        ASSERT_NEAR(static_cast<double>(this->slips[at]), next.slid,
                    4 * after / time_unit / e.row.spring_rate);
        cut += e.row.slides;
      }
      pairs += s < p.node_count && count > 1;
      ASSERT_NO_FATAL_FAILURE(this->expect_sums(s, sum, force, 1e3 * error, error + 1e-30));
      // Contacts that ended keep nothing.
      for (Index c = first; c < first + p.contacts_of(s); ++c)
        if (static_cast<int>(found_on[c]) < 0) {
          ASSERT_EQ(found_forces[3 * c + 2], 0);
          ASSERT_EQ(static_cast<int>(found_modes[c]), static_cast<int>(ContactMode::none));
        }
    }
  }
  EXPECT_GE(seen.size(), 3u) << "smooth, stick, slide";
  EXPECT_GT(pairs, 20);
  EXPECT_GT(left, 5);
  EXPECT_GT(cut, 5);
  EXPECT_GT(rests, 5);
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

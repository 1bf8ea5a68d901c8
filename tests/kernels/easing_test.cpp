// Cloth that starts inside of obstacles: what it keeps from one step to the next, and the surfaces that it
// sees.
#include "tests/kernels/contact_terms_case.hpp"

namespace isocloth {
namespace {

template <class Real>
class EasingTest : public ContactTermsCase<Real> {
 protected:
  /// Nodes deep in the floor, and some in the corner, too, with what is left of depths there.
  void sink(std::uint64_t seed, double begin, double end) {
    this->plant(seed);
    Random random(seed + 100);
    this->pattern.eases = true;
    this->ease_begin = begin;
    this->ease_end = end;
    const auto places = static_cast<std::size_t>(this->pattern.eased_count());
    this->eased_obstacles.assign(places, Real(-1));
    this->eased_depths.assign(places, Real(0));
    for (Index node = 0; node < this->pattern.node_count; ++node) {
      if (node % 4 == 3) continue;  // outside
      const auto at = static_cast<std::size_t>(this->pattern.first_contact(node)) + 1;
      const double depth = as_float(random.uniform(0.002, 0.02));
      this->eased_obstacles[at] = 0;
      this->eased_depths[at] = static_cast<Real>(depth);
      // Near to where its surface is, when the part begins and where it is sought.
      const double before =
                       as_float(offset - depth * ((1 - this->sought_from) * begin + this->sought_from * end)),
                   now = as_float(offset - depth * ((1 - this->sought_to) * begin + this->sought_to * end) +
                                  random.uniform(-3e-4, 1e-4));
      this->start[static_cast<std::size_t>(3 * node + 2)] = static_cast<Real>(before);
      this->iterate[static_cast<std::size_t>(3 * node + 2)] = static_cast<Real>(now);
    }
  }
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EasingTest, Precisions);

TYPED_TEST(EasingTest, NodesSeeTheSurfaceSunk) {
  int pushed = 0;
  this->sought_from = 0.25;
  this->sought_to = 0.75;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    this->sink(seed, 0.75, 0.5);
    this->find(true);
    for (Index node = 0; node < this->pattern.node_count; ++node)
      for (int o = 0; o < 2; ++o) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", node " << node << ", obstacle " << o);
        const Index first = this->pattern.first_contact(node);
        Index was = -1, at = -1;
        for (Index c = first; c < first + this->pattern.contacts_per_node; ++c) {
          if (this->planted_on[c] == o) was = c;
          if (static_cast<int>(this->obstacles[c]) == o) at = c;
        }
        const Expected e = this->expected(node, o, was, at);
        ASSERT_EQ(at >= 0 && this->modes[at] != 0, e.row.exists);
        if (!e.row.exists) continue;
        const Vector3d pull(this->pulls[3 * at], this->pulls[3 * at + 1], this->pulls[3 * at + 2]);
        ASSERT_NEAR(e.point.normal.dot(pull), time_unit * e.point.normal.dot(e.row.force), this->known(e));
        pushed += o == 0 && this->sunk(node, 0, this->sought_to) > 0;
      }
  }
  EXPECT_GT(pushed, 20);
}

TYPED_TEST(EasingTest, DepthsAreTakenAtTheStartAndNeverGrow) {
  const auto begin = [this] {
    this->with_terms(true, [&](const cpu::ContactTerms<TypeParam>& terms) {
      for (Index s = 0; s < this->pattern.sample_count(); ++s) terms.begin(s);
    });
  };
  const auto depth_in = [this](Index node, int obstacle) {
    const auto i = static_cast<std::size_t>(3 * node);
    const reference::ObstacleDistance distance(this->scene.obstacles[static_cast<std::size_t>(obstacle)]);
    return offset - distance
                        .at({static_cast<double>(this->start[i]), static_cast<double>(this->start[i + 1]),
                             static_cast<double>(this->start[i + 2])},
                            0)
                        .value;
  };
  const double u = 8 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  this->sought_from = 0;
  this->sink(1, 1, 0.9);
  begin();
  const auto kept = [this](Index node, int obstacle) {
    double found = 0;
    for (Index k = 0; k < this->pattern.contacts_per_node; ++k) {
      const auto at = static_cast<std::size_t>(this->pattern.first_contact(node) + k);
      if (static_cast<int>(this->eased_obstacles[at]) == obstacle)
        found = static_cast<double>(this->eased_depths[at]);
    }
    return found;
  };
  std::vector<double> at_start;
  int several = 0;
  for (Index node = 0; node < this->pattern.node_count; ++node) {
    int inside = 0;
    for (int o = 0; o < 4; ++o) {
      const double depth = depth_in(node, o);
      inside += kept(node, o) > 0;
      const double least = std::max(tolerance, compression.give() / 2);  // what the thickness gives
      if (std::abs(depth - least) > u) {
        EXPECT_NEAR(kept(node, o), depth > least ? depth : 0, u) << node << " in " << o;
      }
    }
    several += inside > 1;
    at_start.push_back(kept(node, 0));
  }
  EXPECT_GT(several, 0);
  const auto again = this->eased_depths;
  begin();
  EXPECT_EQ(this->eased_depths, again) << "doing it again";
  // An element is as deep as its deepest corner, or deeper.
  for (Index s = this->pattern.node_count; s < this->pattern.node_count + this->pattern.element_count();
       ++s) {
    double corner = 0, own = 0;
    for (Index slot = this->pattern.sample_begin[s]; slot < this->pattern.sample_begin[s + 1]; ++slot)
      corner = std::max(corner, kept(this->pattern.slot_nodes[slot], 0));
    for (Index k = 0; k < this->pattern.contacts_per_element; ++k) {
      const auto at =
          static_cast<std::size_t>(this->pattern.first_contact(s) + k * this->pattern.element_count());
      if (static_cast<int>(this->eased_obstacles[at]) == 0) own = static_cast<double>(this->eased_depths[at]);
    }
    EXPECT_NEAR(own, corner, u) << "the floor is flat, sample " << s;
  }
  // Later: nearer, deeper and out.
  this->ease_begin = 0.5;
  this->ease_end = 0.4;
  for (Index node = 0; node < this->pattern.node_count; ++node) {
    const double depth = at_start[static_cast<std::size_t>(node)];
    const double now = node % 3 == 0 ? 0.25 * depth : node % 3 == 1 ? 0.75 * depth : -0.001;
    this->start[static_cast<std::size_t>(3 * node + 2)] = static_cast<TypeParam>(offset - now);
  }
  begin();
  for (Index node = 0; node < this->pattern.node_count; ++node) {
    const double depth = at_start[static_cast<std::size_t>(node)];
    const double expected = node % 3 == 0 ? 0.5 * depth : node % 3 == 1 ? depth : 0;
    EXPECT_NEAR(kept(node, 0), expected, 4 * u) << node;
  }
  // When all time is over nothing is left.
  this->ease_begin = this->ease_end = 0;
  begin();
  for (const TypeParam obstacle : this->eased_obstacles) EXPECT_EQ(obstacle, TypeParam(-1));
}

}  // namespace
}  // namespace isocloth

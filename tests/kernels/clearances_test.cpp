// What is known of how far samples are from obstacles changes no contact.
#include <array>
#include <bit>

#include "tests/kernels/contact_terms_case.hpp"

namespace isocloth {
namespace {

/// A finer sheet, and rounded solids beside what is planted, some of them turned.
Scene crowded_scene() {
  Scene scene = planted_scene();
  scene.garments[0].mesh = quad_grid(7, 7, 0.25, 0.25);
  scene.garments[0].pins[0].nodes = {1, 42};
  const auto add = [&](const char* name, const ObstacleShape& shape, Vec3d position, Vec3d rotation) {
    Obstacle obstacle = scene.obstacles[0];
    obstacle.name = name;
    obstacle.shape = shape;
    obstacle.position = position;
    obstacle.rotation = rotation;
    scene.obstacles.push_back(obstacle);
  };
  add("ball", SphereShape{0.04}, {0.03, 0.02, 0.12}, {});
  add("arm", CapsuleShape{0.02, 0.3}, {-0.05, 0.05, 0.2}, {0.4, 1.1, 0});
  add("drum", CylinderShape{0.06, 0.05, 0.01}, {0.3, -0.1, 0.15}, {0.3, 0.2, 0.1});
  return scene;
}

template <class Real>
class ClearancesTest : public ContactTermsCase<Real> {
 protected:
  ClearancesTest() : ContactTermsCase<Real>(crowded_scene()) {}

  /// What an iteration reads and writes; at last what samples exert, which nobody reads without weights.
  auto arrays() {
    return std::array{&this->forces,
                      &this->obstacles,
                      &this->slips,
                      &this->points,
                      &this->modes,
                      &this->began,
                      &this->mismatches,
                      &this->weights,
                      &this->depths,
                      &this->errors,
                      &this->sample_stiffness,
                      &this->sample_forces};
  }
  bool has_weight(Index sample) const {
    const auto begin = this->weights.begin();
    return std::any_of(begin + this->pattern.sample_begin[sample],
                       begin + this->pattern.sample_begin[sample + 1], [](Real w) { return w != Real(0); });
  }
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ClearancesTest, Precisions);

TYPED_TEST(ClearancesTest, ChangeNoContact) {
  using Real = TypeParam;
  this->plant(3);
  const SamplePattern& p = this->pattern;
  const auto nodes = static_cast<std::size_t>(p.node_count),
             count = nodes + static_cast<std::size_t>(p.element_count());
  std::vector<Vec3<Real>> seen_at(nodes);
  std::vector<Real> ways(nodes), rooms(count);
  std::vector<std::uint32_t> near_by(count);
  Random random(8);
  const auto move = [&](std::vector<Real>& positions, double common, double own) {
    Vec3d way{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    if (random.uniform() < 0.3) way.z = -std::abs(way.z);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const double along = i % 3 == 0 ? way.x : i % 3 == 1 ? way.y : way.z;
      positions[i] += static_cast<Real>(common * along + own * random.uniform(-1, 1));
    }
  };
  const auto rest = this->iterate;
  std::size_t asked = 0, all = 0, touching = 0;
  for (int step = 0; step < 120; ++step) {
    SCOPED_TRACE(step);
    if (step % 40 == 0) this->start = this->iterate = rest;  // a state that is set
    const double speed = std::pow(10, random.uniform(-5, -1.5));
    const bool is_again = step % 7 == 3;  // the step is taken again in smaller parts
    this->iterate = this->start;
    move(this->iterate, speed, 0.1 * speed);
    for (int iteration = 0; iteration < 4; ++iteration) {
      if (iteration > 0) move(this->iterate, 0, std::pow(0.1, iteration) * speed);
      std::vector<std::vector<Real>> before, alone;
      for (const auto* array : this->arrays()) before.push_back(*array);
      this->clearances = {};
      this->find(true);
      for (const auto* array : this->arrays()) alone.push_back(*array);
      for (std::size_t k = 0; k < before.size(); ++k) *this->arrays()[k] = before[k];
      this->clearances = {seen_at, ways, rooms, near_by, iteration == 0};
      this->find(true);
      for (std::size_t k = 0; k + 2 < alone.size(); ++k) ASSERT_EQ(*this->arrays()[k], alone[k]) << k;
      for (std::size_t sample = 0; sample < before.back().size() / 3; ++sample) {
        if (!this->has_weight(static_cast<Index>(sample))) continue;
        for (std::size_t k = 0; k < 6; ++k)
          ASSERT_EQ(this->sample_stiffness[6 * sample + k], alone[10][6 * sample + k]) << sample;
        for (std::size_t k = 0; k < 3; ++k)
          ASSERT_EQ(this->sample_forces[3 * sample + k], alone[11][3 * sample + k]) << sample;
      }
      for (const std::uint32_t bits : near_by) asked += static_cast<std::size_t>(std::popcount(bits));
      for (const Real depth : this->depths) touching += depth > 0;
      all += count * this->scene.obstacles.size();
    }
    if (!is_again) this->start = this->iterate;
  }
  EXPECT_GT(touching, 1000u);
  EXPECT_LT(asked, all / 2);
}

}  // namespace
}  // namespace isocloth

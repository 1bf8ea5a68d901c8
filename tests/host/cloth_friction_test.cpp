// Friction of garments by classes, against a table of each two.
#include "host/cloth_collision/cloth_friction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/random.hpp"

namespace isocloth {
namespace {

Scene scene_of(std::size_t count) {
  Scene scene;
  scene.garments.resize(count);
  scene.contact.cloth_friction = {0.3, 0.2};
  return scene;
}
std::vector<const Garment*> all_of(const Scene& scene) {
  std::vector<const Garment*> garments;
  for (const Garment& garment : scene.garments) garments.push_back(&garment);
  return garments;
}
void expect_same(const Scene& scene, const std::vector<const Garment*>& garments, std::size_t most_classes) {
  const FrictionClasses found = friction_classes(scene, garments);
  const std::size_t count = garments.size(),
                    classes = static_cast<std::size_t>(std::ranges::max(found.of_garments)) + 1;
  EXPECT_LE(classes, most_classes);
  ASSERT_EQ(found.of_garments.size(), count);
  ASSERT_EQ(found.between.size(), classes * classes);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) {
      Friction expected = scene.contact.cloth_friction;  // the last that is said counts
      for (const ClothFrictionPair& pair : scene.contact.cloth_pairs) {
        const Garment *one = &scene.garments[pair.garment], *other = &scene.garments[pair.other];
        if ((one == garments[a] && other == garments[b]) || (one == garments[b] && other == garments[a]))
          expected = pair.friction;
      }
      const auto at = [&](std::size_t g) { return static_cast<std::size_t>(found.of_garments[g]); };
      const FrictionView<double> own = a == b ? found.with_self[a] : found.between[at(a) * classes + at(b)];
      EXPECT_EQ(own.static_, expected.static_) << a << ", " << b;
      EXPECT_EQ(own.dynamic, expected.dynamic) << a << ", " << b;
    }
}

TEST(FrictionClasses, AnyPairs) {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    Scene scene = scene_of(7);
    const int pairs = static_cast<int>(random.uniform(0, 20));
    for (int p = 0; p < pairs; ++p) {
      const double mu = 0.1 * std::floor(random.uniform(2, 5));
      scene.contact.cloth_pairs.push_back({.garment = static_cast<std::size_t>(random.uniform(0, 7)),
                                           .other = static_cast<std::size_t>(random.uniform(0, 7)),
                                           .friction = {mu, mu == 0.3 ? 0.2 : mu}});
    }
    std::vector<const Garment*> garments = all_of(scene);
    expect_same(scene, garments, 7);
    garments.erase(garments.begin() + 2);
    std::swap(garments[0], garments[4]);
    expect_same(scene, garments, 6);
  }
}

// Replicas with a body each knows, among themselves and each with itself.
TEST(FrictionClasses, ReplicasAreOneClass) {
  Scene scene = scene_of(12);
  const auto say = [&](std::size_t a, std::size_t b, double mu) {
    scene.contact.cloth_pairs.push_back({.garment = a, .other = b, .friction = {mu, mu}});
  };
  for (std::size_t g = 1; g < 12; ++g) say(0, g, 0.5);
  expect_same(scene, all_of(scene), 2);
  for (std::size_t g = 1; g < 12; ++g) say(g, g, 0.1);
  expect_same(scene, all_of(scene), 2);
  for (std::size_t g = 1; g < 12; ++g)
    for (std::size_t h = 1; h < g; ++h) say(g, h, 0.7);
  expect_same(scene, all_of(scene), 2);
  say(3, 0, 0.6);
  expect_same(scene, all_of(scene), 3);
}

TEST(FrictionClasses, ManyGarmentsTakeLittle) {
  const Scene scene = scene_of(10000);
  const FrictionClasses found = friction_classes(scene, all_of(scene));
  EXPECT_EQ(found.between.size(), 1u);
  EXPECT_EQ(found.with_self.size(), 10000u);
}

}  // namespace
}  // namespace isocloth

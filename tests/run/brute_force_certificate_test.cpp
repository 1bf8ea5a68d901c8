// The certificate against brute force: every edge and every triangle with every triangle, by numbers that
// know no rounding, in states of real scenes.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"
#include "host/run/certificate.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/support/exact_counts.hpp"

namespace isocloth {
namespace {

struct Case {
  const char* scene;
  bool meets_cloth;
  int steps, frames;
};

class BruteForce : public testing::TestWithParam<Case> {
 protected:
  using States = std::vector<std::vector<Vec3d>>;

  /// Crumpled by as much as elements are long, on a lattice whose steps are a fifth of that, so that nodes,
  /// edges and triangles come to lie on each other; a step is `unit`.
  static States crumpled(States states, bool is_flat, double unit) {
    Random random(7);
    constexpr double step = 0x1p-8, size = 0.02;  // [m]
    const auto moved = [&](double x) { return unit * std::round((x + random.uniform(-size, size)) / step); };
    for (std::vector<Vec3d>& x : states)
      for (Vec3d& p : x) p = {moved(p.x), moved(p.y), is_flat ? 0 : moved(p.z)};
    return states;
  }
};

TEST_P(BruteForce, CountsWhatTheCertificateCounts) {
  const Case c = GetParam();
  Scene scene = read_scene(std::string(ISOCLOTH_SOURCE_DIR "/bench/scenes/") + c.scene);
  scene.contact.cloth = c.meets_cloth;
  Simulation simulation(scene, {.backend = "cpu"});
  SceneIntersections search(scene);
  std::vector<const Mesh*> meshes;
  for (const Garment& garment : scene.garments) meshes.push_back(&garment.mesh);
  ExactCounts sum, sum_of_crumpled;
  const auto compare = [&](const States& positions, ExactCounts& all) {
    const IntersectionReport found = search.of(positions, simulation.time());
    const ExactCounts counts = count_exactly(meshes, positions);
    EXPECT_EQ(found.crossing, counts.crossing) << "t = " << simulation.time();
    EXPECT_EQ(found.touching, counts.touching) << "t = " << simulation.time();
    EXPECT_EQ(found.overlapping, counts.overlapping) << "t = " << simulation.time();
    EXPECT_TRUE(found.is_complete);
    all = {all.crossing + counts.crossing, all.touching + counts.touching,
           all.overlapping + counts.overlapping};
  };
  for (int frame = 1; frame <= c.frames; ++frame) {
    simulation.advance(c.steps / c.frames);
    compare(simulation.positions(), sum);
    const double unit = frame % 3 == 0 ? 0x1p-1074 : frame % 3 == 1 ? 0x1p1000 : 1;
    compare(crumpled(simulation.positions(), false, unit), sum_of_crumpled);
    compare(crumpled(simulation.positions(), true, unit), sum_of_crumpled);
  }
  EXPECT_EQ(sum.crossing > 0, !c.meets_cloth) << sum.crossing;
  // Layers that lie through each other on a table rest at one height, to the last bit.
  if (c.meets_cloth) {
    EXPECT_EQ(sum.touching + sum.overlapping, 0);
  }
  EXPECT_GT(sum_of_crumpled.crossing, 0);
  EXPECT_GT(sum_of_crumpled.touching, 0);
  EXPECT_GT(sum_of_crumpled.overlapping, 0);
}

constexpr Case cases[] = {{"folded_towel.json", true, 640, 4}, {"folded_towel.json", false, 640, 4},
                          {"twist.json", true, 240, 3},        {"twist.json", false, 240, 3},
                          {"t_shirt.json", true, 240, 3},      {"towels_and_balls.json", true, 160, 2}};
INSTANTIATE_TEST_SUITE_P(Scenes, BruteForce, testing::ValuesIn(cases));

}  // namespace
}  // namespace isocloth

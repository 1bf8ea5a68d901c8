// Every scene of bench/scenes on a device beside the CPU: a few steps, from the same states.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "host/scene/scene_file.hpp"
#include "tests/host/gpu_case.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

/// Names of the scenes that this build knows and that a device of software steps in seconds.
std::vector<std::string> scenes() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(ISOCLOTH_SOURCE_DIR "/bench/scenes"))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

/// The first garments of a batch are as good as all of it.
void shorten(Scene& scene) {
  constexpr std::size_t most = 9;
  if (scene.garments.size() > most && !scene.contact.cloth && scene.bodies.empty())
    scene.garments.resize(most);
}

class GpuScenes : public GpuCase, public testing::WithParamInterface<std::string> {};

/// What is done tile by tile or colour by colour has one order of sums: the bits are the CPU's where that
/// fuses products, too. Elsewhere a device sums the fronts of a factor in another order: in a step from the
/// same state positions differ by rounding, or, where the numbers of iterations differ, by what the
/// tolerances of both leave open.
TEST_P(GpuScenes, StepsEqualThoseOfTheCpu) {
  Scene scene;
  try {
    scene = read_scene(fs::path(ISOCLOTH_SOURCE_DIR "/bench/scenes") / (GetParam() + ".json"));
  } catch (const SceneError& error) {
    if (std::string(error.what()).find("not in this build") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
  shorten(scene);
  std::size_t nodes = 0;
  for (const Garment& garment : scene.garments) nodes += garment.mesh.positions.size();
  constexpr std::size_t most_nodes = 3000;
  if (nodes > most_nodes) GTEST_SKIP() << nodes << " nodes take a device of software minutes";
  Simulation cpu(scene, {.backend = "cpu"}), gpu(scene, {.backend = "cuda"});
  constexpr int steps = 2;
  // Positions of metres, in double: what a solve of condition 1e8 leaves of 16 digits.
  constexpr double rounding = 1e-7, left_open = 1e-4;
  double largest = 0;
  for (int n = 0; n < steps; ++n) {
    for (std::size_t g = 0; g < scene.garments.size(); ++g) gpu.set_state(g, cpu.state(g));
    const auto expected = cpu.step(), found = gpu.step();
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      EXPECT_EQ(found[g].status, expected[g].status) << "step " << n << ", garment " << g;
      const bool is_alike = found[g].iterations == expected[g].iterations;
      const double difference = distance(cpu, gpu, g);
      largest = std::max(largest, difference);
      EXPECT_LE(difference, is_alike ? rounding : left_open) << "step " << n << ", garment " << g;
    }
  }
  RecordProperty("largest_difference", std::to_string(largest));
}

INSTANTIATE_TEST_SUITE_P(Bench, GpuScenes, testing::ValuesIn(scenes()),
                         [](const auto& scene) { return scene.param; });

}  // namespace
}  // namespace isocloth

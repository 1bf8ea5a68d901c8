// Every scene of bench/scenes on a device beside the CPU: a few steps, from the same states.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "engine/core/random.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/host/gpu_case.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  const fs::path built = ISOCLOTH_SOURCE_DIR "/bench/scenes";
  return fs::exists(built) ? built : "bench/scenes";  // carried elsewhere: run from the tree's root
}

std::vector<std::string> scenes() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder()))
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

/// A state with every position moved by one rounding.
GarmentState nudged(GarmentState state) {
  Random random(1);
  for (double& x : state.positions)
    x *= 1 + (random.uniform() < 0.5 ? -1 : 1) * std::numeric_limits<double>::epsilon();
  return state;
}

class GpuScenes : public GpuCase, public testing::WithParamInterface<std::string> {};

/// A device sums the fronts of a factor in another order than the CPU. How far that takes a step from the
/// CPU's depends on the scene (cloth that buckles or touches magnifies it), and is measured by what becomes
/// of positions that differ by one rounding: hence a bound of that times the roundings of an iteration, and,
/// where numbers of iterations differ, what the tolerances leave open.
TEST_P(GpuScenes, StepsEqualThoseOfTheCpu) {
  Scene scene;
  try {
    scene = read_scene(folder() / (GetParam() + ".json"));
  } catch (const SceneError& error) {
    if (std::string(error.what()).find("not in this build") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
  shorten(scene);
  std::size_t nodes = 0;
  for (const Garment& garment : scene.garments) nodes += garment.mesh.positions.size();
  constexpr std::size_t most_nodes = 1600;
  if (nodes > most_nodes) GTEST_SKIP() << nodes << " nodes take a device of software minutes";
  // A factor in single precision, which a CPU may choose, leaves what conjugate gradients are told to leave.
  const auto on = [&](const char* backend) {
    const bool is_mixed = Simulation(scene).info(0).solver.find("float32") != std::string::npos;
    return ExecutionOptions{.backend = backend,
                            .solver = is_mixed ? StepSolver::direct : StepSolver::automatic};
  };
  Simulation cpu(scene, on("cpu")), moved(scene, on("cpu")), gpu(scene, on("cuda"));
  constexpr double roundings = 1000, least = 1e-9, left_open = 1e-4;  // [m]
  for (int n = 0; n < 2; ++n) {
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      gpu.set_state(g, cpu.state(g));
      moved.set_state(g, nudged(cpu.state(g)));
    }
    const auto expected = cpu.step(), found = gpu.step(), beside = moved.step();
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      EXPECT_EQ(found[g].status, expected[g].status) << "step " << n << ", garment " << g;
      const bool is_alike =
          found[g].iterations == expected[g].iterations && beside[g].iterations == expected[g].iterations;
      EXPECT_LE(distance(cpu, gpu, g),
                is_alike ? std::max(least, roundings * distance(cpu, moved, g)) : left_open)
          << "step " << n << ", garment " << g;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bench, GpuScenes, testing::ValuesIn(scenes()),
                         [](const auto& scene) { return scene.param; });

}  // namespace
}  // namespace isocloth

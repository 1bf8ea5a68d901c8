// What is said of a device that cannot be used, and how its memory is dealt out.
#include "host/memory/device.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "host/memory/arena.hpp"
#include "host/memory/buffer.hpp"
#include "host/memory/recording.hpp"
#include "host/simulation/simulation.hpp"
#include "host/solver/garment_solver.hpp"
#include "tests/host/cloth_sheets.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CudaPlugin, SaysThatThereIsNone) {
  const CudaStatus status = open_cuda_plugin("no/such/folder/libisocloth_cuda.so");
  EXPECT_EQ(status.backend, nullptr);
  EXPECT_PRED2(contains, status.message, "found no plugin \"no/such/folder/libisocloth_cuda.so\"");
}

TEST(CudaPlugin, SaysThatAFileIsNoLibrary) {
  const auto path = std::filesystem::temp_directory_path() / "isocloth_device_test_no_library.so";
  std::ofstream(path) << "not a library\n";
  const CudaStatus status = open_cuda_plugin(path);
  std::filesystem::remove(path);
  EXPECT_EQ(status.backend, nullptr);
  EXPECT_PRED2(contains, status.message, "plugin cannot be loaded");
  EXPECT_PRED2(contains, status.message, path.string());
}

TEST(CudaPlugin, SaysThatALibraryIsNoPlugin) {
  const CudaStatus status = open_cuda_plugin("libm.so.6");
  EXPECT_EQ(status.backend, nullptr);
  EXPECT_PRED2(contains, status.message, "is not an isocloth plugin");
}

TEST(CudaPlugin, SaysThatItIsOfAnotherBuild) {
  const std::string wrong = std::to_string(backend_abi + 1);
  const CudaStatus status = open_cuda_plugin(ISOCLOTH_PLUGIN_OF_ANOTHER_BUILD);
  EXPECT_EQ(status.backend, nullptr);
  EXPECT_PRED2(contains, status.message, "found interface " + wrong);
  EXPECT_PRED2(contains, status.message, "expected " + std::to_string(backend_abi));
}

TEST(CudaPlugin, OpensOneThatFits) {
  const CudaStatus status = open_cuda_plugin(ISOCLOTH_SOFTWARE_DEVICE);
  ASSERT_NE(status.backend, nullptr) << status.message;
  EXPECT_PRED2(contains, status.message, "software device, for tests");
}

TEST(Device, RefusesBlocksThatAreNoWholeWarps) {
  if (cuda_status().backend == nullptr) GTEST_SKIP() << "no GPU: " << cuda_status().message;
  for (const int threads : {-32, 33, 512}) {
    try {
      Device device({.backend = "cuda", .block_threads = threads});
      FAIL() << threads << " threads were taken";
    } catch (const DeviceError& error) {
      EXPECT_PRED2(contains, std::string(error.what()), "block_threads: found " + std::to_string(threads));
    }
  }
}

TEST(Shortage, SaysHowManyWouldFit) {
  const std::size_t mebibyte = 1 << 20;
  const MemoryDemand demand{.kind = "a garment like \"flag\"",
                            .count = 100,
                            .bytes_each = mebibyte,
                            .bytes_fixed = 10 * mebibyte,
                            .together = 1};
  EXPECT_EQ(shortage("cuda", demand, 110 * mebibyte, 200 * mebibyte), "");
  const std::string message = shortage("cuda", demand, 110 * mebibyte - 1, 200 * mebibyte);
  EXPECT_PRED2(contains, message, "100 x a garment like \"flag\" needs 110.0 MiB");
  EXPECT_PRED2(contains, message, "110.0 MiB of 200.0 MiB are free, enough for 99");
  EXPECT_PRED2(contains, shortage("cuda", demand, 5 * mebibyte, 200 * mebibyte), "enough for 0");
  MemoryDemand by_eight = demand;
  by_eight.together = 8;  // 104 are taken
  EXPECT_EQ(shortage("cuda", by_eight, 114 * mebibyte, 200 * mebibyte), "");
  EXPECT_PRED2(contains, shortage("cuda", by_eight, 113 * mebibyte, 200 * mebibyte), "enough for 96");
}

// A memory that counts, of 16 MiB.
std::set<void*> chunks;
std::size_t chunk_bytes = 0;
constexpr std::size_t full = 16 << 20;

Memory counting_memory() {
  Memory memory = cpu_backend(widest_simd())->memory;
  memory.allocate = [](int, std::size_t bytes, void** pointer) {
    if (chunk_bytes + bytes > full) return false;
    chunk_bytes += bytes;
    *pointer = std::malloc(bytes);
    return chunks.insert(*pointer).second;
  };
  memory.release = [](int, void* pointer) {
    EXPECT_EQ(chunks.erase(pointer), 1u);
    std::free(pointer);
  };
  return memory;
}

TEST(Arena, DealsOutDisjointRanges) {
  chunk_bytes = 0;
  {
    Arena arena(counting_memory());
    struct Piece {
      unsigned char *begin, mark;
      std::size_t size;
    };
    std::vector<Piece> pieces;
    Random random(7);
    std::size_t held = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::size_t size = 1 + static_cast<std::size_t>(random.uniform() * 60000);
      if (held + size < full / 8 && random.uniform() < 0.6) {
        auto* const begin = static_cast<unsigned char*>(arena.allocate(size));
        ASSERT_NE(begin, nullptr);
        const auto mark = static_cast<unsigned char>(i);
        std::fill(begin, begin + size, mark);
        pieces.push_back({begin, mark, size});
        held += size;
      } else if (!pieces.empty()) {
        const std::size_t k = static_cast<std::size_t>(random.uniform() * static_cast<double>(pieces.size()));
        const Piece piece = pieces[k];
        // Somebody else's range would have overwritten the mark.
        ASSERT_TRUE(std::all_of(piece.begin, piece.begin + piece.size,
                                [&](unsigned char byte) { return byte == piece.mark; }));
        arena.release(piece.begin);
        held -= piece.size;
        pieces[k] = pieces.back();
        pieces.pop_back();
      }
      ASSERT_GE(arena.used(), held);
      ASSERT_LE(arena.used(), held + pieces.size() * (Arena::alignment - 1));
      ASSERT_LE(arena.used(), arena.reserved());
    }
    for (const Piece& piece : pieces) arena.release(piece.begin);
    EXPECT_EQ(arena.used(), 0u);
    EXPECT_EQ(arena.chunk_count(), 1u);
    // All merged again: the whole chunk is one range.
    EXPECT_NE(arena.allocate(arena.reserved()), nullptr);
    EXPECT_EQ(arena.chunk_count(), 1u);
  }
  EXPECT_TRUE(chunks.empty());
}

TEST(Arena, WhatIsReservedFits) {
  chunk_bytes = 0;
  {
    Arena arena(counting_memory());
    ASSERT_NE(arena.allocate(3 << 20), nullptr);  // 1 MiB of the first chunk is left, 12 MiB outside
    EXPECT_FALSE(arena.reserve((12 << 20) + 1));
    EXPECT_FALSE(arena.reserve(SIZE_MAX));
    ASSERT_TRUE(arena.reserve(12 << 20));
    EXPECT_EQ(arena.largest_free(), std::size_t{12} << 20);
    EXPECT_TRUE(arena.reserve(1 << 20));
    EXPECT_EQ(chunk_bytes, full);
    for (int i = 0; i < 12; ++i) EXPECT_NE(arena.allocate(1 << 20), nullptr);
    EXPECT_NE(arena.allocate(1 << 20), nullptr);
    EXPECT_EQ(arena.allocate(1), nullptr);
  }
  EXPECT_TRUE(chunks.empty());
}

TEST(Arena, TakesWhatIsLeftAndThenSaysNo) {
  chunk_bytes = 0;
  {
    Arena arena(counting_memory());
    ASSERT_NE(arena.allocate(1), nullptr);  // 4 MiB
    ASSERT_NE(arena.allocate(9 << 20), nullptr);
    EXPECT_EQ(arena.allocate(8 << 20), nullptr);  // 3 MiB are left
    EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
    // Doubling would ask for 13 MiB: it makes do with less.
    void* const last = arena.allocate(3 << 20);
    EXPECT_NE(last, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(last) % 16, 0u);
  }
  EXPECT_TRUE(chunks.empty());
}

TEST(Arena, GivesEachArrayAnAllocationOfItsOwnWhereItIsOff) {
  chunk_bytes = 0;
  ASSERT_EQ(setenv("ISOCLOTH_ARENA", "off", 1), 0);
  {
    Arena arena(counting_memory());
    EXPECT_TRUE(arena.reserve(100));
    void* const first = arena.allocate(100);
    ASSERT_NE(first, nullptr);
    ASSERT_NE(arena.allocate(7), nullptr);
    EXPECT_EQ(chunks.size(), 2u);
    EXPECT_EQ(chunk_bytes, 107u);  // no room behind an array
    arena.release(first);
    EXPECT_EQ(chunks.size(), 1u);
    EXPECT_EQ(arena.used(), 7u);
  }
  unsetenv("ISOCLOTH_ARENA");
  EXPECT_TRUE(chunks.empty());
}

/// Tests of what the host does for a device, with the software device (tests/device).
class TestDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_status().plugin != ISOCLOTH_SOFTWARE_DEVICE)
      GTEST_SKIP() << "runs as device.random_0, with ISOCLOTH_CUDA_PLUGIN=" << ISOCLOTH_SOFTWARE_DEVICE;
  }
  void TearDown() override { unsetenv("ISOCLOTH_TEST_DEVICE_BYTES"); }
  static std::string calls() {
    void* const plugin = dlopen(ISOCLOTH_SOFTWARE_DEVICE, RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<const char* (*)()>(dlsym(plugin, "isocloth_test_device_calls"))();
  }
  static std::size_t counted(const char* what) {
    void* const plugin = dlopen(ISOCLOTH_SOFTWARE_DEVICE, RTLD_NOW | RTLD_NOLOAD);
    const char* const counts =
        reinterpret_cast<const char* (*)()>(dlsym(plugin, "isocloth_test_device_counts"))();
    return nlohmann::json::parse(counts)[what];
  }
};

Garment swinging(const std::string& name, Index nodes) {
  Garment garment;
  garment.name = name;
  garment.mesh = quad_grid(nodes, nodes, 0.3, 0.3);
  garment.pins.push_back(
      {.name = "corner", .nodes = {0}, .motion = OscillationMotion{{0.05, 0, 0}, 0.6, 0, 10}});
  return garment;
}

/// Kernels and copies reach the memory of the device, and the host does not.
TEST_F(TestDevice, EndsAHostThatTouchesItsMemory) {
  const Device device({.backend = "cuda"});
  Buffer<double> values(device, std::vector<double>{1, 2, 3});
  EXPECT_EQ(values.download(), (std::vector<double>{1, 2, 3}));
  step_kernels<double>(device.backend())
      .scale_values(device.queue(), {.from = values.view(), .factor = 2, .to = values.view()});
  EXPECT_EQ(values.download(), (std::vector<double>{2, 4, 6}));
  const volatile double* const first = values.view().data();
  EXPECT_DEATH(static_cast<void>(*first), "");
  EXPECT_DEATH(values.view()[2] = 4, "");
}

TEST_F(TestDevice, StartsAllGroupsBeforeItWaitsForOne) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = {swinging("small", 5), swinging("large", 9), swinging("second small", 5)};
  Simulation simulation(scene, {.backend = "cuda", .measure_strain = false});
  calls();
  simulation.advance(10);
  EXPECT_EQ(calls(), "ULLDULLD");
  simulation.advance(70);
  EXPECT_EQ(calls(), "URDURDURDURD");  // the launches of ten steps are known by now
}

/// Scenes of so many cloths of 3 x 3 nodes.
Scene swinging_batch(int count) {
  Scene scene;
  scene.recipe = "coltraro2022";
  for (int i = 0; i < count; ++i) scene.garments.push_back(swinging("cloth " + std::to_string(i), 3));
  return scene;
}

/// Copies and waits do not grow with the number of cloths, nor with that of steps up to 32.
TEST_F(TestDevice, AsksForTwoCopiesAndOneWaitInThirtyTwoMeasuredSteps) {
  for (const int count : {2, 12}) {
    Simulation simulation(swinging_batch(count), {.backend = "cuda"});
    simulation.advance(1);
    std::string steps;
    for (int n = 0; n < 32; ++n) steps += "LL";
    calls();
    const std::size_t before = counted("waits");
    simulation.advance(32);
    EXPECT_EQ(calls(), "UL" + steps + "D") << count;
    EXPECT_EQ(counted("waits") - before, 1u) << count;
    simulation.advance_at_once(32);
    EXPECT_EQ(calls(), "URD") << count;  // all of them as a graph
    EXPECT_EQ(counted("waits") - before, 2u) << count;
  }
}

TEST_F(TestDevice, CopiesEachArrayOfABatchOnce) {
  for (const int count : {2, 40}) {
    Scene scene = swinging_batch(count);
    scene.obstacles.push_back({.name = "floor",
                               .shape = PlaneShape{},
                               .position = {0, 0, -1},
                               .rotation = {},
                               .motion = {},
                               .friction = {}});
    Simulation simulation(scene, {.backend = "cuda"});
    simulation.advance(2);
    simulation.measure();
    calls();
    simulation.measure();
    EXPECT_EQ(calls(), "LD") << count;
    const Snapshot snapshot = simulation.snapshot();
    EXPECT_EQ(calls(), "DDDD") << count;
    simulation.contacts();
    EXPECT_EQ(calls(), "DDDD") << count;
    simulation.restore(snapshot);
    EXPECT_EQ(calls(), "DUDUDUDUDU") << count;
    simulation.reset({0, 1});
    EXPECT_EQ(calls(), "DUDUDUDUDU") << count;
  }
}

/// Motions are sent when they change.
TEST_F(TestDevice, EvaluatesMotionsItself) {
  Simulation simulation(swinging_batch(3), {.backend = "cuda", .measure_strain = false});
  simulation.advance(1);
  simulation.set_pin_motion(1, 0, OscillationMotion{{0.01, 0, 0}, 0.6, 0, 10});
  calls();
  simulation.advance(5);
  EXPECT_EQ(calls(), "UUURD");  // pins, their nodes, clocks
  simulation.advance(5);
  EXPECT_EQ(calls(), "URD");
}

TEST_F(TestDevice, CopiesABatchAtOnce) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = {swinging("small", 5), swinging("large", 9), swinging("second small", 5)};
  Simulation simulation(scene, {.backend = "cuda"});
  simulation.advance(3);
  std::vector<Vec3d> all(25 + 81 + 25), some(50);
  calls();
  simulation.read(GarmentField::positions, all);
  EXPECT_EQ(calls(), "DD");
  simulation.positions();
  EXPECT_EQ(calls(), "DD");
  simulation.read(GarmentField::velocities, {2, 0}, some);
  EXPECT_EQ(calls(), "D");
  simulation.write(GarmentField::velocities, {2, 0}, some);
  EXPECT_EQ(calls(), "U");
  simulation.write(GarmentField::velocities, {2}, {some.data(), 25});
  EXPECT_EQ(calls(), "U");
  const std::vector<FieldView> views = simulation.view(GarmentField::positions);
  EXPECT_EQ(calls(), "");
  EXPECT_EQ(views.front().backend, "cuda");
  EXPECT_EQ(views.front().shape, (std::array<std::int64_t, 4>{2, 1, 25, 3}));
  EXPECT_EQ(views.front().strides, (std::array<std::int64_t, 4>{75, 1, 3, 1}));
  auto next = all.begin();
  for (std::size_t g = 0; g < 3; ++g)
    for (const Vec3d& x : simulation.positions(g)) EXPECT_EQ(*next++, x);
}

TEST_F(TestDevice, SendsTheLaunchesOfALargeFactorisationAsOne) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = {swinging("sheet", 19)};
  Simulation simulation(scene, {.backend = "cuda", .solver = StepSolver::direct});
  int solves = 0;
  for (int n = 0; n < 5; ++n) solves += simulation.step()[0].iterations;
  ASSERT_GT(solves, 2);
  calls();
  simulation.step();
  const std::string seen = calls();
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 'L'), 0) << seen;
  EXPECT_GT(std::count(seen.begin(), seen.end(), 'R'), 0) << seen;
}

/// Iterations of conjugate gradients that end when there were seven.
TEST_F(TestDevice, RepeatsARecordingUntilItSaysThatItIsDone) {
  const Device device({.backend = "cuda"});
  const Buffer<double> partials(device, std::vector<double>{1});
  Buffer<CgColumn> columns(device, 1);
  Buffer<CgProgress> progress(device, 1);
  const auto advance = [&](AdvanceCg::Phase phase) {
    step_kernels<double>(device.backend())
        .advance_cg(device.queue(), {.phase = phase,
                                     .count = 1,
                                     .goal_factor = 0,
                                     .most_iterations = 7,
                                     .partials = partials.view(),
                                     .columns = columns.view(),
                                     .progress = progress.view()});
  };
  const auto iteration = [&](const Queue&) {
    advance(AdvanceCg::Phase::curvature);
    advance(AdvanceCg::Phase::energy);
  };
  Recording recording(device);
  ASSERT_TRUE(recording.can_repeat());
  const Index* const goes_on = &progress.view().data()->goes_on;
  for (int time = 0; time < 3; ++time) {
    advance(AdvanceCg::Phase::begin);
    calls();
    recording.run(iteration, goes_on);
    const CgProgress found = progress.download().front();
    EXPECT_EQ(found.iterations, time == 0 ? 1 : 7);
    EXPECT_EQ(found.goes_on, time == 0 ? 1 : 0);
    EXPECT_EQ(calls(), time == 0 ? "LLLD" : "LRD");
  }
}

/// Launches and waits of steps, by how many iterations they have. A graph is a launch; each copy waits.
struct StepCounts {
  std::ptrdiff_t iterations = 0, launches = 0, waits = 0;

  void add(const std::string& calls, int more_iterations) {
    const auto count = [&](char call) { return std::count(calls.begin(), calls.end(), call); };
    iterations += more_iterations;
    launches += count('L') + count('R');
    waits += count('U') + count('D') + count('W');
  }
};

TEST_F(TestDevice, AsksTheHostOnceAnIterationOfALargeCloth) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = {swinging("sheet", 19)};
  Simulation simulation(scene, {.backend = "cuda", .solver = StepSolver::direct, .measure_strain = false});
  simulation.advance(2);
  StepCounts counts;
  for (int n = 0; n < 6; ++n) {
    calls();
    const int iterations = simulation.step()[0].iterations;
    counts.add(calls(), iterations);
  }
  // Of a step the pins; of an iteration the pivots, and how rows are at the iterate, also at that after it.
  EXPECT_LE(counts.waits, 6 * 2 + 2 * counts.iterations);
  EXPECT_LE(counts.launches, 6 * 6 + 11 * counts.iterations);
}

/// Whatever conjugate gradients take, how many contacts there are and how many nodes.
TEST_F(TestDevice, AsksTheHostSeldomWhereClothMeetsCloth) {
  Scene scene = cloth_scene({sheet("lower", 18, 0.2, {0, 0, 0}), sheet("upper", 18, 0.2, {0.01, 0, 0.0016})});
  scene.garments[0].pins.push_back({.name = "corners", .nodes = {0, 17, 306, 323}, .motion = {}});
  scene.garments[1].initial_velocities.assign(324, {0, 0, -0.3});
  Simulation simulation(scene, {.backend = "cuda", .solver = StepSolver::direct, .measure_strain = false});
  simulation.advance(2);
  StepCounts counts;
  int cg_iterations = 0;
  for (int n = 0; n < 6; ++n) {
    calls();
    const StepReport report = simulation.step()[0];
    counts.add(calls(), report.iterations);
    cg_iterations = std::max(cg_iterations, report.cg_iterations);
    EXPECT_GT(report.cloth_contacts, 0);
  }
  EXPECT_GT(cg_iterations, 3);
  // A search for pairs, which not every step has, takes four waits.
  EXPECT_LE(counts.waits, 6 * 7 + 5 * counts.iterations);
  EXPECT_LE(counts.launches, 6 * 60 + 60 * counts.iterations);
}

TEST_F(TestDevice, NamesWhatDoesNotFitAndHowManyWould) {
  Scene scene;
  scene.recipe = "coltraro2022";
  for (int i = 0; i < 64; ++i) scene.garments.push_back(swinging("cloth " + std::to_string(i), 9));
  ASSERT_EQ(setenv("ISOCLOTH_TEST_DEVICE_BYTES", "700000", 1), 0);
  try {
    Simulation simulation(scene, {.backend = "cuda"});
    FAIL() << "64 cloths fitted into 700 kB";
  } catch (const DeviceError& error) {
    const std::string message = error.what();
    EXPECT_PRED2(contains, message, "64 x a garment like \"cloth 0\" needs");
    EXPECT_PRED2(contains, message, "enough for ");
    // As many as it says do fit, and not one more.
    const auto fitting =
        static_cast<std::size_t>(std::stoi(message.substr(message.find("enough for ") + 11)));
    ASSERT_GT(fitting, 0u) << message;
    ASSERT_LT(fitting, 64u) << message;
    scene.garments.resize(fitting + 1);
    EXPECT_THROW(Simulation(scene, {.backend = "cuda"}), DeviceError) << message;
    scene.garments.resize(fitting);
    EXPECT_NO_THROW(Simulation(scene, {.backend = "cuda"}).advance(largest_start)) << message;
  }
  EXPECT_NO_THROW(([] {
    unsetenv("ISOCLOTH_TEST_DEVICE_BYTES");
    Scene again;
    again.garments.push_back(swinging("cloth", 9));
    Simulation(again, {.backend = "cuda"}).step();
  })());
}

TEST_F(TestDevice, CountsWhatClothsOfImpulsesMeet) {
  for (const char* recipe : known_recipes({"bender_iterative", "isometric_impulse"}))
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      Scene scene;
      scene.recipe = recipe;
      scene.step = 0.01;
      scene.impulse.max_sweeps = 1;
      const KeyframeMotion motion{
          .times = {0, 1}, .translations = {{}, {0, 0, 1}}, .rotations = {}, .center = {}};
      scene.obstacles = {{.name = "ball",
                          .shape = SphereShape{0.1},
                          .position = {0, 0, -0.2},
                          .rotation = {},
                          .motion = motion,
                          .friction = {}}};
      for (int i = 0; i < 24; ++i) {
        Garment cloth = swinging("cloth " + std::to_string(i), 5);
        cloth.fabric.drag.normal = 0.1;
        cloth.grippers = {{.name = "gripper",
                           .region = SphereShape{0.05},
                           .position = {0.3, 0.3, 0},
                           .rotation = {},
                           .motion = {},
                           .holds = {{0, 1}},
                           .stiffness = 0}};
        scene.garments.push_back(cloth);
      }
      const ExecutionOptions options{
          .backend = "cuda", .precision = precision, .solver = StepSolver::batched};
      ASSERT_EQ(setenv("ISOCLOTH_TEST_DEVICE_BYTES", "300000", 1), 0);
      std::size_t fitting = 0;
      try {
        Simulation simulation(scene, options);
        FAIL() << "24 cloths fitted into 300 kB";
      } catch (const DeviceError& error) {
        const std::string message = error.what();
        ASSERT_PRED2(contains, message, "24 x a garment like \"cloth 0\" needs");
        fitting = static_cast<std::size_t>(std::stoi(message.substr(message.find("enough for ") + 11)));
      }
      ASSERT_GT(fitting, 1u);
      ASSERT_LT(fitting, 24u);
      scene.garments.resize(fitting);
      EXPECT_NO_THROW(Simulation(scene, options).advance(largest_start)) << recipe;
      unsetenv("ISOCLOTH_TEST_DEVICE_BYTES");
    }
}

TEST_F(TestDevice, SaysHowMuchAnArrayNeeds) {
  ASSERT_EQ(setenv("ISOCLOTH_TEST_DEVICE_BYTES", "6291456", 1), 0);
  const Device device({.backend = "cuda"});
  const Buffer<double> first(device, 100);
  try {
    const Buffer<double> second(device, 1 << 20);
    FAIL() << "8 MiB fitted into 6";
  } catch (const DeviceError& error) {
    EXPECT_PRED2(contains, std::string(error.what()), "an array needs 8.0 MiB");
    EXPECT_PRED2(contains, std::string(error.what()), "of 6.0 MiB are free");
  }
}

}  // namespace
}  // namespace isocloth

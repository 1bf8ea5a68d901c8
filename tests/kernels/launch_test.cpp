// How kernels run must not show: any number of threads, any size of a block.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "host/orchestrator/garment_solvers.hpp"
#include "kernels/launch/thread_pool.hpp"
#include "tests/kernels/kernel_check.hpp"

namespace isocloth {
namespace {

struct Machine {
  int threads, emulated_block;
};
constexpr Machine machines[] = {{2, 0}, {3, 0}, {1, 1}, {1, 2}, {1, 7}, {1, 32}};

ExecutionOptions options_of(const Machine& machine, Precision precision) {
  return {.backend = "cpu",
          .precision = precision,
          .threads = machine.threads,
          .emulated_block = machine.emulated_block};
}

template <class Real>
class Launch : public testing::Test {
 protected:
  static constexpr Precision precision =
      sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64;
};
TYPED_TEST_SUITE(Launch, Precisions);

TYPED_TEST(Launch, EveryKernelIsTheSameBitForBit) {
  for (const std::string name : {"quads", "mixed", "edges", "nothing free"}) {
    const KernelCase& at = kernel_case(name);
    const KernelResults& alone = results_of<TypeParam>(at, "cpu");
    for (const Machine& machine : machines) {
      const KernelResults found = run_kernels<TypeParam>(at, options_of(machine, this->precision));
      ASSERT_EQ(found.size(), alone.size());
      for (const auto& [output, values] : alone)
        EXPECT_EQ(found.at(output), values) << name << ": " << output << ", threads " << machine.threads
                                            << ", block " << machine.emulated_block;
    }
  }
}

TYPED_TEST(Launch, WholeStepsAreTheSameBitForBit) {
  for (const std::string name : {"quads", "edges"}) {
    Scene scene;
    scene.recipe = kernel_case(name).recipe;
    scene.garments.push_back(kernel_case(name).garment);
    std::vector<GarmentState> states;
    std::vector<StepReport> reports;
    auto run = [&](const Machine& machine) {
      const Device device(options_of(machine, this->precision));
      const auto solver = make_garment_solver(device, this->precision, scene.garments[0], scene);
      for (int i = 0; i < 2; ++i) reports.push_back(solver->step(i * scene.step, scene.step));
      states.push_back(solver->state());
    };
    run({1, 0});
    EXPECT_GT(reports[0].iterations, 0);
    for (const Machine& machine : machines) {
      run(machine);
      EXPECT_EQ(states.back().positions, states[0].positions) << name;
      EXPECT_EQ(states.back().velocities, states[0].velocities) << name;
      EXPECT_EQ(states.back().multipliers, states[0].multipliers) << name;
      EXPECT_EQ(reports.back().iterations, reports[1].iterations) << name;
      EXPECT_EQ(reports.back().residual, reports[1].residual) << name;
    }
  }
}

TEST(ThreadPool, CallsCoverEachIndexOnce) {
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const Index grain : {1, 7, 256})
      for (const Index count : {0, 1, 2, 255, 256, 257, 10007}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        std::atomic<int> empty{0};
        pool.run(count, grain, [&](Index begin, Index end) {
          if (begin >= end) ++empty;
          for (Index i = begin; i < end; ++i) ++visits[i];
        });
        EXPECT_EQ(empty, 0);
        for (Index i = 0; i < count; ++i) ASSERT_EQ(visits[i], 1) << "index " << i << " of " << count;
      }
  }
}

TEST(ThreadPool, RangesAreEvenAndHoldMoreThanHalfOfTheGrain) {
  for (const int threads : {2, 3, 16}) {
    ThreadPool pool(threads);
    for (const Index count : {257, 300, 513, 700, 2000, 10007}) {
      std::mutex mutex;
      std::vector<Index> sizes;
      pool.run(count, 256, [&](Index begin, Index end) {
        const std::scoped_lock lock(mutex);
        sizes.push_back(end - begin);
      });
      const Index ranges = static_cast<Index>(sizes.size());
      EXPECT_TRUE(ranges <= threads || ranges % threads == 0) << count << " on " << threads;
      std::ranges::sort(sizes);
      EXPECT_GE(2 * sizes.back(), 256);
      EXPECT_LE(sizes.back() - sizes.front(), ranges);  // the last one is what is left
    }
  }
}

// A worker that is late for one run must not take from the next, or return early from it.
TEST(ThreadPool, ManyShortRunsInARow) {
  ThreadPool pool(3);
  std::vector<Index> values(600, 0);
  for (Index run = 1; run <= 3000; ++run) {
    pool.run(600, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) values[i] += run;
    });
    const Index expected = run * (run + 1) / 2;
    ASSERT_EQ(std::count(values.begin(), values.end(), expected), 600) << "after run " << run;
  }
}

TEST(ThreadPool, StartsAndEndsWithoutWork) {
  for (int i = 0; i < 200; ++i) ThreadPool(3);
}

TEST(Gpu, KernelsAreTestedThere) {
  if (cuda_status().backend != nullptr) return;
  const char* required = std::getenv("ISOCLOTH_REQUIRE_GPU");
  if (required != nullptr && std::string(required) == "1") FAIL() << "no GPU: " << cuda_status().message;
  GTEST_SKIP() << "no GPU: the kernels were tested on the CPU alone: " << cuda_status().message;
}

}  // namespace
}  // namespace isocloth

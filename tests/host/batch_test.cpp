// What a cloth does must not depend on the batch that it is in: the same bits alone and among any others, in
// any vector, block and number of threads, step by step and many steps at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "host/memory/device.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "host/validation/validation.hpp"
#include "tests/host/batch_case.hpp"

namespace isocloth {
namespace {

std::vector<BatchCase> all_cases() {
  std::vector<BatchCase> cases;
  for (const auto method : {ProjectionMethod::proximal_newton, ProjectionMethod::fast_projection})
    for (const auto metric : {Metric::implicit_b, Metric::mass})
      for (const bool bending : {false, true})
        for (const bool parted : {false, true})
          cases.push_back({.method = method,
                           .metric = metric,
                           .bending = bending,
                           .own_rest_shapes = bending != parted,
                           .parted = parted});
  for (const bool parted : {false, true}) {
    cases.push_back({.bending = true, .parted = parted, .integrator = Integrator::bdf2});
    cases.push_back(
        {.bending = true, .own_rest_shapes = true, .parted = parted, .factor = FactorPattern::rows});
  }
  cases.push_back({.method = ProjectionMethod::fast_projection,
                   .bending = true,
                   .integrator = Integrator::bdf2,
                   .factor = FactorPattern::rows});
  return cases;
}

class BatchTest : public testing::TestWithParam<BatchCase> {};

TEST_P(BatchTest, AClothMovesAsIfAlone) {
  const BatchCase& batch = GetParam();
  const int known = 9, steps = batch.parted ? 3 : 5;
  for (const Precision precision : both_precisions) {
    const ExecutionOptions options{.precision = precision, .threads = 1};
    std::vector<BatchRun> alone;
    for (int m = 0; m < known; ++m)
      alone.push_back(run_batch(batch_scene(batch, std::vector<int>{m}), options, steps));
    for (const int count : {2, 8, 9, 10, 41}) {
      const BatchRun together = run_batch(batch_scene(batch, count), options, steps);
      for (int m = 0; m < std::min(count, known); ++m)
        expect_same(
            together, static_cast<std::size_t>(m), alone[static_cast<std::size_t>(m)], 0,
            "cloth " + std::to_string(m) + " of " + std::to_string(count) + ", " + to_string(precision));
    }
    // In another lane, beside others.
    std::vector<int> backwards{30, 20, 10};
    for (int m = known - 1; m >= 0; --m) backwards.push_back(m);
    const BatchRun turned = run_batch(batch_scene(batch, backwards), options, steps);
    for (std::size_t g = 3; g < backwards.size(); ++g)
      expect_same(turned, g, alone[static_cast<std::size_t>(backwards[g])], 0, "the other way round");

    int most_parts = 0, least_parts = 1000;
    for (const BatchRun& run : alone)
      for (const StepReport& report : run.reports[0]) {
        EXPECT_GT(report.iterations, 0);
        EXPECT_EQ(report.status, StepStatus::converged);
        most_parts = std::max(most_parts, report.substeps);
        least_parts = std::min(least_parts, report.substeps);
      }
    EXPECT_EQ(least_parts, 1) << "some steps need no parts";
    EXPECT_EQ(most_parts > 1, batch.parted);
  }
}

TEST_P(BatchTest, ManyStepsAtOnceAreStepsOneByOne) {
  const int steps = 4, count = 11;
  for (const Precision precision : both_precisions) {
    const Scene scene = batch_scene(GetParam(), count);
    const ExecutionOptions options{.precision = precision, .threads = 1};
    const BatchRun one_by_one = run_batch(scene, options, steps);
    Simulation simulation(scene, options);
    const std::vector<StepReport> reports = simulation.advance(steps);
    EXPECT_EQ(simulation.step_index(), steps);
    for (std::size_t g = 0; g < reports.size(); ++g) {
      StepReport sum{.iterations = 0, .substeps = 0};
      for (const StepReport& report : one_by_one.reports[g]) {
        sum.status = std::max(sum.status, report.status);
        sum.iterations += report.iterations;
        sum.substeps += report.substeps;
        sum.residual = std::max(sum.residual, report.residual);
        sum.bad_node = std::max(sum.bad_node, report.bad_node);
      }
      expect_same_report(reports[g], sum, "cloth " + std::to_string(g));
      expect_same_state(simulation.state(g), one_by_one.states[g], "cloth " + std::to_string(g));
    }
  }
}

// More steps than one launch takes.
TEST(Batch, ManyStepsInSeveralLaunches) {
  const Scene scene = batch_scene({.nx = 3, .ny = 4}, 7);
  for (const Precision precision : both_precisions) {
    const ExecutionOptions options{.precision = precision, .threads = 1};
    const int steps = largest_start + 3;
    const BatchRun one_by_one = run_batch(scene, options, steps);
    Simulation simulation(scene, options);
    simulation.advance(steps);
    for (std::size_t g = 0; g < simulation.garment_count(); ++g)
      expect_same_state(simulation.state(g), one_by_one.states[g], "cloth " + std::to_string(g));
  }
}

// Blocks of one thread, of concurrent ones, and tiles shared out among threads.
TEST_P(BatchTest, ThreadsAndBlocksDoNotShow) {
  BatchCase batch = GetParam();
  batch.nx = batch.ny = 4;
  const Scene scene = batch_scene(batch, 6);  // more than a third of the lanes: they share a vector
  const int steps = 1;
  for (const Precision precision : both_precisions) {
    const BatchRun expected = run_batch(scene, {.precision = precision, .threads = 1}, steps);
    for (const ExecutionOptions& options :
         {ExecutionOptions{.precision = precision, .threads = 2},
          ExecutionOptions{.precision = precision, .threads = 3},
          ExecutionOptions{.precision = precision, .threads = 1, .emulated_block = 2},
          ExecutionOptions{.precision = precision, .threads = 1, .emulated_block = 7}}) {
      const BatchRun found = run_batch(scene, options, steps);
      for (std::size_t g = 0; g < found.states.size(); ++g)
        expect_same(
            found, g, expected, g,
            std::to_string(options.threads) + " threads, block of " + std::to_string(options.emulated_block));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BatchTest, testing::ValuesIn(all_cases()),
                         [](const auto& parameter) { return describe(parameter.param); });

TEST(Batch, ABlockOfAWarpDoesNotShow) {
  const Scene scene = batch_scene({.bending = true, .nx = 4, .ny = 3}, 2);
  for (const std::string& simd : simd_names())
    for (const Precision precision : both_precisions) {
      const ExecutionOptions options{.precision = precision, .simd = simd, .threads = 1};
      ExecutionOptions block = options;
      block.emulated_block = 32;
      const BatchRun expected = run_batch(scene, options, 1), found = run_batch(scene, block, 1);
      for (std::size_t g = 0; g < found.states.size(); ++g) expect_same(found, g, expected, g, simd);
    }
}

TEST(Batch, ManyTilesOnAnyThreads) {
  const Scene scene = batch_scene({}, 61);
  for (const Precision precision : both_precisions) {
    const BatchRun expected = run_batch(scene, {.precision = precision, .threads = 1}, 3);
    for (const int threads : {2, 3}) {
      const BatchRun found = run_batch(scene, {.precision = precision, .threads = threads}, 3);
      for (std::size_t g = 0; g < found.states.size(); ++g) expect_same(found, g, expected, g, "threads");
    }
  }
}

// Each instruction set has lanes of its own; cloths alone and side by side agree in each.
TEST(Batch, EveryInstructionSetMovesAClothAsIfAlone) {
  const BatchCase batch{.bending = true, .own_rest_shapes = true};
  for (const std::string& simd : simd_names())
    for (const Precision precision : both_precisions) {
      const ExecutionOptions options{.precision = precision, .simd = simd, .threads = 1};
      const BatchRun together = run_batch(batch_scene(batch, 21), options, 4);
      for (const int m : {0, 1, 7, 20})
        expect_same(together, static_cast<std::size_t>(m),
                    run_batch(batch_scene(batch, std::vector<int>{m}), options, 4), 0,
                    simd + ", cloth " + std::to_string(m));
    }
}

// Lanes without a cloth take no part: numbers of cloths on either side of every vector's width.
TEST(Batch, SpareLanesLeaveNoTrace) {
  for (const Precision precision : both_precisions)
    for (int count = 1; count <= 17; ++count) {
      Simulation simulation(batch_scene({}, count), {.precision = precision, .threads = 1});
      for (const StepReport& report : simulation.advance(2)) EXPECT_EQ(report.status, StepStatus::converged);
      for (std::size_t g = 0; g < simulation.garment_count(); ++g) {
        EXPECT_TRUE(is_finite(simulation.state(g))) << "cloth " << g << " of " << count;
        const Measures m = simulation.measure(g);
        EXPECT_TRUE(m.residual < 1e-2 && m.kinetic_energy >= 0 && std::isfinite(m.potential_energy));
      }
    }
}

TEST(Batch, MeasuresAreThoseOfTheClothAlone) {
  for (const Precision precision : both_precisions)
    for (const bool own_rest_shapes : {false, true}) {
      const BatchCase batch{.bending = true, .own_rest_shapes = own_rest_shapes};
      const auto measured = [&](Scene scene) {
        Simulation simulation(std::move(scene), {.precision = precision, .threads = 2});
        simulation.advance(3);
        return simulation;
      };
      const Simulation together = measured(batch_scene(batch, 11));
      const std::vector<Measures> all = together.measure();
      const std::vector<std::vector<Vec3d>> positions = together.positions();
      for (int m = 0; m < 11; ++m) {
        const std::size_t g = static_cast<std::size_t>(m);
        const Simulation alone = measured(batch_scene(batch, std::vector<int>{m}));
        EXPECT_EQ(all[g], alone.measure(0)) << m;
        EXPECT_EQ(all[g], together.measure(g)) << m;
        EXPECT_EQ(positions[g], together.positions(g)) << m;
      }
    }
}

/// The inspected step of a cloth alone and among others, bit for bit.
TEST(Batch, InspectionIsThatOfTheClothAlone) {
  const BatchCase batch{.bending = true, .own_rest_shapes = true};
  const Scene together = batch_scene(batch, 11);
  const Device device({.threads = 1});
  const GarmentSolvers group = make_garment_solvers(device, Precision::float64, together);
  ASSERT_EQ(group.solvers.size(), 1u);
  for (const std::size_t m : {std::size_t{0}, std::size_t{7}, std::size_t{10}}) {
    const Scene single = batch_scene(batch, std::vector<int>{static_cast<int>(m)});
    const auto alone = make_garment_solver(device, Precision::float64, single.garments[0], single);
    const double t = single.garments[0].time_offset;
    const Inspection found = group.solvers[0]->inspect(m, t, together.step),
                     expected = alone->inspect(0, t, together.step);
    EXPECT_EQ(found.masses, expected.masses);
    EXPECT_EQ(found.bending, expected.bending);
    EXPECT_EQ(found.predicted, expected.predicted);
    EXPECT_EQ(found.start, expected.start);
    EXPECT_EQ(found.row_values, expected.row_values);
    EXPECT_EQ(found.row_d, expected.row_d);
    EXPECT_EQ(found.stiffness, expected.stiffness);
    EXPECT_EQ(found.correction, expected.correction);
    EXPECT_EQ(found.multipliers, expected.multipliers);
    // Looking leaves the state and goes on as before.
    expect_same_state(group.solvers[0]->state(m), alone->state(), "after an inspection");
  }
}

double diagonal(const Mesh& mesh) {
  Vec3d low = mesh.positions[0], high = low;
  for (const Vec3d& p : mesh.positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  return norm(high - low);
}

// Two ways to the same step, batched and direct. What rounding may do to either is what validate() allows the
// kernels against the reference, which depends on the reference and the precision alone; between the two it
// is at most twice that.
TEST(Batch, EqualsTheDirectPathWithinRounding) {
  for (const BatchCase& batch : all_cases())
    for (const Precision precision : both_precisions) {
      if (batch.parted) continue;  // the kernels of the batch move driven nodes evenly between parts
      SCOPED_TRACE(describe(batch) + ", " + to_string(precision));
      const Scene scene = batch_scene(batch, 8);
      ExecutionOptions batched{.precision = precision, .solver = StepSolver::batched, .threads = 1};
      ExecutionOptions direct = batched;
      direct.solver = StepSolver::direct;
      const ValidationReport report = validate(scene, batched, 1);
      EXPECT_TRUE(report.passed());
      const BatchRun a = run_batch(scene, batched, 1), b = run_batch(scene, direct, 1);
      int compared = 0;
      for (std::size_t g = 0; g < a.states.size(); ++g) {
        const auto found =
            std::find_if(report.garments[g].differences.begin(), report.garments[g].differences.end(),
                         [](const Difference& d) { return d.quantity == "positions"; });
        if (report.garments[g].whole_steps != 1) continue;  // either course is right
        ASSERT_NE(found, report.garments[g].differences.end());
        ++compared;
        EXPECT_EQ(a.reports[g][0].iterations, b.reports[g][0].iterations);
        EXPECT_EQ(b.reports[g][0].status, StepStatus::converged);
        const double bound = 2 * found->tolerance * diagonal(scene.garments[g].mesh);
        double worst = 0;
        for (std::size_t i = 0; i < a.states[g].positions.size(); ++i)
          worst = std::max(worst, std::abs(a.states[g].positions[i] - b.states[g].positions[i]));
        EXPECT_LE(worst, bound) << "cloth " << g;
      }
      EXPECT_GE(compared, 4) << "of 8";
    }
}

}  // namespace
}  // namespace isocloth

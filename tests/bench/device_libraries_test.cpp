// What stands in for a GPU's libraries, and the whole comparison with it.
#include "bench/device_libraries.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>
#include <numeric>
#include <type_traits>

#include "bench/commands.hpp"
#include "bench/contest.hpp"
#include "bench/sparse_formats.hpp"
#include "engine/core/errors.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/linear/systems.hpp"

namespace isocloth::bench {
namespace {

BlockSystem small_system() { return nodal_system(all_garments().front().garment, 1e-3, 1e-3); }

template <class Real>
std::vector<Real> narrowed(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}
template <class Real>
BlockRowsView<Real> view(const BlockRows& rows, const std::vector<Real>& values) {
  return {rows.size, rows.block, rows.begin, rows.columns, values};
}

/// |b - A x| against n eps |A| |x| with a factor for the two substitutions.
template <class Real>
void expect_solves(const Eigen::MatrixXd& a, const std::vector<Real>& b, const Real* x) {
  const auto wide = [&](const Real* values) {
    Eigen::VectorXd result(a.rows());
    for (Eigen::Index i = 0; i < a.rows(); ++i) result[i] = static_cast<double>(values[i]);
    return result;
  };
  const Eigen::VectorXd solution = wide(x);
  const double norm = a.cwiseAbs().rowwise().sum().maxCoeff();
  EXPECT_LE((a * solution - wide(b.data())).cwiseAbs().maxCoeff(),
            8 * static_cast<double>(a.rows()) * static_cast<double>(std::numeric_limits<Real>::epsilon()) *
                norm * solution.cwiseAbs().maxCoeff());
}

template <class Real>
class StandardLibraries : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(StandardLibraries, Reals);

TYPED_TEST(StandardLibraries, Multiply) {
  using Real = TypeParam;
  const BlockSystem system = small_system();
  const BlockRows scalars = scalar_rows(block_rows(system.pattern, system.values));
  const std::vector<Real> values = narrowed<Real>(scalars.values);
  std::vector<Real> x(static_cast<std::size_t>(scalars.size)), y(x.size());
  std::iota(x.begin(), x.end(), Real(1));
  ProductArrays<Real> arrays;
  arrays.scalars = view<Real>(scalars, values);
  arrays.x = x;
  arrays.y = y;
  for (const auto& make : standard_libraries().products({}, arrays)) make()->run();
  for (Index row = 0; row < scalars.size; ++row) {
    double sum = 0, magnitude = 0;
    for (Index entry = scalars.begin[row]; entry < scalars.begin[row + 1]; ++entry) {
      const double term = static_cast<double>(values[entry]) * static_cast<double>(x[scalars.columns[entry]]);
      sum += term;
      magnitude += std::abs(term);
    }
    const double terms = scalars.begin[row + 1] - scalars.begin[row];
    EXPECT_NEAR(static_cast<double>(y[row]), sum,
                terms * static_cast<double>(std::numeric_limits<Real>::epsilon()) * magnitude);
  }
}

TYPED_TEST(StandardLibraries, SolveDenseBatches) {
  using Real = TypeParam;
  const BlockSystem system = rounded<Real>(small_system());
  const std::vector<Real> matrix = narrowed<Real>(dense_matrix(block_rows(system.pattern, system.values)));
  const Eigen::MatrixXd a = dense(system);
  const std::size_t size = static_cast<std::size_t>(a.rows());
  std::vector<Real> scales{1, 2, Real(0.5)}, b(size, 1), factors(3 * size * size), x(3 * size);
  DenseBatch<Real> batch{.size = static_cast<Index>(size),
                         .count = 3,
                         .matrix = matrix,
                         .scales = scales,
                         .factors = factors,
                         .right_side = b,
                         .solutions = x};
  for (const auto& make : standard_libraries().dense_factors({}, batch)) {
    const auto task = make();
    task->run();
    EXPECT_TRUE(task->succeeded());
    for (std::size_t c = 0; c < 3; ++c)
      expect_solves<Real>(static_cast<double>(scales[c]) * a, b, x.data() + c * size);
    scales[1] = -1;
    task->factorize();
    EXPECT_FALSE(task->succeeded());
  }
}

TYPED_TEST(StandardLibraries, SolveSparseSystems) {
  using Real = TypeParam;
  const BlockSystem system = rounded<Real>(small_system());
  const BlockRows scalars = scalar_rows(block_rows(system.pattern, system.values));
  std::vector<Real> values = narrowed<Real>(scalars.values);
  std::vector<Real> b(static_cast<std::size_t>(scalars.size), 1), x(b.size());
  SparseSystem<Real> sparse;
  sparse.scalars = view<Real>(scalars, values);
  sparse.right_side = b;
  sparse.solution = x;
  for (const auto& make : standard_libraries().sparse_factors({}, sparse)) {
    const auto task = make();
    task->run();
    EXPECT_TRUE(task->succeeded());
    expect_solves<Real>(dense(system), b, x.data());
  }
  for (Real& value : values) value = -value;
  for (const auto& make : standard_libraries().sparse_factors({}, sparse)) {
    const auto task = make();
    task->factorize();
    EXPECT_FALSE(task->succeeded());
  }
}

TYPED_TEST(StandardLibraries, ReduceChunksAsTheKernelDoes) {
  using Real = TypeParam;
  std::vector<Real> values(2 * reduction_chunk + 5);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(static_cast<int>(i % 7) - 3);
  values[reduction_chunk + 3] = std::numeric_limits<Real>::quiet_NaN();
  values[reduction_chunk + 9] = std::numeric_limits<Real>::infinity();
  std::vector<Reduction<Real>> found(3), expected(3);
  for (const auto& make :
       standard_libraries().reductions({}, Reduce<Real>{.values = values, .partials = found}))
    make()->run();
  step_kernels<Real>(*cpu_backend(Simd::baseline)).reduce({}, {.values = values, .partials = expected});
  for (const std::size_t chunk : {0, 1, 2}) {  // whole numbers, whose sums do not round
    EXPECT_EQ(found[chunk].maximum, expected[chunk].maximum);
    EXPECT_EQ(found[chunk].first_bad, expected[chunk].first_bad);
    EXPECT_EQ(std::isnan(found[chunk].sum), std::isnan(expected[chunk].sum));
    if (chunk == 1) continue;
    EXPECT_EQ(found[chunk].sum, expected[chunk].sum);
    EXPECT_EQ(found[chunk].magnitude_sum, expected[chunk].magnitude_sum);
    EXPECT_EQ(found[chunk].square_sum, expected[chunk].square_sum);
  }
}

TEST(StandardAlgorithms, ScanSortAndSelect) {
  const std::vector<Index> counts{3, 0, 2, 1};
  std::vector<Index> offsets(4);
  for (const auto& make : standard_libraries().scans({}, counts, offsets)) make()->run();
  EXPECT_EQ(offsets, (std::vector<Index>{0, 3, 3, 5}));

  const std::uint64_t large = ~std::uint64_t{0};
  const std::vector<std::uint64_t> keys{5, large, 5, 1};
  const std::vector<Index> values{10, 11, 12, 13};
  std::vector<std::uint64_t> sorted_keys(4);
  std::vector<Index> sorted_values(4);
  for (const auto& make : standard_libraries().sorts({}, {keys, values, sorted_keys, sorted_values}))
    make()->run();
  EXPECT_EQ(sorted_keys, (std::vector<std::uint64_t>{1, 5, 5, large}));
  EXPECT_EQ(sorted_values, (std::vector<Index>{13, 10, 12, 11}));

  const std::vector<PairStatus> statuses{PairStatus::near_by, PairStatus::apart, PairStatus::passing};
  std::vector<FoundContact> found(3), selected(3);
  for (std::size_t i = 0; i < 3; ++i) found[i].key = i;
  std::vector<Index> count(1);
  for (const auto& make : standard_libraries().selections({}, {statuses, found, selected, count}))
    make()->run();
  EXPECT_EQ(count[0], 2);
  EXPECT_EQ(selected[0].key, 0u);
  EXPECT_EQ(selected[1].key, 2u);
}

TEST(Contest, TakesTheFastestThatMayServe) {
  const auto outcome = [](double seconds, double error) {
    Outcome o;
    o.seconds = seconds;
    o.error = error;
    o.repeats = true;
    return o;
  };
  std::vector<Outcome> outcomes{outcome(10, 1e-16), outcome(5, 1e-16), outcome(2, 1e-16), outcome(1, 1e-10)};
  EXPECT_EQ(best_outcome(outcomes, 1e-15, 1.1), 2u);  // the last is wrong
  outcomes[2].same_in_batch = false;
  EXPECT_EQ(best_outcome(outcomes, 1e-15, 1.1), 1u);
  outcomes[1].repeats = false;
  EXPECT_EQ(best_outcome(outcomes, 1e-15, 1.1), 0u);
  outcomes[3].error = 1e-15;
  EXPECT_EQ(best_outcome(outcomes, 1e-15, 1.1), 3u);
  outcomes[3].failure = "refused";
  EXPECT_EQ(best_outcome(outcomes, 1e-15, 1.1), 0u);
  outcomes = {outcome(10, 0), outcome(9.5, 0)};
  EXPECT_EQ(best_outcome(outcomes, 0, 1.1), 0u);  // not worth it
}

std::vector<Table> measure_small(const std::string& backend) {
  return measure_libraries({.parts = {},
                            .backend = backend,
                            .sides = {9},
                            .batch_sides = {9},
                            .counts = {1, 20},
                            .lengths = {5000},
                            .budget = 1e-3});
}

/// The engine's results are right, repeat, and do not depend on a batch; those of libraries are right, unless
/// they refuse.
void expect_right(const std::vector<Table>& tables) {
  ASSERT_EQ(tables.size(), 2u);
  const Table& all = tables[0];
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(all.columns.begin(), all.columns.end(), name) -
                                    all.columns.begin());
  };
  const std::size_t by = column("by"), error = column("error"), repeats = column("same bits again"),
                    in_batch = column("same bits in a batch"), precision = column("precision");
  std::size_t of_engine = 0, batched = 0;
  for (const auto& row : all.rows) {
    SCOPED_TRACE(Json(row).dump());
    ASSERT_EQ(row.size(), all.columns.size());
    const bool is_engine = row[by].get<std::string>().starts_with("engine");
    if (!is_engine && row[error].is_null()) continue;
    ASSERT_TRUE(row[error].is_number());
    const double unit = row[precision] == "float32" ? std::numeric_limits<float>::epsilon()
                                                    : std::numeric_limits<double>::epsilon();
    EXPECT_LE(row[error].get<double>(), 16 * unit);
    if (!is_engine) continue;
    ++of_engine;
    EXPECT_TRUE(row[repeats].get<bool>());
    if (row[in_batch].is_null()) continue;
    EXPECT_TRUE(row[in_batch].get<bool>());
    ++batched;
  }
  EXPECT_EQ(batched, 2u);     // of a second batch, in two precisions
  EXPECT_EQ(of_engine, 15u);  // 6 of one system, 4 of batches, 2 of sums, 3 of whole numbers
  EXPECT_EQ(tables[1].rows.size(), of_engine);
}

TEST(MeasureLibraries, EngineAndStandInsAreRight) { expect_right(measure_small("cpu")); }

class GpuLibraries : public GpuCase {};

TEST_F(GpuLibraries, EngineAndLibrariesAreRight) {
  try {
    device_libraries("cuda");
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  expect_right(measure_small("cuda"));
}

}  // namespace
}  // namespace isocloth::bench

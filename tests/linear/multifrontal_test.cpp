// The multifrontal solver against dense Cholesky, in both precisions, on every instruction set of the
// machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/linear/multifrontal_solver.hpp"
#include "kernels/launch/thread_pool.hpp"
#include "tests/linear/systems.hpp"

namespace isocloth {
namespace {

/// [size * block, count] uniform in [-1, 1].
template <class Real>
std::vector<Real> right_sides(std::size_t size) {
  std::vector<Real> b(size);
  for (std::size_t i = 0; i < size; ++i)
    b[i] = static_cast<Real>(std::sin(1.7 * static_cast<double>(i) + 0.3));
  return b;
}

template <class Real>
std::vector<const DenseKernels<Real>*> machine_kernels() {
  std::vector<const DenseKernels<Real>*> all;
  for (const InstructionSet set : {InstructionSet::sse2, InstructionSet::avx2, InstructionSet::avx512})
    if (const DenseKernels<Real>* kernels = find_dense_kernels<Real>(set)) all.push_back(kernels);
  return all;
}

template <class Real>
std::vector<Real> narrow(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <class Real>
void expect_small_backward_error(const BlockSystem& system, const std::string& what) {
  const BlockSystem s = rounded<Real>(system);
  const std::vector<Real> values = narrow<Real>(s.values);
  for (const DenseKernels<Real>* kernels : machine_kernels<Real>()) {
    MultifrontalSolver<Real> solver(s.pattern, nullptr, *kernels);
    const Factorization f = solver.factorize(values.data());
    ASSERT_TRUE(f.ok) << what << ", " << solver.name() << ": stopped at " << f.block_row;
    for (const int count : {1, 2, 3, 5}) {
      const std::vector<Real> b =
          right_sides<Real>(static_cast<std::size_t>(s.pattern.size) * s.pattern.block * count);
      std::vector<Real> x(b.size());
      solver.solve(b.data(), x.data(), count);
      EXPECT_LE(backward_error(s, b, x, count), 100 * std::numeric_limits<Real>::epsilon())
          << what << ", " << solver.name() << ", " << count << " right sides";
      std::vector<Real> in_place = b;
      solver.solve(in_place.data(), in_place.data(), count);
      EXPECT_EQ(in_place, x);
      std::vector<Real> alone(x.size());
      for (int k = 0; k < count; ++k) {
        std::vector<Real> one;
        for (std::size_t i = k; i < b.size(); i += count) one.push_back(b[i]);
        solver.solve(one.data(), one.data(), 1);
        for (std::size_t i = 0; i < one.size(); ++i) alone[i * count + k] = one[i];
      }
      EXPECT_EQ(alone, x) << what << ", " << solver.name() << ", " << count << " right sides at once";
    }
  }
}

TEST(Multifrontal, SolvesEveryPattern) {
  for (const NamedPattern& p : all_patterns()) {
    if (p.pattern.size == 0) continue;
    expect_small_backward_error<double>(dominant_system(p.pattern, 3), p.name);
    expect_small_backward_error<float>(dominant_system(p.pattern, 3), p.name);
  }
}

TEST(Multifrontal, SolvesNodalSystemsOfEveryMesh) {
  for (const NamedGarment& g : all_garments()) {
    expect_small_backward_error<double>(nodal_system(g.garment, 1e-6, 3e-3, 1e-5), g.name);
    expect_small_backward_error<float>(nodal_system(g.garment, 1e-3, 3e-3), g.name);
  }
}

TEST(Multifrontal, SolvesNearlySingularFlatSheets) {
  // Out of the plane of a flat sheet the rows do nothing: inertia alone stands against 1/eps.
  for (const NamedGarment& g : all_garments())
    for (const double eps : {1e-6, 1e-9})
      expect_small_backward_error<double>(nodal_system(g.garment, eps, 0), g.name);
}

TEST(Multifrontal, SolvesScaledOverTwelveOrders) {
  for (const NamedGarment& g : all_garments()) {
    const BlockSystem s = scaled_over_twelve_orders(nodal_system(g.garment, 1e-4, 3e-3));
    expect_small_backward_error<double>(s, g.name);
  }
}

TEST(Multifrontal, SolvesLargeFronts) {
  expect_small_backward_error<double>(band_system(), "band");
  expect_small_backward_error<float>(band_system(), "band");
}

TEST(Multifrontal, AgreesWithDenseFactorOnFlopsAndNonzerosOfADenseMatrix) {
  for (const NamedPattern& p : all_patterns()) {
    if (p.name != "dense") continue;
    const MultifrontalSolver<double> solver(p.pattern, nullptr);
    const double n = 3.0 * p.pattern.size;
    EXPECT_EQ(solver.factor_nonzeros(), n * (n + 1) / 2);
    EXPECT_EQ(solver.factor_flops(), n * (n + 1) * (2 * n + 1) / 6);
  }
}

/// A sheet large enough for several subtrees and tiled fronts.
const BlockSystem& large_system() {
  static const BlockSystem system = [] {
    Garment garment;
    garment.name = "sheet";
    garment.mesh = quad_grid(41, 37, 0.9, 0.8);
    garment.fabric = {.density = 0.2,
                      .gravity_density = 0.5,
                      .bending_stiffness = 0,
                      .mass_damping = 1,
                      .stiffness_damping = 0};
    garment.pins.push_back({"pins", {0, 40}, FixedMotion{}});
    return nodal_system(garment, 1e-5, 3e-3);
  }();
  return system;
}

template <class Real>
void expect_same_bits_on_any_threads() {
  const BlockSystem& s = large_system();
  const std::vector<Real> values = narrow<Real>(s.values);
  for (const DenseKernels<Real>* kernels : machine_kernels<Real>()) {
    std::vector<Real> first;
    for (const int threads : {1, 2, 5})
      for (int run = 0; run < 3; ++run) {
        ThreadPool pool(threads);
        MultifrontalSolver<Real> solver(s.pattern, &pool, *kernels);
        ASSERT_TRUE(solver.factorize(values.data()).ok);
        std::vector<Real> x = right_sides<Real>(static_cast<std::size_t>(s.pattern.size) * 9);
        solver.solve(x.data(), x.data(), 3);
        if (first.empty()) first = x;
        ASSERT_EQ(std::memcmp(first.data(), x.data(), x.size() * sizeof(Real)), 0)
            << solver.name() << ", " << threads << " threads";
      }
  }
}

TEST(Multifrontal, SameBitsOnAnyNumberOfThreads) {
  expect_same_bits_on_any_threads<double>();
  expect_same_bits_on_any_threads<float>();
}

TEST(Multifrontal, FactorsAgainWithOtherValues) {
  const BlockSystem& s = large_system();
  MultifrontalSolver<double> solver(s.pattern, nullptr), fresh(s.pattern, nullptr);
  std::vector<double> other = s.values;
  for (double& v : other) v *= 3;
  ASSERT_TRUE(solver.factorize(other.data()).ok);
  ASSERT_TRUE(solver.factorize(s.values.data()).ok);
  ASSERT_TRUE(fresh.factorize(s.values.data()).ok);
  const std::vector<double> b = right_sides<double>(static_cast<std::size_t>(s.pattern.size) * 3);
  std::vector<double> x(b.size()), y(b.size());
  solver.solve(b.data(), x.data(), 1);
  fresh.solve(b.data(), y.data(), 1);
  EXPECT_EQ(x, y);
}

/// Diagonal block of a block row.
std::size_t diagonal_block(const BlockPattern& p, Index row) {
  for (std::size_t b = 0; b < p.rows.size(); ++b)
    if (p.rows[b] == row && p.columns[b] == row) return b;
  throw std::runtime_error("no diagonal block");
}

TEST(Multifrontal, NamesTheBlockRowThatIsNotPositive) {
  for (const NamedPattern& p : all_patterns()) {
    if (p.pattern.size == 0) continue;
    const int n = p.pattern.block;
    const BlockSystem good = dominant_system(p.pattern, 9);
    for (const Index row : {Index{0}, p.pattern.size / 2, p.pattern.size - 1})
      for (const double bad :
           {-1e6, 0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        BlockSystem s = good;
        const std::size_t b = diagonal_block(p.pattern, row);
        s.values[(b * n + n - 1) * n + n - 1] = bad;
        for (const DenseKernels<double>* kernels : machine_kernels<double>()) {
          MultifrontalSolver<double> solver(p.pattern, nullptr, *kernels);
          const Factorization f = solver.factorize(s.values.data());
          // All other rows stay dominant: whatever comes before this pivot is positive.
          EXPECT_FALSE(f.ok) << p.name;
          EXPECT_EQ(f.block_row, row) << p.name << ", " << bad;
          std::vector<double> x(static_cast<std::size_t>(p.pattern.size) * n, 1);
          EXPECT_THROW(solver.solve(x.data(), x.data(), 1), NumericalError);
          EXPECT_TRUE(solver.factorize(good.values.data()).ok) << "not usable after a failure";
        }
      }
  }
}

TEST(Multifrontal, NamesTheSameBlockRowOnAnyNumberOfThreads) {
  BlockSystem s = large_system();
  for (const Index row : {5, 300, 700, 1100, 1400}) s.values[diagonal_block(s.pattern, row) * 9] = -1;
  std::vector<Index> named;
  for (const int threads : {1, 2, 5})
    for (int run = 0; run < 5; ++run) {
      ThreadPool pool(threads);
      MultifrontalSolver<double> solver(s.pattern, &pool);
      named.push_back(solver.factorize(s.values.data()).block_row);
      EXPECT_EQ(named.back(), named.front());
    }
  EXPECT_GE(named.front(), 0);
}

TEST(Multifrontal, RefusesToSolveWithoutAFactor) {
  MultifrontalSolver<double> solver({.size = 1, .block = 3, .rows = {0}, .columns = {0}}, nullptr);
  double x[3] = {1, 2, 3};
  EXPECT_THROW(solver.solve(x, x, 1), NumericalError);
  EXPECT_THROW(MultifrontalSolver<double>({.size = 1, .block = 3, .rows = {}, .columns = {}}, nullptr),
               ShapeError);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these end the program instead
TEST(Multifrontal, SaysWhatToDoWhenMemoryIsOut) {
  // 2^16 fronts of at least 3 scalars for 2^31 right sides: more than 2^48 bytes, what a processor can
  // address.
  BlockPattern pattern{.size = 1 << 16, .block = 3, .rows = {}, .columns = {}};
  for (Index i = 0; i < pattern.size; ++i) {
    pattern.rows.push_back(i);
    pattern.columns.push_back(i);
  }
  MultifrontalSolver<double> solver(pattern, nullptr);
  const BlockSystem s = dominant_system(pattern, 1);
  ASSERT_TRUE(solver.factorize(s.values.data()).ok);
  const std::size_t bytes = solver.memory_bytes();
  std::vector<double> x = right_sides<double>(static_cast<std::size_t>(pattern.size) * 3);
  try {
    solver.solve(x.data(), x.data(), std::numeric_limits<int>::max());
    FAIL() << "found memory";
  } catch (const DeviceError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("no memory for the right sides, expected "), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(bytes >> 20) + " MiB that it holds"), std::string::npos) << message;
    EXPECT_NE(message.find("\"iterative\""), std::string::npos) << message;
  }
  const std::vector<double> b = x;
  solver.solve(x.data(), x.data(), 1);
  EXPECT_LE(backward_error(s, b, x), 100 * std::numeric_limits<double>::epsilon());
}
#endif

TEST(Multifrontal, AnEmptySystemIsSolved) {
  MultifrontalSolver<double> solver({.size = 0, .block = 3, .rows = {}, .columns = {}}, nullptr);
  double x = 7;
  EXPECT_TRUE(solver.factorize(&x).ok);
  solver.solve(&x, &x, 1);
  EXPECT_EQ(x, 7);
}

}  // namespace
}  // namespace isocloth

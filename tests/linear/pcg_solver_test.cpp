#include "host/linear/pcg_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "kernels/launch/thread_pool.hpp"
#include "tests/linear/systems.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

VectorXd random_vector(Eigen::Index size, unsigned seed) {
  std::mt19937 generator(seed);
  VectorXd v(size);
  for (double& x : v) x = 2 * (static_cast<double>(generator()) / 4294967295.0) - 1;
  return v;
}

template <class Real>
std::vector<Real> narrowed(const std::vector<double>& v) {
  return {v.begin(), v.end()};
}
template <class Real>
std::vector<Real> narrowed(const VectorXd& v) {
  return {v.begin(), v.end()};
}
template <class Real>
VectorXd widened(const std::vector<Real>& v) {
  VectorXd w(static_cast<Eigen::Index>(v.size()));
  for (std::size_t i = 0; i < v.size(); ++i) w[static_cast<Eigen::Index>(i)] = static_cast<double>(v[i]);
  return w;
}

/// Largest number of scalars in a row.
double row_length(const BlockPattern& pattern) {
  const SymmetricRows rows = symmetric_rows(pattern);
  Index longest = 0;
  for (Index i = 0; i < rows.size(); ++i) longest = std::max(longest, rows.begin[i + 1] - rows.begin[i]);
  return 3.0 * longest;
}

/// A system of 3x3 blocks of every pattern: nodal ones of the meshes, random dominant ones of the others.
struct NamedSystem {
  std::string name;
  BlockSystem system;
};
std::vector<NamedSystem> systems(double eps) {
  std::vector<NamedSystem> all;
  for (const NamedGarment& g : all_garments())
    all.push_back({g.name, nodal_system(g.garment, eps, 3e-3, 1e-3)});
  for (const NamedPattern& p : all_patterns()) {
    if (p.pattern.block != 3) continue;
    bool has_mesh = false;
    for (const NamedSystem& s : all) has_mesh = has_mesh || s.name == p.name;
    if (!has_mesh) all.push_back({p.name, dominant_system(p.pattern, 3)});
  }
  return all;
}

BlockSystem sheet(Index nodes, double eps) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = quad_grid(nodes, nodes, 1, 1);
  garment.fabric = {
      .density = 1, .gravity_density = 1, .bending_stiffness = 0, .mass_damping = 4, .stiffness_damping = 0};
  garment.pins.push_back({"corners", {0, nodes - 1}, FixedMotion{}});
  return nodal_system(garment, eps, 3e-3 * 8.0 / nodes, 1e-4);
}

constexpr MultilevelOptions small_cells{.cell_size = 20, .overlap = 1, .coarse_space = true};

template <class Real>
class PcgPrecision : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(PcgPrecision, Precisions);

TYPED_TEST(PcgPrecision, ProductIsThatOfTheDenseMatrix) {
  using Real = TypeParam;
  for (const NamedSystem& s : systems(1e-4)) {
    const SymmetricRows rows = symmetric_rows(s.system.pattern);
    const std::vector<Real> values = narrowed<Real>(s.system.values);
    BlockSystem stored = s.system;
    stored.values.assign(values.begin(), values.end());
    const MatrixXd a = dense(stored);
    const std::vector<Real> x = narrowed<Real>(random_vector(a.rows(), 5));
    std::vector<Vec3<Real>> in, out(rows.size());
    for (Index i = 0; i < rows.size(); ++i) in.push_back({x[3 * i], x[3 * i + 1], x[3 * i + 2]});
    const SymmetricBlocksView<Real> matrix{
        .row_begin = rows.begin, .columns = rows.columns, .blocks = rows.blocks, .values = values};
    const StepKernels<Real>& kernels = step_kernels<Real>(*cpu_backend(widest_simd()));
    kernels.block_product({}, {.matrix = matrix, .x = in, .y = out});
    const VectorXd expected = a * widened(x), size = a.cwiseAbs() * widened(x).cwiseAbs();
    const double unit = row_length(s.system.pattern) * std::numeric_limits<Real>::epsilon();
    for (Index i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(out[i].x, expected[3 * i], unit * size[3 * i]) << s.name << " row " << i;
      EXPECT_NEAR(out[i].y, expected[3 * i + 1], unit * size[3 * i + 1]) << s.name << " row " << i;
      EXPECT_NEAR(out[i].z, expected[3 * i + 2], unit * size[3 * i + 2]) << s.name << " row " << i;
    }
    // The same among others, first and last in an array with gaps.
    Columns columns{.count = 11};
    std::vector<Vec3<Real>> many, products(static_cast<std::size_t>(11 * (rows.size() + 2)));
    for (Index k = 0; k < columns.count; ++k) {
      columns.begin[k] = k * (rows.size() + 2);
      many.insert(many.end(), in.begin(), in.end());
      many.resize(many.size() + 2);
      for (Index i = 0; k % 10 != 0 && i < rows.size(); ++i) many[columns.begin[k] + i].y = Real(k);
    }
    kernels.block_product({}, {.matrix = matrix, .x = many, .y = products, .columns = columns});
    for (const Index k : {0, 10})
      EXPECT_TRUE(std::equal(out.begin(), out.end(), products.begin() + columns.begin[k])) << s.name;
  }
}

/// Every preconditioner on every system: the residual is what was asked for, and the distance to the dense
/// solution what that residual allows.
TYPED_TEST(PcgPrecision, AgreesWithADirectSolve) {
  using Real = TypeParam;
  const bool single = sizeof(Real) == sizeof(float);
  const double rtol = single ? 1e-3 : 1e-8;
  for (const NamedSystem& s : systems(single ? 1e-2 : 1e-4)) {
    const std::vector<Real> values = narrowed<Real>(s.system.values);
    BlockSystem stored = s.system;
    stored.values.assign(values.begin(), values.end());
    const MatrixXd a = dense(stored);
    const std::vector<Real> b = narrowed<Real>(random_vector(a.rows(), 7));
    const VectorXd right_side = widened(b);
    VectorXd exact(a.rows()), eigenvalues(a.rows());
    if (a.rows() > 0) {  // the dense solvers do not take a matrix without rows
      exact = a.llt().solve(right_side);
      eigenvalues = Eigen::SelfAdjointEigenSolver<MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
    }
    for (const MultilevelOptions& options : {MultilevelOptions{}, small_cells, block_jacobi}) {
      PcgSolver<Real> solver(s.system.pattern,
                             {.rtol = rtol, .max_iterations = 5000, .preconditioner = options});
      ASSERT_TRUE(solver.factorize(values.data())) << s.name;
      std::vector<Real> x(b.size(), std::numeric_limits<Real>::quiet_NaN());
      solver.solve(b.data(), x.data(), 1);
      const PcgReport& report = solver.last_report();
      ASSERT_EQ(report.status, PcgStatus::converged)
          << s.name << ", " << solver.name() << ": " << report.residual << " after " << report.iterations;
      if (a.rows() == 0) continue;
      const VectorXd solution = widened(x);
      // The solver measures the residual in Real: each of its row sums is off by this much.
      const double rounding = row_length(s.system.pattern) * std::numeric_limits<Real>::epsilon() *
                              (a.cwiseAbs() * solution.cwiseAbs() + right_side.cwiseAbs()).norm();
      const double residual = (right_side - a * solution).norm();
      EXPECT_LE(residual, rtol * right_side.norm() + rounding) << s.name << ", " << solver.name();
      EXPECT_NEAR(residual, report.residual * right_side.norm(), rounding) << s.name;
      EXPECT_LE((solution - exact).norm(), 1.001 * residual / eigenvalues[0] +
                                               100 * std::numeric_limits<double>::epsilon() *
                                                   eigenvalues[a.rows() - 1] / eigenvalues[0] * exact.norm())
          << s.name << ", " << solver.name();
    }
  }
}

TYPED_TEST(PcgPrecision, SameBitsForAnyThreadsAndBlocks) {
  using Real = TypeParam;
  const BlockSystem system = sheet(65, 1e-4);  // past the least work for which a pool wakes its threads
  const std::vector<Real> values = narrowed<Real>(system.values);
  const std::vector<Real> b = narrowed<Real>(random_vector(3 * system.pattern.size, 1));
  const auto solved = [&](const Queue& queue, const MultilevelOptions& options, int iterations) {
    PcgSolver<Real> solver(system.pattern,
                           {.rtol = 1e-4, .max_iterations = iterations, .preconditioner = options}, queue);
    EXPECT_TRUE(solver.factorize(values.data()));
    std::vector<Real> x(b.size());
    solver.solve(b.data(), x.data(), 1);
    return x;
  };
  for (const MultilevelOptions& options : {MultilevelOptions{}, block_jacobi}) {
    const std::vector<Real> expected = solved({}, options, 40);
    for (const int threads : {2, 5}) {
      ThreadPool pool(threads);
      Queue queue;
      queue.pool = &pool;
      EXPECT_EQ(solved(queue, options, 40), expected) << threads << " threads";
    }
  }
}

TYPED_TEST(PcgPrecision, SameBitsForAnyBlock) {
  using Real = TypeParam;
  const BlockSystem system = sheet(11, 1e-4);
  const std::vector<Real> values = narrowed<Real>(system.values);
  const std::vector<Real> b = narrowed<Real>(random_vector(3 * system.pattern.size, 1));
  const auto solved = [&](int emulated_block) {
    Queue queue;
    queue.emulated_block = emulated_block;
    PcgSolver<Real> solver(system.pattern, {.rtol = 0, .max_iterations = 2, .preconditioner = small_cells},
                           queue);
    EXPECT_TRUE(solver.factorize(values.data()));
    std::vector<Real> x(b.size());
    solver.solve(b.data(), x.data(), 1);
    return x;
  };
  const std::vector<Real> expected = solved(0);
  for (const int size : {2, 7, 32}) EXPECT_EQ(solved(size), expected) << "blocks of " << size;
}

TYPED_TEST(PcgPrecision, SeveralRightSidesAreEachSolvedAlone) {
  using Real = TypeParam;
  const BlockSystem system = sheet(9, 1e-2);
  const std::vector<Real> values = narrowed<Real>(system.values);
  PcgSolver<Real> solver(system.pattern,
                         {.rtol = 1e-3, .max_iterations = 500, .preconditioner = small_cells});
  ASSERT_TRUE(solver.factorize(values.data()));
  const std::size_t size = 3 * static_cast<std::size_t>(system.pattern.size);
  std::vector<Real> together(3 * size);
  std::vector<std::vector<Real>> alone;
  for (unsigned k = 0; k < 3; ++k) {
    alone.push_back(narrowed<Real>(random_vector(static_cast<Eigen::Index>(size), k)));
    for (std::size_t i = 0; i < size; ++i) together[3 * i + k] = alone[k][i];
    solver.solve(alone[k].data(), alone[k].data(), 1);
  }
  solver.solve(together.data(), together.data(), 3);
  for (unsigned k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(together[3 * i + k], alone[k][i]);
}

TYPED_TEST(PcgPrecision, UnitsOfTheRightSideDoNotMatter) {
  using Real = TypeParam;
  const BlockSystem system = sheet(9, 1e-2);
  const std::vector<Real> values = narrowed<Real>(system.values);
  PcgSolver<Real> solver(system.pattern,
                         {.rtol = 1e-3, .max_iterations = 500, .preconditioner = small_cells});
  ASSERT_TRUE(solver.factorize(values.data()));
  const std::vector<Real> b = narrowed<Real>(random_vector(3 * system.pattern.size, 1));
  std::vector<Real> x(b.size()), tiny = b;
  solver.solve(b.data(), x.data(), 1);
  const Real factor = std::ldexp(Real(1), -60);  // a power of two: exact
  for (Real& v : tiny) v *= factor;
  solver.solve(tiny.data(), tiny.data(), 1);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(tiny[i], x[i] * factor);
}

/// D A D x = D A y with x = D^-1 y: of a right side that does not fit the scales rounding alone would leave
/// more.
TEST(PcgSolver, RowsScaledOverTwelveOrdersAreSolved) {
  BlockSystem system = sheet(13, 1e-4);
  const VectorXd y = random_vector(3 * system.pattern.size, 1);
  const VectorXd scales = (std::log(10) * 6 * random_vector(y.size(), 9)).array().exp();
  const VectorXd b = scales.cwiseProduct(dense(system) * y);
  for (std::size_t k = 0; k < system.values.size(); ++k) {
    const Index row = system.pattern.rows[k / 9], column = system.pattern.columns[k / 9];
    system.values[k] *=
        scales[row * 3 + static_cast<Index>(k % 9 / 3)] * scales[column * 3 + static_cast<Index>(k % 3)];
  }
  PcgSolver<double> solver(system.pattern, {.rtol = 1e-8, .max_iterations = 200, .preconditioner = {}});
  ASSERT_TRUE(solver.factorize(system.values.data()));
  VectorXd x = b;
  solver.solve(x.data(), x.data(), 1);
  EXPECT_EQ(solver.last_report().status, PcgStatus::converged) << solver.last_report().residual;
  EXPECT_LE((b - dense(system) * x).norm(), 1.001e-8 * b.norm());
}

/// Measured: block-Jacobi 291 iterations, 4 cells without overlap 58, with overlap 40. Asked for: a fifth.
TEST(PcgSolver, SchwarzNeedsAFractionOfTheIterationsOfBlockJacobi) {
  const BlockSystem system = sheet(33, 1e-4);
  const VectorXd b = random_vector(3 * system.pattern.size, 1);
  const auto iterations = [&](const MultilevelOptions& options) {
    PcgSolver<double> solver(system.pattern,
                             {.rtol = 1e-6, .max_iterations = 5000, .preconditioner = options});
    EXPECT_TRUE(solver.factorize(system.values.data()));
    VectorXd x = b;
    solver.solve(x.data(), x.data(), 1);
    EXPECT_EQ(solver.last_report().status, PcgStatus::converged);
    return solver.last_report().iterations;
  };
  const int jacobi = iterations(block_jacobi), schwarz = iterations({}),
            no_overlap = iterations({.cell_size = 256, .overlap = 0, .coarse_space = true});
  RecordProperty("block_jacobi", jacobi);
  RecordProperty("schwarz", schwarz);
  RecordProperty("no_overlap", no_overlap);
  EXPECT_LT(5 * schwarz, jacobi);
  EXPECT_LT(schwarz, no_overlap);
  EXPECT_LT(no_overlap, jacobi);
}

TEST(PcgSolver, TruncationReturnsWhatWasReached) {
  const BlockSystem system = sheet(17, 1e-4);
  const MatrixXd a = dense(system);
  const VectorXd b = random_vector(a.rows(), 1), exact = a.llt().solve(b);
  PcgSolver<double> solver(system.pattern,
                           {.rtol = 1e-12, .max_iterations = 0, .preconditioner = small_cells});
  ASSERT_TRUE(solver.factorize(system.values.data()));
  double before = std::sqrt(exact.dot(a * exact));
  for (const int cap : {1, 3, 10}) {
    solver.set_limits(1e-12, cap);
    VectorXd x(b.size());
    solver.solve(b.data(), x.data(), 1);
    EXPECT_EQ(solver.last_report().status, PcgStatus::truncated);
    EXPECT_EQ(solver.last_report().iterations, cap);
    EXPECT_NEAR(solver.last_report().residual, (b - a * x).norm() / b.norm(), 1e-12);
    const double error = std::sqrt((x - exact).dot(a * (x - exact)));
    EXPECT_LT(error, before) << "the energy norm of the error falls in every iteration";
    before = error;
  }
}

TEST(PcgSolver, StagnationIsSaid) {
  const BlockSystem system = sheet(9, 1e-4);
  PcgSolver<float> solver(system.pattern, {.rtol = 1e-12, .max_iterations = 5000, .preconditioner = {}});
  ASSERT_TRUE(solver.factorize(narrowed<float>(system.values).data()));
  const std::vector<float> b = narrowed<float>(random_vector(3 * system.pattern.size, 1));
  std::vector<float> x(b.size());
  solver.solve(b.data(), x.data(), 1);
  EXPECT_EQ(solver.last_report().status, PcgStatus::stagnated) << solver.last_report().residual;
  for (const float v : x) ASSERT_TRUE(std::isfinite(v));
}

TEST(PcgSolver, IndefiniteMatricesAreReportedWithTheirBlockRow) {
  const BlockSystem good = sheet(13, 1e-4);
  PcgSolver<double> solver(good.pattern,
                           {.rtol = 1e-6, .max_iterations = 500, .preconditioner = small_cells});
  const auto diagonal = [&](Index row) {
    for (std::size_t b = 0; b < good.pattern.rows.size(); ++b)
      if (good.pattern.rows[b] == row && good.pattern.columns[b] == row) return 9 * b;
    return std::size_t{0};
  };
  VectorXd x = random_vector(3 * good.pattern.size, 1);
  for (const Index row : {0, 77, good.pattern.size - 1})
    for (const double planted :
         {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      BlockSystem bad = good;
      bad.values[diagonal(row) + 4] = planted;
      const Factorization f = solver.factorize(bad.values.data());
      EXPECT_FALSE(f.ok);
      EXPECT_EQ(f.block_row, row) << planted;
      EXPECT_THROW(solver.solve(x.data(), x.data(), 1), NumericalError);
    }
  // Positive diagonal, but the block of one node alone is indefinite: the subdomain sees it there or, when
  // elimination meets it earlier, at a neighbour within its overlap.
  BlockSystem bad = good;
  double* block = bad.values.data() + diagonal(40);
  block[3] = block[1] = 3 * std::sqrt(block[0] * block[4]);
  const Factorization f = solver.factorize(bad.values.data());
  EXPECT_FALSE(f.ok);
  EXPECT_GE(f.block_row, 0);
  // A NaN off the diagonal.
  bad = good;
  for (std::size_t b = 0; b < bad.pattern.rows.size(); ++b)
    if (bad.pattern.rows[b] != bad.pattern.columns[b]) {
      bad.values[9 * b + 2] = std::numeric_limits<double>::quiet_NaN();
      break;
    }
  EXPECT_FALSE(solver.factorize(bad.values.data()).ok);
  EXPECT_TRUE(solver.factorize(good.values.data()).ok);
}

/// One eigenvalue is just below zero, too little for the blocks of single nodes to see: x^T A x = b^T x < 0
/// for the solution along its vector, so some direction must show negative curvature.
TEST(PcgSolver, SlightlyIndefiniteMatricesAreSeenWhileSolving) {
  BlockSystem system = sheet(9, 1e-4);
  const MatrixXd a = dense(system);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(a);
  const double least = spectrum.eigenvalues()[0];
  double next = spectrum.eigenvalues()[1];
  for (Index i = 0; i < a.rows(); i += 3)
    next = std::min(next, Eigen::SelfAdjointEigenSolver<MatrixXd>(a.block(i, i, 3, 3)).eigenvalues()[0]);
  ASSERT_GT(next, 1.001 * least) << "a node alone is all of the eigenvector";
  for (std::size_t b = 0; b < system.pattern.rows.size(); ++b)
    if (system.pattern.rows[b] == system.pattern.columns[b])
      for (int k = 0; k < 3; ++k) system.values[9 * b + 4 * k] -= 0.5 * (least + next);
  PcgSolver<double> solver(system.pattern,
                           {.rtol = 1e-6, .max_iterations = 500, .preconditioner = block_jacobi});
  ASSERT_TRUE(solver.factorize(system.values.data()));
  VectorXd x = spectrum.eigenvectors().col(0);
  solver.solve(x.data(), x.data(), 1);
  EXPECT_EQ(solver.last_report().status, PcgStatus::indefinite);
  EXPECT_TRUE(x.allFinite());
}

/// A residual of zero cannot be asked for in general, and is no sign of an indefinite matrix.
TYPED_TEST(PcgPrecision, AToleranceOfZeroEndsWhereRoundingDoes) {
  using Real = TypeParam;
  const BlockPattern two{.size = 2, .block = 3, .rows = {0, 1, 1}, .columns = {0, 0, 1}};
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const BlockSystem system = rounded<Real>(dominant_system(two, seed));
    const MatrixXd a = dense(system);
    const VectorXd spectrum = Eigen::SelfAdjointEigenSolver<MatrixXd>(a).eigenvalues();
    for (const MultilevelOptions& options : {MultilevelOptions{}, block_jacobi}) {
      PcgSolver<Real> solver(two, {.rtol = 0, .max_iterations = 5000, .preconditioner = options});
      ASSERT_TRUE(solver.factorize(narrowed<Real>(system.values).data()));
      const std::vector<Real> b = narrowed<Real>(random_vector(6, seed));
      std::vector<Real> x(b.size());
      solver.solve(b.data(), x.data(), 1);
      const PcgReport& report = solver.last_report();
      const double residual = (widened(b) - a * widened(x)).norm() / widened(b).norm();
      EXPECT_EQ(report.status, report.residual == 0 ? PcgStatus::converged : PcgStatus::stagnated);
      // Both x as stored and the residual as computed are off by a few roundings of |A| |x| each.
      EXPECT_LE(residual,
                10 * row_length(two) * std::numeric_limits<Real>::epsilon() * spectrum[5] / spectrum[0])
          << "seed " << seed << ": " << to_string(report.status) << " after " << report.iterations;
    }
  }
}

TEST(PcgSolver, RightSidesWithoutASolutionToSeekAreSaid) {
  const BlockSystem system = sheet(9, 1e-4);
  PcgSolver<double> solver(system.pattern);
  VectorXd x = VectorXd::Zero(3 * system.pattern.size);
  EXPECT_THROW(solver.solve(x.data(), x.data(), 1), NumericalError) << "before the first factorize()";
  ASSERT_TRUE(solver.factorize(system.values.data()));
  solver.solve(x.data(), x.data(), 1);
  EXPECT_EQ(solver.last_report().status, PcgStatus::converged);
  EXPECT_EQ(solver.last_report().iterations, 0);
  EXPECT_EQ(x, VectorXd::Zero(3 * system.pattern.size));
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    x[4] = value;
    solver.solve(x.data(), x.data(), 1);
    EXPECT_EQ(solver.last_report().status, PcgStatus::non_finite);
    EXPECT_EQ(x, VectorXd::Zero(3 * system.pattern.size));
  }
}

}  // namespace
}  // namespace isocloth

// The engine's matrices in the formats of libraries: entry for entry, and as Eigen multiplies and solves with
// them.
#include "bench/sparse_formats.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <limits>

#include "tests/linear/systems.hpp"

namespace isocloth::bench {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr double eps = std::numeric_limits<double>::epsilon();

Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, Index>> as_sparse(const BlockRows& scalars) {
  return {scalars.size,         scalars.size,           static_cast<Eigen::Index>(scalars.values.size()),
          scalars.begin.data(), scalars.columns.data(), scalars.values.data()};
}

/// Row by row, as a library does with BSR.
Eigen::VectorXd product(const BlockRows& matrix, const Eigen::VectorXd& x) {
  const int n = matrix.block;
  Eigen::VectorXd y = Eigen::VectorXd::Zero(x.size());
  for (Index row = 0; row < matrix.size; ++row)
    for (Index entry = matrix.begin[row]; entry < matrix.begin[row + 1]; ++entry)
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c)
          y[n * row + r] += matrix.values[static_cast<std::size_t>((entry * n + r) * n + c)] *
                            x[n * matrix.columns[static_cast<std::size_t>(entry)] + c];
  return y;
}

/// Sums of n products in two orders differ by less than 2 n eps times the sum of magnitudes.
void expect_near(const Eigen::VectorXd& y, const Eigen::VectorXd& expected, const Eigen::MatrixXd& a,
                 const Eigen::VectorXd& x) {
  const Eigen::VectorXd magnitudes = a.cwiseAbs() * x.cwiseAbs();
  for (Eigen::Index i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], expected[i], 2 * static_cast<double>(x.size()) * eps * magnitudes[i]) << i;
}

TEST(SparseFormats, HaveTheEntriesOfTheMatrix) {
  for (const auto& [name, pattern] : all_patterns()) {
    SCOPED_TRACE(name);
    const BlockSystem system = dominant_system(pattern, 7);
    const BlockRows blocks = block_rows(system.pattern, system.values), scalars = scalar_rows(blocks);
    const Eigen::MatrixXd expected = dense(system);
    EXPECT_EQ(blocks.begin.back(), 2 * static_cast<Index>(pattern.rows.size()) - pattern.size);
    EXPECT_EQ(scalars.size, pattern.block * pattern.size);
    const std::vector<double> all = dense_matrix(blocks);
    EXPECT_EQ(Eigen::Map<const RowMatrix>(all.data(), expected.rows(), expected.cols()), expected);
    EXPECT_EQ(Eigen::MatrixXd(as_sparse(scalars)), expected);
    for (const BlockRows* matrix : {&blocks, &scalars})
      for (Index row = 0; row < matrix->size; ++row)
        for (Index entry = matrix->begin[row] + 1; entry < matrix->begin[row + 1]; ++entry)
          EXPECT_LT(matrix->columns[entry - 1], matrix->columns[entry]);
  }
}

TEST(SparseFormats, MultiplyAndSolveAsTheMatrixDoes) {
  for (const auto& [name, garment] : all_garments()) {
    SCOPED_TRACE(name);
    const BlockSystem system = nodal_system(garment, 1e-4, 1e-3);
    const BlockRows blocks = block_rows(system.pattern, system.values), scalars = scalar_rows(blocks);
    const Eigen::MatrixXd a = dense(system);
    const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(a.rows(), -1, 2), expected = a * x;
    expect_near(product(blocks, x), expected, a, x);
    expect_near(as_sparse(scalars) * x, expected, a, x);

    const Eigen::SparseMatrix<double> columns = as_sparse(scalars);
    const Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> sparse(columns);
    const Eigen::LLT<Eigen::MatrixXd> whole(a);
    ASSERT_EQ(sparse.info(), Eigen::Success);
    ASSERT_EQ(whole.info(), Eigen::Success);
    // Cholesky is backward stable (Higham 2002, theorem 10.4): (A + E) x = b with |E| <= 4 n^2 eps |A|,
    // loosely.
    const double norm = a.cwiseAbs().rowwise().sum().maxCoeff(), n = static_cast<double>(a.rows());
    for (const Eigen::VectorXd& solution :
         {Eigen::VectorXd(sparse.solve(expected)), Eigen::VectorXd(whole.solve(expected))})
      EXPECT_LE((a * solution - expected).cwiseAbs().maxCoeff(),
                4 * n * n * eps * norm * solution.cwiseAbs().maxCoeff());
  }
}

}  // namespace
}  // namespace isocloth::bench

#include "host/linear/linear_solver.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>

namespace isocloth {
namespace {

/// Eigen's simplicial Cholesky on the scalar matrix, in the minimum-degree order of the blocks.
template <class Real>
class SimplicialSolver final : public LinearSolver<Real> {
  using Matrix = Eigen::SparseMatrix<Real, Eigen::ColMajor, Index>;
  using Dense = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  /// Knows the size of its factor as soon as the pattern is analysed.
  struct Cholesky : Eigen::SimplicialLLT<Matrix, Eigen::Lower, Eigen::NaturalOrdering<Index>> {
    Eigen::Index factor_size() const { return this->m_matrix.nonZeros(); }
  };

 public:
  explicit SimplicialSolver(const BlockPattern& pattern) : pattern_(pattern), position_(order(pattern)) {
    const int n = pattern.block;
    std::vector<Eigen::Triplet<Real, Index>> triplets;
    for (std::size_t b = 0; b < pattern.rows.size(); ++b)
      for_each_scalar(b, [&](Index row, Index column, int) { triplets.emplace_back(row, column, Real(1)); });
    matrix_.resize(pattern.size * n, pattern.size * n);
    matrix_.setFromTriplets(triplets.begin(), triplets.end());
    for (std::size_t b = 0; b < pattern.rows.size(); ++b)
      for_each_scalar(b, [&](Index row, Index column, int source) {
        const Index* begin = matrix_.innerIndexPtr() + matrix_.outerIndexPtr()[column];
        const Index* end = matrix_.innerIndexPtr() + matrix_.outerIndexPtr()[column + 1];
        target_.push_back(static_cast<Index>(std::lower_bound(begin, end, row) - matrix_.innerIndexPtr()));
        source_.push_back(static_cast<Index>(b) * n * n + source);
      });
    cholesky_.analyzePattern(matrix_);
  }

  Factorization factorize(const Real* values) override {
    Real* entries = matrix_.valuePtr();
    for (std::size_t i = 0; i < target_.size(); ++i) entries[target_[i]] = values[source_[i]];
    cholesky_.factorize(matrix_);
    return {.ok = cholesky_.info() == Eigen::Success, .block_row = -1};
  }

  void solve(const Real* right_side, Real* solution, int count) override {
    const int n = pattern_.block;
    work_.resize(pattern_.size * n, count);
    for (Index i = 0; i < pattern_.size; ++i)
      for (int k = 0; k < n * count; ++k)
        work_.data()[position_[i] * n * count + k] = right_side[i * n * count + k];
    const Dense x = cholesky_.solve(work_);
    for (Index i = 0; i < pattern_.size; ++i)
      for (int k = 0; k < n * count; ++k)
        solution[i * n * count + k] = x.data()[position_[i] * n * count + k];
  }

  std::string_view name() const override { return "simplicial Cholesky"; }

  std::size_t memory_bytes() const override {
    return static_cast<std::size_t>(cholesky_.factor_size() + matrix_.nonZeros()) *
               (sizeof(Real) + sizeof(Index)) +
           (target_.size() + source_.size()) * sizeof(Index);
  }

 private:
  static std::vector<Index> order(const BlockPattern& pattern) {
    std::vector<Eigen::Triplet<Real, Index>> triplets;
    for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
      triplets.emplace_back(pattern.rows[b], pattern.columns[b], Real(1));
      if (pattern.rows[b] != pattern.columns[b])
        triplets.emplace_back(pattern.columns[b], pattern.rows[b], Real(1));
    }
    Matrix graph(pattern.size, pattern.size);
    graph.setFromTriplets(triplets.begin(), triplets.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index> permutation;
    Eigen::AMDOrdering<Index>()(graph, permutation);
    std::vector<Index> position(pattern.size);
    for (Index k = 0; k < pattern.size; ++k) position[permutation.indices()[k]] = k;
    return position;
  }

  /// Calls visit(row, column, place within the block) for every scalar of a block that lands in the lower
  /// triangle.
  template <class Visit>
  void for_each_scalar(std::size_t b, const Visit& visit) const {
    const int n = pattern_.block;
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const Index i = position_[pattern_.rows[b]] * n + r, j = position_[pattern_.columns[b]] * n + c;
        if (pattern_.rows[b] == pattern_.columns[b] && i < j) continue;
        visit(std::max(i, j), std::min(i, j), r * n + c);
      }
  }

  BlockPattern pattern_;
  std::vector<Index> position_;
  std::vector<Index> source_, target_;
  Matrix matrix_;
  Dense work_;
  Cholesky cholesky_;
};

}  // namespace

template <class Real>
std::unique_ptr<LinearSolver<Real>> make_direct_solver(const BlockPattern& pattern, ThreadPool*) {
  return std::make_unique<SimplicialSolver<Real>>(pattern);
}

template std::unique_ptr<LinearSolver<float>> make_direct_solver(const BlockPattern&, ThreadPool*);
template std::unique_ptr<LinearSolver<double>> make_direct_solver(const BlockPattern&, ThreadPool*);

}  // namespace isocloth

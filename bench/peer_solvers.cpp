// Sparse Cholesky of Eigen, and of CHOLMOD where this program is built with it.
#include <Eigen/SparseCholesky>

#include "bench/factor_solvers.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#if defined(ISOCLOTH_BENCH_CHOLMOD)
#include <cholmod.h>
#include <omp.h>
extern "C" void openblas_set_num_threads(int);
extern "C" char* openblas_get_config(void);
#endif

namespace isocloth::bench {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;

/// Lower triangle, scalar by scalar.
SparseMatrix lower_triangle(const NodalSystem& system) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t k = 0; k < system.pattern.rows.size(); ++k)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        const Index i = 3 * system.pattern.rows[k] + r, j = 3 * system.pattern.columns[k] + c;
        if (i >= j) entries.emplace_back(i, j, system.values[9 * k + 3 * r + c]);
      }
  const auto n = static_cast<Eigen::Index>(system.unknowns());
  SparseMatrix matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

template <class Solver>
class EigenSolver final : public FactorSolver {
 public:
  EigenSolver(const NodalSystem& system, Peer peer)
      : peer_(peer),
        matrix_(lower_triangle(system)),
        right_side_(Eigen::Map<const Eigen::VectorXd>(system.right_side.data(), matrix_.rows())) {}

  std::string name() const override { return peer_name(peer_); }
  void analyze() override { solver_.analyzePattern(matrix_); }
  bool factorize() override {
    solver_.factorize(matrix_);
    return solver_.info() == Eigen::Success;
  }
  void solve() override { solution_ = solver_.solve(right_side_); }
  std::vector<double> solution() const override { return {solution_.begin(), solution_.end()}; }
  double nonzeros() const override {
    const auto factor = solver_.matrixL();
    // L D L^T keeps its unit diagonal out of L.
    return static_cast<double>(factor.nestedExpression().nonZeros()) +
           (peer_ == Peer::eigen_ldlt ? static_cast<double>(matrix_.rows()) : 0.0);
  }
  double flops() const override {
    const auto factor = solver_.matrixL();
    const auto* begin = factor.nestedExpression().outerIndexPtr();
    const double diagonal = peer_ == Peer::eigen_ldlt ? 1 : 0;
    double sum = 0;
    for (Eigen::Index j = 0; j < matrix_.cols(); ++j) {
      const double length = begin[j + 1] - begin[j] + diagonal;
      sum += length * length;
    }
    return sum;
  }
  std::size_t memory_bytes() const override {
    return static_cast<std::size_t>(nonzeros()) * (sizeof(double) + sizeof(int));
  }

 private:
  Peer peer_;
  SparseMatrix matrix_;
  Eigen::VectorXd right_side_, solution_;
  Solver solver_;
};

#if defined(ISOCLOTH_BENCH_CHOLMOD)
class CholmodSolver final : public FactorSolver {
 public:
  CholmodSolver(const NodalSystem& system, int threads)
      : threads_(threads), matrix_(lower_triangle(system)), values_(system.right_side) {
    // CHOLMOD asks for four OpenMP threads whatever the machine and is many times slower for it.
    omp_set_max_active_levels(0);
    cholmod_start(&common_);
    common_.supernodal = CHOLMOD_SUPERNODAL;
    const auto n = static_cast<std::size_t>(matrix_.rows());
    view_.nrow = view_.ncol = n;
    view_.nzmax = static_cast<std::size_t>(matrix_.nonZeros());
    view_.p = matrix_.outerIndexPtr();
    view_.i = matrix_.innerIndexPtr();
    view_.x = matrix_.valuePtr();
    view_.stype = -1;
    view_.itype = CHOLMOD_INT;
    view_.xtype = CHOLMOD_REAL;
    view_.dtype = CHOLMOD_DOUBLE;
    view_.sorted = view_.packed = 1;
    right_side_.nrow = right_side_.nzmax = right_side_.d = n;
    right_side_.ncol = 1;
    right_side_.x = values_.data();
    right_side_.xtype = CHOLMOD_REAL;
    right_side_.dtype = CHOLMOD_DOUBLE;
  }
  ~CholmodSolver() override {
    cholmod_free_dense(&solution_, &common_);
    cholmod_free_dense(&work_, &common_);
    cholmod_free_dense(&more_work_, &common_);
    cholmod_free_factor(&factor_, &common_);
    cholmod_finish(&common_);
  }
  CholmodSolver(const CholmodSolver&) = delete;
  CholmodSolver& operator=(const CholmodSolver&) = delete;

  std::string name() const override { return peer_name(Peer::cholmod); }
  void analyze() override {
    openblas_set_num_threads(threads_);
    factor_ = cholmod_analyze(&view_, &common_);
  }
  bool factorize() override {
    openblas_set_num_threads(threads_);
    return cholmod_factorize(&view_, factor_, &common_) != 0 && common_.status == CHOLMOD_OK;
  }
  void solve() override {
    openblas_set_num_threads(threads_);
    cholmod_solve2(CHOLMOD_A, factor_, &right_side_, nullptr, &solution_, nullptr, &work_, &more_work_,
                   &common_);
  }
  std::vector<double> solution() const override {
    const double* x = static_cast<const double*>(solution_->x);
    return {x, x + solution_->nrow};
  }
  double nonzeros() const override { return common_.lnz; }
  double flops() const override { return common_.fl; }
  std::size_t memory_bytes() const override { return common_.memory_inuse; }

 private:
  int threads_;
  SparseMatrix matrix_;
  std::vector<double> values_;
  cholmod_common common_{};
  cholmod_sparse view_{};
  cholmod_dense right_side_{};
  cholmod_factor* factor_ = nullptr;
  cholmod_dense *solution_ = nullptr, *work_ = nullptr, *more_work_ = nullptr;
};
#endif

}  // namespace

std::string peer_name(Peer peer) {
  const std::string eigen =
      text("Eigen ", EIGEN_WORLD_VERSION, '.', EIGEN_MAJOR_VERSION, '.', EIGEN_MINOR_VERSION);
  switch (peer) {
    case Peer::eigen_llt:
      return eigen + " SimplicialLLT";
    case Peer::eigen_ldlt:
      return eigen + " SimplicialLDLT";
    case Peer::cholmod:
      break;
  }
#if defined(ISOCLOTH_BENCH_CHOLMOD)
  const std::string blas = openblas_get_config();
  return text("CHOLMOD ", CHOLMOD_MAIN_VERSION, '.', CHOLMOD_SUB_VERSION, '.', CHOLMOD_SUBSUB_VERSION,
              " supernodal, ", blas.substr(0, blas.find(' ', blas.find(' ') + 1)));
#else
  return "CHOLMOD supernodal";
#endif
}

bool has_peer([[maybe_unused]] Peer peer) {
#if defined(ISOCLOTH_BENCH_CHOLMOD)
  return true;
#else
  return peer != Peer::cholmod;
#endif
}

std::unique_ptr<FactorSolver> peer_solver(Peer peer, const NodalSystem& system,
                                          [[maybe_unused]] int threads) {
  switch (peer) {
    case Peer::eigen_llt:
      return std::make_unique<EigenSolver<Eigen::SimplicialLLT<SparseMatrix, Eigen::Lower>>>(system, peer);
    case Peer::eigen_ldlt:
      return std::make_unique<EigenSolver<Eigen::SimplicialLDLT<SparseMatrix, Eigen::Lower>>>(system, peer);
    case Peer::cholmod:
      break;
  }
#if defined(ISOCLOTH_BENCH_CHOLMOD)
  return std::make_unique<CholmodSolver>(system, threads);
#else
  return nullptr;
#endif
}

}  // namespace isocloth::bench

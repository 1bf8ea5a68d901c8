#include "bench/factor_solvers.hpp"

#include <type_traits>

#include "host/linear/mixed_solver.hpp"
#include "host/linear/multifrontal_solver.hpp"

namespace isocloth::bench {
namespace {

template <class Solver, class Real>
class OwnSolver final : public FactorSolver {
 public:
  OwnSolver(const NodalSystem& system, ThreadPool* pool)
      : system_(system),
        pool_(pool),
        values_(system.values.begin(), system.values.end()),
        right_side_(system.right_side.begin(), system.right_side.end()),
        solution_(system.unknowns()) {}

  std::string name() const override {
    return solver_ ? std::string(solver_->name()) : "multifrontal Cholesky";
  }
  std::string precision() const override {
    if (is_mixed) return "float32, refined";
    return sizeof(Real) == sizeof(float) ? "float32" : "float64";
  }
  void analyze() override { solver_ = std::make_unique<Solver>(system_.pattern, pool_); }
  bool factorize() override { return solver_->factorize(values_.data()).ok; }
  void solve() override { solver_->solve(right_side_.data(), solution_.data(), 1); }
  std::vector<double> solution() const override { return {solution_.begin(), solution_.end()}; }
  double nonzeros() const override { return solver_->factor_nonzeros(); }
  double flops() const override { return solver_->factor_flops(); }
  std::size_t memory_bytes() const override { return solver_->memory_bytes(); }
  std::size_t scalar_bytes() const override { return is_mixed ? sizeof(float) : sizeof(Real); }
  std::string note() const override {
    if constexpr (is_mixed) {
      const Refinement& last = solver_->last_refinement();
      return std::to_string(last.iterations) +
             (last.fell_back ? " refinements, then a double factor" : " refinements");
    }
    return {};
  }

 private:
  static constexpr bool is_mixed = std::is_same_v<Solver, MixedSolver>;
  const NodalSystem& system_;
  ThreadPool* pool_;
  std::vector<Real> values_, right_side_, solution_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace

std::vector<std::unique_ptr<FactorSolver>> own_solvers(const NodalSystem& system, ThreadPool* pool) {
  std::vector<std::unique_ptr<FactorSolver>> solvers;
  solvers.push_back(std::make_unique<OwnSolver<MultifrontalSolver<double>, double>>(system, pool));
  solvers.push_back(std::make_unique<OwnSolver<MultifrontalSolver<float>, float>>(system, pool));
  solvers.push_back(std::make_unique<OwnSolver<MixedSolver, double>>(system, pool));
  return solvers;
}

}  // namespace isocloth::bench

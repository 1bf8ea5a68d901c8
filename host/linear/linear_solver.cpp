#include "host/linear/linear_solver.hpp"

#include "host/linear/multifrontal_solver.hpp"

namespace isocloth {

template <class Real>
std::unique_ptr<LinearSolver<Real>> make_direct_solver(const BlockPattern& pattern, ThreadPool* pool) {
  return std::make_unique<MultifrontalSolver<Real>>(pattern, pool);
}

template std::unique_ptr<LinearSolver<float>> make_direct_solver(const BlockPattern&, ThreadPool*);
template std::unique_ptr<LinearSolver<double>> make_direct_solver(const BlockPattern&, ThreadPool*);

}  // namespace isocloth

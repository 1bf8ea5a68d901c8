// Sparse Cholesky factorisations by cuSOLVER. Its sparse half has been announced to go, in favour of cuDSS,
// which is no part of the CUDA Toolkit: measured here, not to be built upon. The calls that csrlsvchol is
// made of are used, as an engine would, so that the pattern is analysed once and not at every solve.
#define DISABLE_CUSOLVER_DEPRECATED
#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include "bench/cuda/device_array.cuh"
#include "bench/cuda/tasks.hpp"

namespace isocloth::bench {
namespace {

/// What the calls have in common.
struct Cholesky {
  cusolverSpHandle_t handle = nullptr;
  cusparseMatDescr_t type = nullptr;
  csrcholInfo_t info = nullptr;
  int size = 0, nonzeros = 0;
  const int *begin = nullptr, *columns = nullptr;
};

// One name for both precisions.
cusolverStatus_t work_size(const Cholesky& c, const float* values, std::size_t* inside, std::size_t* work) {
  return cusolverSpScsrcholBufferInfo(c.handle, c.size, c.nonzeros, c.type, values, c.begin, c.columns,
                                      c.info, inside, work);
}
cusolverStatus_t work_size(const Cholesky& c, const double* values, std::size_t* inside, std::size_t* work) {
  return cusolverSpDcsrcholBufferInfo(c.handle, c.size, c.nonzeros, c.type, values, c.begin, c.columns,
                                      c.info, inside, work);
}
cusolverStatus_t factor(const Cholesky& c, const float* values, void* work) {
  return cusolverSpScsrcholFactor(c.handle, c.size, c.nonzeros, c.type, values, c.begin, c.columns, c.info,
                                  work);
}
cusolverStatus_t factor(const Cholesky& c, const double* values, void* work) {
  return cusolverSpDcsrcholFactor(c.handle, c.size, c.nonzeros, c.type, values, c.begin, c.columns, c.info,
                                  work);
}
cusolverStatus_t find_bad_pivot(const Cholesky& c, float least, int* place) {
  return cusolverSpScsrcholZeroPivot(c.handle, c.info, least, place);
}
cusolverStatus_t find_bad_pivot(const Cholesky& c, double least, int* place) {
  return cusolverSpDcsrcholZeroPivot(c.handle, c.info, least, place);
}
cusolverStatus_t solve_with(const Cholesky& c, const float* b, float* x, void* work) {
  return cusolverSpScsrcholSolve(c.handle, c.size, b, x, c.info, work);
}
cusolverStatus_t solve_with(const Cholesky& c, const double* b, double* x, void* work) {
  return cusolverSpDcsrcholSolve(c.handle, c.size, b, x, c.info, work);
}

template <class Real>
class SparseCholesky final : public FactorTask {
 public:
  SparseCholesky(const Queue& queue, const SparseSystem<Real>& system) : system_(system) {
    const BlockRowsView<Real>& a = system.scalars;
    check(cusolverSpCreate(&with_.handle));
    check(cusolverSpSetStream(with_.handle, stream_of(queue)));
    check(cusparseCreateMatDescr(&with_.type));
    check(cusolverSpCreateCsrcholInfo(&with_.info));
    with_.size = a.size;
    with_.nonzeros = static_cast<int>(a.columns.size());
    with_.begin = a.begin.data();
    with_.columns = a.columns.data();
    check(cusolverSpXcsrcholAnalysis(with_.handle, with_.size, with_.nonzeros, with_.type, with_.begin,
                                     with_.columns, with_.info));
    std::size_t inside = 0, work = 0;
    check(work_size(with_, a.values.data(), &inside, &work));
    work_ = DeviceArray<char>(work);
  }
  ~SparseCholesky() override {
    cusolverSpDestroyCsrcholInfo(with_.info);
    cusparseDestroyMatDescr(with_.type);
    cusolverSpDestroy(with_.handle);
  }
  std::string name() const override { return "cuSOLVER csrchol"; }
  // The engine asks after every factorisation whether it worked, too.
  void factorize() override {
    check(factor(with_, system_.scalars.values.data(), work_.data()));
    check(find_bad_pivot(with_, Real(0), &bad_pivot_));
  }
  void solve() override {
    check(solve_with(with_, system_.right_side.data(), system_.solution.data(), work_.data()));
  }
  bool succeeded() override { return bad_pivot_ < 0; }

 private:
  SparseSystem<Real> system_;
  Cholesky with_;
  DeviceArray<char> work_;
  int bad_pivot_ = -1;
};

template <class Real>
TaskMakers<FactorTask> all_factors(const Queue& queue, const SparseSystem<Real>& system) {
  return {[=] { return std::make_unique<SparseCholesky<Real>>(queue, system); }};
}

}  // namespace

TaskMakers<FactorTask> cusolver_sparse_factors(const Queue& queue, const SparseSystem<float>& system) {
  return all_factors(queue, system);
}
TaskMakers<FactorTask> cusolver_sparse_factors(const Queue& queue, const SparseSystem<double>& system) {
  return all_factors(queue, system);
}

}  // namespace isocloth::bench

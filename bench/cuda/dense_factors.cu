// Dense Cholesky factorisations, one and many at once, by cuSOLVER.
#include "bench/cuda/device_array.cuh"
#include "bench/cuda/tasks.hpp"

namespace isocloth::bench {
namespace {

constexpr cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;

// One name for both precisions.
cusolverStatus_t work_size(cusolverDnHandle_t handle, int n, float* a, int* size) {
  return cusolverDnSpotrf_bufferSize(handle, lower, n, a, n, size);
}
cusolverStatus_t work_size(cusolverDnHandle_t handle, int n, double* a, int* size) {
  return cusolverDnDpotrf_bufferSize(handle, lower, n, a, n, size);
}
cusolverStatus_t factor(cusolverDnHandle_t handle, int n, float* a, float* work, int size, int* info) {
  return cusolverDnSpotrf(handle, lower, n, a, n, work, size, info);
}
cusolverStatus_t factor(cusolverDnHandle_t handle, int n, double* a, double* work, int size, int* info) {
  return cusolverDnDpotrf(handle, lower, n, a, n, work, size, info);
}
cusolverStatus_t solve_one(cusolverDnHandle_t handle, int n, const float* a, float* b, int* info) {
  return cusolverDnSpotrs(handle, lower, n, 1, a, n, b, n, info);
}
cusolverStatus_t solve_one(cusolverDnHandle_t handle, int n, const double* a, double* b, int* info) {
  return cusolverDnDpotrs(handle, lower, n, 1, a, n, b, n, info);
}
cusolverStatus_t factor_all(cusolverDnHandle_t handle, int n, float** a, int* info, int count) {
  return cusolverDnSpotrfBatched(handle, lower, n, a, n, info, count);
}
cusolverStatus_t factor_all(cusolverDnHandle_t handle, int n, double** a, int* info, int count) {
  return cusolverDnDpotrfBatched(handle, lower, n, a, n, info, count);
}
cusolverStatus_t solve_all(cusolverDnHandle_t handle, int n, float** a, float** b, int* info, int count) {
  return cusolverDnSpotrsBatched(handle, lower, n, 1, a, n, b, n, info, count);
}
cusolverStatus_t solve_all(cusolverDnHandle_t handle, int n, double** a, double** b, int* info, int count) {
  return cusolverDnDpotrsBatched(handle, lower, n, 1, a, n, b, n, info, count);
}

/// to[c, i] = scales[c] from[i]; scales null: copies.
template <class Real>
__global__ void repeat(const Real* from, std::size_t size, const Real* scales, std::size_t count, Real* to) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < size * count) to[i] = scales == nullptr ? from[i % size] : scales[i / size] * from[i % size];
}

/// Matrices, right sides, and what the library says of each.
template <class Real>
class DenseCholesky : public FactorTask {
 public:
  DenseCholesky(const Queue& queue, const DenseBatch<Real>& batch)
      : batch_(batch), stream_(stream_of(queue)), info_(static_cast<std::size_t>(batch.count)) {
    check(cusolverDnCreate(&handle_));
    check(cusolverDnSetStream(handle_, stream_));
    check(cusolverDnSetDeterministicMode(handle_, CUSOLVER_DETERMINISTIC_RESULTS));
  }
  ~DenseCholesky() override { cusolverDnDestroy(handle_); }
  bool succeeded() override {
    std::vector<int> info(static_cast<std::size_t>(batch_.count));
    check(cudaMemcpyAsync(info.data(), info_.data(), info.size() * sizeof(int), cudaMemcpyDeviceToHost,
                          stream_));
    check(cudaStreamSynchronize(stream_));
    for (const int i : info)
      if (i != 0) return false;
    return true;
  }

 protected:
  void fill(const Real* from, std::size_t size, const Real* scales, Real* to) const {
    constexpr std::size_t threads = 256;
    const std::size_t values = size * static_cast<std::size_t>(batch_.count);
    repeat<<<static_cast<unsigned>((values + threads - 1) / threads), threads, 0, stream_>>>(
        from, size, scales, static_cast<std::size_t>(batch_.count), to);
    check(cudaGetLastError());
  }
  void fill_matrices() const {
    fill(batch_.matrix.data(), batch_.matrix.size(), batch_.scales.data(), batch_.factors.data());
  }
  void fill_right_sides() const {
    fill(batch_.right_side.data(), batch_.right_side.size(), nullptr, batch_.solutions.data());
  }

  DenseBatch<Real> batch_;
  cudaStream_t stream_;
  cusolverDnHandle_t handle_ = nullptr;
  DeviceArray<int> info_;
};

template <class Real>
class BatchedCholesky final : public DenseCholesky<Real> {
 public:
  BatchedCholesky(const Queue& queue, const DenseBatch<Real>& batch)
      : DenseCholesky<Real>(queue, batch),
        matrices_(pointers(batch.factors, batch.matrix.size())),
        vectors_(pointers(batch.solutions, batch.right_side.size())),
        solve_info_(1) {}
  std::string name() const override { return "cuSOLVER potrfBatched"; }
  void factorize() override {
    this->fill_matrices();
    check(factor_all(this->handle_, this->batch_.size, matrices_.data(), this->info_.data(),
                     this->batch_.count));
  }
  void solve() override {
    this->fill_right_sides();
    check(solve_all(this->handle_, this->batch_.size, matrices_.data(), vectors_.data(), solve_info_.data(),
                    this->batch_.count));
  }

 private:
  DeviceArray<Real*> pointers(ArrayView<Real> all, std::size_t size) const {
    std::vector<Real*> each;
    for (Index c = 0; c < this->batch_.count; ++c)
      each.push_back(all.data() + static_cast<std::size_t>(c) * size);
    DeviceArray<Real*> result(each.size());
    check(cudaMemcpyAsync(result.data(), each.data(), each.size() * sizeof(Real*), cudaMemcpyHostToDevice,
                          this->stream_));
    check(cudaStreamSynchronize(this->stream_));
    return result;
  }
  DeviceArray<Real*> matrices_, vectors_;
  DeviceArray<int> solve_info_;
};

template <class Real>
class SingleCholesky final : public DenseCholesky<Real> {
 public:
  SingleCholesky(const Queue& queue, const DenseBatch<Real>& batch)
      : DenseCholesky<Real>(queue, batch), solve_info_(1) {
    check(work_size(this->handle_, batch.size, batch.factors.data(), &work_size_));
    work_ = DeviceArray<Real>(static_cast<std::size_t>(work_size_));
  }
  std::string name() const override { return "cuSOLVER potrf"; }
  void factorize() override {
    this->fill_matrices();
    check(factor(this->handle_, this->batch_.size, this->batch_.factors.data(), work_.data(), work_size_,
                 this->info_.data()));
  }
  void solve() override {
    this->fill_right_sides();
    check(solve_one(this->handle_, this->batch_.size, this->batch_.factors.data(),
                    this->batch_.solutions.data(), solve_info_.data()));
  }

 private:
  int work_size_ = 0;
  DeviceArray<Real> work_;
  DeviceArray<int> solve_info_;
};

template <class Real>
TaskMakers<FactorTask> all_factors(const Queue& queue, const DenseBatch<Real>& batch) {
  TaskMakers<FactorTask> makers;
  makers.push_back([=] { return std::make_unique<BatchedCholesky<Real>>(queue, batch); });
  if (batch.count == 1)
    makers.push_back([=] { return std::make_unique<SingleCholesky<Real>>(queue, batch); });
  return makers;
}

}  // namespace

TaskMakers<FactorTask> cusolver_dense_factors(const Queue& queue, const DenseBatch<float>& batch) {
  return all_factors(queue, batch);
}
TaskMakers<FactorTask> cusolver_dense_factors(const Queue& queue, const DenseBatch<double>& batch) {
  return all_factors(queue, batch);
}

}  // namespace isocloth::bench

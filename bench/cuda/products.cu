// Products of sparse matrices and vectors by cuSPARSE.
#include "bench/cuda/device_array.cuh"
#include "bench/cuda/tasks.hpp"

namespace isocloth::bench {
namespace {

template <class Real>
constexpr cudaDataType value_type = sizeof(Real) == sizeof(float) ? CUDA_R_32F : CUDA_R_64F;

cusparseStatus_t multiply_blocks(cusparseHandle_t handle, cusparseMatDescr_t type,
                                 const BlockRowsView<float>& a, int count, const float* x, float* y) {
  const float one = 1, zero = 0;
  return cusparseSbsrmv(handle, CUSPARSE_DIRECTION_ROW, CUSPARSE_OPERATION_NON_TRANSPOSE, a.size, a.size,
                        count, &one, type, a.values.data(), a.begin.data(), a.columns.data(), a.block, x,
                        &zero, y);
}
cusparseStatus_t multiply_blocks(cusparseHandle_t handle, cusparseMatDescr_t type,
                                 const BlockRowsView<double>& a, int count, const double* x, double* y) {
  const double one = 1, zero = 0;
  return cusparseDbsrmv(handle, CUSPARSE_DIRECTION_ROW, CUSPARSE_OPERATION_NON_TRANSPOSE, a.size, a.size,
                        count, &one, type, a.values.data(), a.begin.data(), a.columns.data(), a.block, x,
                        &zero, y);
}

class SparseHandle {
 public:
  explicit SparseHandle(const Queue& queue) {
    check(cusparseCreate(&handle_));
    check(cusparseSetStream(handle_, stream_of(queue)));
  }
  SparseHandle(const SparseHandle&) = delete;
  SparseHandle& operator=(const SparseHandle&) = delete;
  ~SparseHandle() { cusparseDestroy(handle_); }
  cusparseHandle_t get() const { return handle_; }

 private:
  cusparseHandle_t handle_ = nullptr;
};

/// The interface of before 2020, which knows blocks.
template <class Real>
class BsrProduct final : public LibraryTask {
 public:
  BsrProduct(const Queue& queue, const ProductArrays<Real>& arrays) : arrays_(arrays), handle_(queue) {
    check(cusparseCreateMatDescr(&type_));
  }
  ~BsrProduct() override { cusparseDestroyMatDescr(type_); }
  std::string name() const override { return "cuSPARSE bsrmv"; }
  void run() override {
    check(multiply_blocks(handle_.get(), type_, arrays_.blocks,
                          static_cast<int>(arrays_.blocks.columns.size()), arrays_.x.data(),
                          arrays_.y.data()));
  }

 private:
  ProductArrays<Real> arrays_;
  SparseHandle handle_;
  cusparseMatDescr_t type_ = nullptr;
};

/// The generic interface.
template <class Real>
class SpmvProduct final : public LibraryTask {
 public:
  SpmvProduct(const Queue& queue, const ProductArrays<Real>& arrays, std::string name, bool by_blocks,
              cusparseSpMVAlg_t algorithm)
      : name_(std::move(name)), algorithm_(algorithm), handle_(queue) {
    const BlockRowsView<Real>& a = by_blocks ? arrays.blocks : arrays.scalars;
    const std::int64_t entries = static_cast<std::int64_t>(a.columns.size());
    if (by_blocks)
      check(cusparseCreateConstBsr(&matrix_, a.size, a.size, entries, a.block, a.block, a.begin.data(),
                                   a.columns.data(), a.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_BASE_ZERO, value_type<Real>, CUSPARSE_ORDER_ROW));
    else
      check(cusparseCreateConstCsr(&matrix_, a.size, a.size, entries, a.begin.data(), a.columns.data(),
                                   a.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_BASE_ZERO, value_type<Real>));
    check(cusparseCreateConstDnVec(&x_, static_cast<std::int64_t>(arrays.x.size()), arrays.x.data(),
                                   value_type<Real>));
    check(cusparseCreateDnVec(&y_, static_cast<std::int64_t>(arrays.y.size()), arrays.y.data(),
                              value_type<Real>));
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_,
                                  y_, value_type<Real>, algorithm_, &bytes));
    work_ = DeviceArray<char>(bytes);
    if (!by_blocks)
      check(cusparseSpMV_preprocess(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_,
                                    &zero_, y_, value_type<Real>, algorithm_, work_.data()));
  }
  ~SpmvProduct() override {
    cusparseDestroySpMat(matrix_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
  }
  std::string name() const override { return name_; }
  void run() override {
    check(cusparseSpMV(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
                       value_type<Real>, algorithm_, work_.data()));
  }

 private:
  std::string name_;
  cusparseSpMVAlg_t algorithm_;
  Real one_ = 1, zero_ = 0;
  SparseHandle handle_;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  cusparseConstDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  DeviceArray<char> work_;
};

template <class Real>
TaskMakers<> all_products(const Queue& queue, const ProductArrays<Real>& arrays) {
  const auto spmv = [=](const char* name, bool by_blocks, cusparseSpMVAlg_t algorithm) {
    return [=] { return std::make_unique<SpmvProduct<Real>>(queue, arrays, name, by_blocks, algorithm); };
  };
  TaskMakers<> makers{[=] { return std::make_unique<BsrProduct<Real>>(queue, arrays); },
                      spmv("cuSPARSE SpMV, CSR, algorithm 1", false, CUSPARSE_SPMV_CSR_ALG1),
                      spmv("cuSPARSE SpMV, CSR, algorithm 2", false, CUSPARSE_SPMV_CSR_ALG2)};
#if CUSPARSE_VERSION >= 12603
  makers.push_back(spmv("cuSPARSE SpMV, BSR", true, CUSPARSE_SPMV_BSR_ALG1));
#endif
  return makers;
}

}  // namespace

TaskMakers<> cusparse_products(const Queue& queue, const ProductArrays<float>& arrays) {
  return all_products(queue, arrays);
}
TaskMakers<> cusparse_products(const Queue& queue, const ProductArrays<double>& arrays) {
  return all_products(queue, arrays);
}

}  // namespace isocloth::bench

// The door of the plugin libisocloth_device_libraries.so: two C functions, looked up by name.
#include "bench/cuda/device_array.cuh"
#include "bench/cuda/tasks.hpp"

namespace isocloth::bench {
namespace {

class NvidiaLibraries final : public DeviceLibraries {
 public:
  std::string versions() const override {
    const auto version = [](int major, int minor, int patch) {
      return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
    };
    return "CUDA " + version(CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10, CUDART_VERSION % 10) +
           ", cuSPARSE " + version(CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH) +
           ", cuSOLVER " + version(CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH) + ", CUB " +
           cub_version();
  }
  TaskMakers<> products(const Queue& queue, const ProductArrays<float>& arrays) const override {
    return cusparse_products(queue, arrays);
  }
  TaskMakers<> products(const Queue& queue, const ProductArrays<double>& arrays) const override {
    return cusparse_products(queue, arrays);
  }
  TaskMakers<FactorTask> dense_factors(const Queue& queue, const DenseBatch<float>& batch) const override {
    return cusolver_dense_factors(queue, batch);
  }
  TaskMakers<FactorTask> dense_factors(const Queue& queue, const DenseBatch<double>& batch) const override {
    return cusolver_dense_factors(queue, batch);
  }
  TaskMakers<FactorTask> sparse_factors(const Queue& queue,
                                        const SparseSystem<float>& system) const override {
    return cusolver_sparse_factors(queue, system);
  }
  TaskMakers<FactorTask> sparse_factors(const Queue& queue,
                                        const SparseSystem<double>& system) const override {
    return cusolver_sparse_factors(queue, system);
  }
  TaskMakers<> reductions(const Queue& queue, const Reduce<float>& arrays) const override {
    return cub_reductions(queue, arrays);
  }
  TaskMakers<> reductions(const Queue& queue, const Reduce<double>& arrays) const override {
    return cub_reductions(queue, arrays);
  }
  TaskMakers<> scans(const Queue& queue, ArrayView<const Index> from, ArrayView<Index> to) const override {
    return cub_scans(queue, from, to);
  }
  TaskMakers<> sorts(const Queue& queue, const KeyedValues& arrays) const override {
    return cub_sorts(queue, arrays);
  }
  TaskMakers<> selections(const Queue& queue, const ContactSelection& arrays) const override {
    return cub_selections(queue, arrays);
  }
};

}  // namespace
}  // namespace isocloth::bench

extern "C" {

int isocloth_device_libraries_abi() { return isocloth::bench::device_libraries_abi; }

const isocloth::bench::DeviceLibraries* isocloth_device_libraries() {
  static const isocloth::bench::NvidiaLibraries libraries;
  return &libraries;
}
}

// What each library's file offers; see DeviceLibraries.
#pragma once

#include "bench/device_libraries.hpp"

namespace isocloth::bench {

TaskMakers<> cusparse_products(const Queue& queue, const ProductArrays<float>& arrays);
TaskMakers<> cusparse_products(const Queue& queue, const ProductArrays<double>& arrays);
TaskMakers<FactorTask> cusolver_dense_factors(const Queue& queue, const DenseBatch<float>& batch);
TaskMakers<FactorTask> cusolver_dense_factors(const Queue& queue, const DenseBatch<double>& batch);
TaskMakers<FactorTask> cusolver_sparse_factors(const Queue& queue, const SparseSystem<float>& system);
TaskMakers<FactorTask> cusolver_sparse_factors(const Queue& queue, const SparseSystem<double>& system);
TaskMakers<> cub_reductions(const Queue& queue, const Reduce<float>& arrays);
TaskMakers<> cub_reductions(const Queue& queue, const Reduce<double>& arrays);
TaskMakers<> cub_scans(const Queue& queue, ArrayView<const Index> from, ArrayView<Index> to);
TaskMakers<> cub_sorts(const Queue& queue, const KeyedValues& arrays);
TaskMakers<> cub_selections(const Queue& queue, const ContactSelection& arrays);
std::string cub_version();

}  // namespace isocloth::bench

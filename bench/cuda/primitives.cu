// Reductions, scans, sorts and selections by CUB.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <cub/version.cuh>

#include "bench/cuda/device_array.cuh"
#include "bench/cuda/tasks.hpp"
#include "bench/reduction.hpp"

namespace isocloth::bench {
namespace {

/// algorithm(work, bytes): a call of CUB, which without work memory says how much it needs.
template <class Algorithm>
class CubTask final : public LibraryTask {
 public:
  CubTask(std::string name, const Algorithm& algorithm) : name_(std::move(name)), algorithm_(algorithm) {
    check(algorithm_(nullptr, bytes_));
    work_ = DeviceArray<char>(bytes_);
  }
  std::string name() const override { return name_; }
  void run() override { check(algorithm_(work_.data(), bytes_)); }

 private:
  std::string name_;
  Algorithm algorithm_;
  std::size_t bytes_ = 0;
  DeviceArray<char> work_;
};

template <class Algorithm>
TaskMakers<> one_task(const std::string& name, const Algorithm& algorithm) {
  return {[=] { return std::make_unique<CubTask<Algorithm>>(name, algorithm); }};
}

/// The values of an array, each as a reduction.
template <class Real>
struct ReductionOfValue {
  const Real* values;
  __host__ __device__ Reduction<Real> operator()(Index i) const { return reduction_of(values[i], i); }
};
template <class Real>
struct Merge {
  __host__ __device__ Reduction<Real> operator()(const Reduction<Real>& a, const Reduction<Real>& b) const {
    return merged(a, b);
  }
};
/// Where chunk number `chunk` begins; the end of all past the last.
struct ChunkBegin {
  Index size;
  __host__ __device__ Index operator()(Index chunk) const {
    const Index begin = chunk * reduction_chunk;
    return begin < size ? begin : size;
  }
};
struct Touches {
  __host__ __device__ bool operator()(PairStatus status) const { return status != PairStatus::apart; }
};

template <class Real>
TaskMakers<> segmented_reduction(const Queue& queue, const Reduce<Real>& arrays) {
  const auto values = thrust::make_transform_iterator(thrust::counting_iterator<Index>(0),
                                                      ReductionOfValue<Real>{arrays.values.data()});
  const auto begin = thrust::make_transform_iterator(thrust::counting_iterator<Index>(0),
                                                     ChunkBegin{static_cast<Index>(arrays.values.size())});
  return one_task("CUB DeviceSegmentedReduce", [=](void* work, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Reduce(work, bytes, values, arrays.partials.data(),
                                              arrays.partials.size(), begin, begin + 1, Merge<Real>{},
                                              Reduction<Real>{}, stream_of(queue));
  });
}

}  // namespace

TaskMakers<> cub_reductions(const Queue& queue, const Reduce<float>& arrays) {
  return segmented_reduction(queue, arrays);
}
TaskMakers<> cub_reductions(const Queue& queue, const Reduce<double>& arrays) {
  return segmented_reduction(queue, arrays);
}

TaskMakers<> cub_scans(const Queue& queue, ArrayView<const Index> from, ArrayView<Index> to) {
  return one_task("CUB DeviceScan", [=](void* work, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(work, bytes, from.data(), to.data(), from.size(), stream_of(queue));
  });
}

TaskMakers<> cub_sorts(const Queue& queue, const KeyedValues& arrays) {
  return one_task("CUB DeviceRadixSort", [=](void* work, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(work, bytes, arrays.keys.data(), arrays.sorted_keys.data(),
                                           arrays.values.data(), arrays.sorted_values.data(),
                                           arrays.keys.size(), 0, 64, stream_of(queue));
  });
}

TaskMakers<> cub_selections(const Queue& queue, const ContactSelection& arrays) {
  const auto flags = thrust::make_transform_iterator(arrays.statuses.data(), Touches{});
  return one_task("CUB DeviceSelect", [=](void* work, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(work, bytes, arrays.found.data(), flags, arrays.selected.data(),
                                      arrays.count.data(), arrays.found.size(), stream_of(queue));
  });
}

std::string cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + '.' + std::to_string(CUB_MINOR_VERSION) + '.' +
         std::to_string(CUB_SUBMINOR_VERSION);
}

}  // namespace isocloth::bench

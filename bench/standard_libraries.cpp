// The CPU in place of the device's libraries.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <functional>
#include <numeric>

#include "bench/device_libraries.hpp"
#include "bench/reduction.hpp"
#include "engine/core/text.hpp"

namespace isocloth::bench {
namespace {

const std::string eigen_name =
    text("Eigen ", EIGEN_WORLD_VERSION, '.', EIGEN_MAJOR_VERSION, '.', EIGEN_MINOR_VERSION);

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
template <class Real>
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
template <class Real>
using SparseRows = Eigen::SparseMatrix<Real, Eigen::RowMajor, Index>;

template <class Real>
Eigen::Map<const SparseRows<Real>> sparse_rows(const BlockRowsView<Real>& a) {
  return {a.size,         a.size,           static_cast<Eigen::Index>(a.values.size()),
          a.begin.data(), a.columns.data(), a.values.data(),
          nullptr};
}
template <class Real>
Eigen::Map<const Vector<Real>> vector(ArrayView<const Real> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}
template <class Real>
Eigen::Map<Vector<Real>> vector(ArrayView<Real> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

class FunctionTask final : public LibraryTask {
 public:
  FunctionTask(std::string name, std::function<void()> function)
      : name_(std::move(name)), function_(std::move(function)) {}
  std::string name() const override { return name_; }
  void run() override { function_(); }

 private:
  std::string name_;
  std::function<void()> function_;
};

TaskMakers<> one_task(const std::string& name, const std::function<void()>& function) {
  return {[=] { return std::make_unique<FunctionTask>(name, function); }};
}

template <class Real>
class DenseLlt final : public FactorTask {
 public:
  explicit DenseLlt(const DenseBatch<Real>& batch) : batch_(batch) {}
  std::string name() const override { return "Eigen LLT"; }
  void factorize() override {
    succeeded_ = true;
    const Eigen::Map<const Matrix<Real>> matrix(batch_.matrix.data(), batch_.size, batch_.size);
    for (Index c = 0; c < batch_.count; ++c) {
      Eigen::Map<Matrix<Real>> own = factor(c);
      own = batch_.scales[c] * matrix;
      const Eigen::LLT<Eigen::Ref<Matrix<Real>>> in_place(own);
      succeeded_ = succeeded_ && in_place.info() == Eigen::Success;
    }
  }
  void solve() override {
    const Index n = batch_.size;
    for (Index c = 0; c < batch_.count; ++c) {
      Eigen::Map<Vector<Real>> x(batch_.solutions.data() + static_cast<std::size_t>(c) * n, n);
      const Eigen::Map<Matrix<Real>> lower = factor(c);
      x = vector(batch_.right_side);
      lower.template triangularView<Eigen::Lower>().solveInPlace(x);
      lower.template triangularView<Eigen::Lower>().transpose().solveInPlace(x);
    }
  }
  bool succeeded() override { return succeeded_; }

 private:
  Eigen::Map<Matrix<Real>> factor(Index c) const {
    const Index n = batch_.size;
    return {batch_.factors.data() + static_cast<std::size_t>(c) * n * n, n, n};
  }
  DenseBatch<Real> batch_;
  bool succeeded_ = true;
};

template <class Real>
class SparseLlt final : public FactorTask {
 public:
  explicit SparseLlt(const SparseSystem<Real>& system)
      : system_(system), matrix_(sparse_rows(system.scalars)) {
    factor_.analyzePattern(matrix_);
  }
  std::string name() const override { return "Eigen SimplicialLLT"; }
  void factorize() override { factor_.factorize(matrix_); }
  void solve() override { vector(system_.solution) = factor_.solve(vector(system_.right_side)); }
  bool succeeded() override { return factor_.info() == Eigen::Success; }

 private:
  SparseSystem<Real> system_;
  Eigen::SparseMatrix<Real, Eigen::ColMajor, Index> matrix_;
  Eigen::SimplicialLLT<decltype(matrix_), Eigen::Lower, Eigen::NaturalOrdering<Index>> factor_;
};

template <class Task, class Arrays>
TaskMakers<FactorTask> one_factor(const Arrays& arrays) {
  return {[=] { return std::make_unique<Task>(arrays); }};
}

template <class Real>
TaskMakers<> eigen_product(const ProductArrays<Real>& arrays) {
  return one_task("Eigen, CSR",
                  [=] { vector(arrays.y).noalias() = sparse_rows(arrays.scalars) * vector(arrays.x); });
}

template <class Real>
TaskMakers<> standard_reduction(const Reduce<Real>& arrays) {
  return one_task("a plain loop", [=] {
    for (std::size_t chunk = 0; chunk < arrays.partials.size(); ++chunk) {
      const Index begin = static_cast<Index>(chunk) * reduction_chunk,
                  end = std::min(begin + reduction_chunk, static_cast<Index>(arrays.values.size()));
      Reduction<Real> total;
      for (Index i = begin; i < end; ++i) total = merged(total, reduction_of(arrays.values[i], i));
      arrays.partials[chunk] = total;
    }
  });
}

class StandardLibraries final : public DeviceLibraries {
 public:
  std::string versions() const override { return eigen_name + ", libstdc++"; }
  TaskMakers<> products(const Queue&, const ProductArrays<float>& arrays) const override {
    return eigen_product(arrays);
  }
  TaskMakers<> products(const Queue&, const ProductArrays<double>& arrays) const override {
    return eigen_product(arrays);
  }
  TaskMakers<FactorTask> dense_factors(const Queue&, const DenseBatch<float>& batch) const override {
    return one_factor<DenseLlt<float>>(batch);
  }
  TaskMakers<FactorTask> dense_factors(const Queue&, const DenseBatch<double>& batch) const override {
    return one_factor<DenseLlt<double>>(batch);
  }
  TaskMakers<FactorTask> sparse_factors(const Queue&, const SparseSystem<float>& system) const override {
    return one_factor<SparseLlt<float>>(system);
  }
  TaskMakers<FactorTask> sparse_factors(const Queue&, const SparseSystem<double>& system) const override {
    return one_factor<SparseLlt<double>>(system);
  }
  TaskMakers<> reductions(const Queue&, const Reduce<float>& arrays) const override {
    return standard_reduction(arrays);
  }
  TaskMakers<> reductions(const Queue&, const Reduce<double>& arrays) const override {
    return standard_reduction(arrays);
  }
  TaskMakers<> scans(const Queue&, ArrayView<const Index> from, ArrayView<Index> to) const override {
    return one_task("std::exclusive_scan",
                    [=] { std::exclusive_scan(from.begin(), from.end(), to.begin(), Index(0)); });
  }
  TaskMakers<> sorts(const Queue&, const KeyedValues& arrays) const override {
    return one_task("std::stable_sort", [=, order = std::vector<Index>()]() mutable {
      order.resize(arrays.keys.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](Index a, Index b) { return arrays.keys[a] < arrays.keys[b]; });
      for (std::size_t i = 0; i < order.size(); ++i) {
        arrays.sorted_keys[i] = arrays.keys[order[i]];
        arrays.sorted_values[i] = arrays.values[order[i]];
      }
    });
  }
  TaskMakers<> selections(const Queue&, const ContactSelection& arrays) const override {
    return one_task("std::copy_if", [=] {
      const FoundContact* const end =
          std::copy_if(arrays.found.begin(), arrays.found.end(), arrays.selected.begin(),
                       [&](const FoundContact& contact) {
                         return arrays.statuses[static_cast<std::size_t>(&contact - arrays.found.begin())] !=
                                PairStatus::apart;
                       });
      arrays.count[0] = static_cast<Index>(end - arrays.selected.begin());
    });
  }
};

}  // namespace

const DeviceLibraries& standard_libraries() {
  static const StandardLibraries libraries;
  return libraries;
}

}  // namespace isocloth::bench

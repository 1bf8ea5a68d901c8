// What libraries of others offer for work that the engine's kernels do: one interface, behind it NVIDIA's
// libraries on a GPU (bench/cuda), and on the CPU Eigen and the standard library in their place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cloth_contact/cloth_contact.hpp"
#include "kernels/measures/measures.hpp"

namespace isocloth::bench {

/// One call of a library on arrays of a device, prepared once; handles and work memory are its own.
class LibraryTask {
 public:
  virtual ~LibraryTask() = default;
  virtual std::string name() const = 0;
  /// Asks the queue for the work, and may wait for it. Throws DeviceError when the library refuses.
  virtual void run() = 0;
};

/// A factorisation and a solve with it. factorize() begins with the matrix as it was handed over.
class FactorTask : public LibraryTask {
 public:
  void run() final {
    factorize();
    solve();
  }
  virtual void factorize() = 0;
  virtual void solve() = 0;
  /// Whether every matrix was positive definite; waits for the queue.
  virtual bool succeeded() = 0;
};

/// Rows of blocks on the device: BlockRows of bench/sparse_formats.hpp.
template <class Real>
struct BlockRowsView {
  Index size = 0;  ///< block rows
  int block = 3;   ///< scalars per block side
  ArrayView<const Index> begin, columns;
  ArrayView<const Real> values;
};

/// y = A x.
template <class Real>
struct ProductArrays {
  BlockRowsView<Real> blocks, scalars;  ///< A, twice
  ArrayView<const Real> x;              ///< shape [unknowns]
  ArrayView<Real> y;                    ///< shape [unknowns]
};

/// scales[c] A x_c = b for every c.
template <class Real>
struct DenseBatch {
  Index size = 0, count = 0;     ///< unknowns of a system; systems
  ArrayView<const Real> matrix;  ///< A, symmetric, shape [size, size]
  ArrayView<const Real> scales;  ///< shape [count]
  ArrayView<Real> factors;       ///< shape [count, size, size]; factorize() writes scales[c] A there first
  ArrayView<const Real> right_side;
  ArrayView<Real> solutions;  ///< shape [count, size]
};

/// A x = b.
template <class Real>
struct SparseSystem {
  BlockRowsView<Real> scalars;  ///< A by scalars, in an order of elimination
  ArrayView<const Real> right_side;
  ArrayView<Real> solution;
};

/// Keys to be sorted with what belongs to them.
struct KeyedValues {
  ArrayView<const std::uint64_t> keys;
  ArrayView<const Index> values;
  ArrayView<std::uint64_t> sorted_keys;
  ArrayView<Index> sorted_values;
};

/// Contacts whose pair is not apart, in the order of the pairs.
struct ContactSelection {
  ArrayView<const PairStatus> statuses;
  ArrayView<const FoundContact> found;
  ArrayView<FoundContact> selected;  ///< as long as `found`; the first count[0] are written
  ArrayView<Index> count;            ///< shape [1]
};

/// Prepare one task each; throw DeviceError when memory runs out or the library refuses.
template <class Task = LibraryTask>
using TaskMakers = std::vector<std::function<std::unique_ptr<Task>()>>;

/// Every way that the libraries have for a piece of work, on arrays that outlive the tasks.
class DeviceLibraries {
 public:
  virtual ~DeviceLibraries() = default;
  /// Names and versions, for people.
  virtual std::string versions() const = 0;

  virtual TaskMakers<> products(const Queue& queue, const ProductArrays<float>& arrays) const = 0;
  virtual TaskMakers<> products(const Queue& queue, const ProductArrays<double>& arrays) const = 0;
  virtual TaskMakers<FactorTask> dense_factors(const Queue& queue, const DenseBatch<float>& batch) const = 0;
  virtual TaskMakers<FactorTask> dense_factors(const Queue& queue, const DenseBatch<double>& batch) const = 0;
  virtual TaskMakers<FactorTask> sparse_factors(const Queue& queue,
                                                const SparseSystem<float>& system) const = 0;
  virtual TaskMakers<FactorTask> sparse_factors(const Queue& queue,
                                                const SparseSystem<double>& system) const = 0;
  /// Chunks as Reduce says.
  virtual TaskMakers<> reductions(const Queue& queue, const Reduce<float>& arrays) const = 0;
  virtual TaskMakers<> reductions(const Queue& queue, const Reduce<double>& arrays) const = 0;
  /// to[i] = from[0] + ... + from[i - 1].
  virtual TaskMakers<> scans(const Queue& queue, ArrayView<const Index> from, ArrayView<Index> to) const = 0;
  /// Values of equal keys keep their order.
  virtual TaskMakers<> sorts(const Queue& queue, const KeyedValues& arrays) const = 0;
  virtual TaskMakers<> selections(const Queue& queue, const ContactSelection& arrays) const = 0;
};

/// Changes whenever one of the types above does.
constexpr int device_libraries_abi = 1;

/// Eigen and the standard library, on the calling thread.
const DeviceLibraries& standard_libraries();

/// Those of a backend: of "cpu" standard_libraries(), of "cuda" what the plugin
/// libisocloth_device_libraries.so beside the kernels' plugin offers. Throws DeviceError saying why there are
/// none.
const DeviceLibraries& device_libraries(const std::string& backend);

}  // namespace isocloth::bench

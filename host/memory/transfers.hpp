// Several arrays copied at once: on a device, or between it and the host.
#pragma once

#include <cstring>
#include <vector>

#include "host/memory/buffer.hpp"

namespace isocloth {

/// Copies within a backend's memory, all by one launch where that is not the host's. Values are copied in
/// words of 4 bytes. The device must outlive it.
class ArrayCopies {
 public:
  explicit ArrayCopies(const Device& device) : device_(device) {}

  /// Notes a copy of one array into another of its size; no array is read that another copy writes.
  template <class From, class To>
  void add(ArrayView<From> from, ArrayView<To> to) {
    static_assert(sizeof(From) == sizeof(To) && sizeof(To) % sizeof(std::uint32_t) == 0);
    assert(from.size() == to.size());
    add(from.data(), to.data(), to.size() * sizeof(To));
  }
  void add(const void* from, void* to, std::size_t bytes);
  /// Does what is noted, and forgets it.
  void launch();

 private:
  const Device& device_;
  std::vector<CopyArrays::Piece> pieces_;
};

/// An array to be copied between a device's memory and the host's.
struct TransferPiece {
  const void* from;
  void* to;
  std::size_t bytes;
};

/// Copies from a device's memory to the host's: one copy and one wait for all of them.
class Downloads {
 public:
  explicit Downloads(const Device& device) : device_(device) {}

  /// Notes that the host wants these values: run() sets `at` to where they lie, in place or in `staging`,
  /// which must live until then.
  template <class T>
  void add(ArrayView<const T> values, std::vector<T>& staging, const T*& at) {
    if (values.size() == 0 || device_.backend().memory.host_accessible) {
      at = values.data();
      return;
    }
    staging.resize(values.size());
    at = staging.data();
    add(values.data(), staging.data(), values.size() * sizeof(T));
  }
  /// Notes that the first `count` values are to be copied into a vector, which must live until run().
  template <class T>
  void add(const Buffer<T>& values, std::size_t count, std::vector<T>& to) {
    to.resize(count);
    if (count == 0) return;
    if (device_.backend().memory.host_accessible)
      std::copy_n(values.view().data(), count, to.begin());
    else
      add(values.view().data(), to.data(), count * sizeof(T));
  }
  template <class T>
  void add(const Buffer<T>& values, std::vector<T>& to) {
    add(values, values.size(), to);
  }
  /// Whether any values are asked for that are not there yet.
  bool are_wanted() const { return !pieces_.empty(); }
  /// Waits for the values. Throws DeviceError where the backend fails.
  void run();

 private:
  void add(const void* from, void* to, std::size_t bytes) { pieces_.push_back({from, to, bytes}); }

  const Device& device_;
  std::vector<TransferPiece> pieces_;
};

/// Copies from the host's memory to a device's, in the order of the device's own queue: one copy for all of
/// them, for which nobody waits where there is upload_room().
class Uploads {
 public:
  explicit Uploads(const Device& device) : device_(device) {}

  /// Notes that the values are to be written to an array of their size; they must live until run() returns.
  template <class T>
  void add(const std::vector<T>& values, ArrayView<T> to) {
    assert(values.size() == to.size());
    add(values.data(), to);
  }
  template <class T>
  void add(const T* values, ArrayView<T> to) {
    if (to.size() > 0) pieces_.push_back({values, to.data(), to.size() * sizeof(T)});
  }
  std::size_t piece_count() const { return pieces_.size(); }
  /// Writes all. Throws DeviceError where the backend fails.
  void run();

 private:
  const Device& device_;
  std::vector<TransferPiece> pieces_;
};

}  // namespace isocloth

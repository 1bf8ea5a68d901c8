// The part of the HDF5 C interface that results need, with every call checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/files/hdf5_library.hpp"

namespace isocloth {

/// Whether datasets carry the library's own checksums (Fletcher32): every reader, also that of another
/// language, then refuses numbers that have changed on the disk.
enum class Checksums { off, on };

/// An HDF5 file. A file whose writing failed is abandoned, not closed: the library cannot drop what it could
/// not write, and crashes when it tries again (at exit, too, so its exit handler is turned off). Datasets and
/// attributes are named by path ("garments/name"); groups on the way are created. All members throw FileError
/// naming the file, the dataset and the reason. Distinct files may be used by distinct threads: one lock
/// keeps them apart, because the library is built without any. What is read goes through Hdf5Dataset
/// (host/files/hdf5_dataset.hpp): nothing outside of the file, and no more than it has.
class Hdf5File {
 public:
  static Hdf5File create(const std::filesystem::path& path, Checksums checksums = Checksums::off);
  static Hdf5File open(const std::filesystem::path& path);
  ~Hdf5File();
  Hdf5File(Hdf5File&& other) noexcept
      : path_(std::move(other.path_)),
        file_(std::exchange(other.file_, -1)),
        space_(std::exchange(other.space_, -1)),
        is_writable_(other.is_writable_),
        checksums_(other.checksums_),
        is_sound_(other.is_sound_) {}
  Hdf5File& operator=(Hdf5File&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void flush();
  /// Nothing may be called afterwards.
  void close();
  /// Asks the system for room for `bytes` more, so that a full disk is met here, where the file is still what
  /// it was at its last flush and can be closed, and not within the library.
  void reserve(std::uint64_t bytes);

  template <class T>
  void write(const std::string& name, std::span<const T> values, const Hdf5Shape& shape) {
    write_bytes(name, kind<T>(), values.data(), values.size(), shape);
  }
  void write_texts(const std::string& name, const std::vector<std::string>& texts);

  /// An empty dataset of shape [0, row_shape...] that append_rows extends, stored `chunk_rows` rows at a time
  /// (less where those have more than a MiB). A part of it that is lost reads as `fill`.
  template <class T>
  void create_rows(const std::string& name, const Hdf5Shape& row_shape, hsize_t chunk_rows, T fill) {
    create_rows_of(name, kind<T>(), sizeof(T), row_shape, chunk_rows, &fill);
  }
  template <class T>
  void append_rows(const std::string& name, std::span<const T> values, hsize_t row_count) {
    append_bytes(name, kind<T>(), values.data(), values.size(), row_count);
  }

  /// The shape that a dataset says it has: nothing may be reserved by it.
  Hdf5Shape shape(const std::string& name) const;
  /// Rows of a dataset (its first dimension) for which the file has bytes: never more than the file is long.
  hsize_t stored_rows(const std::string& name) const;
  /// Whether the numbers of a dataset are float64, float32 or whole.
  bool is_float64(const std::string& name) const;
  /// The whole dataset; its shape must be `expected`.
  template <class T>
  std::vector<T> read(const std::string& name, const Hdf5Shape& expected) const {
    std::vector<T> values(checked_size(name, expected));
    read_bytes(name, kind<T>(), values.data());
    return values;
  }
  /// Rows [begin, begin + count) of a dataset of shape [row_count, row_size...].
  template <class T>
  std::vector<T> read_rows(const std::string& name, hsize_t begin, hsize_t count,
                           std::size_t row_size) const {
    std::vector<T> values(checked_row_size(name, begin, count, row_size));
    if (!values.empty()) read_row_bytes(name, kind<T>(), values.data(), begin, count);
    return values;
  }
  std::vector<std::string> read_texts(const std::string& name, std::size_t expected) const;

  /// Attributes of the file itself.
  void write_attribute(const std::string& name, const std::string& value);
  void write_attribute(const std::string& name, std::uint64_t value);
  std::string read_text_attribute(const std::string& name) const;
  std::uint64_t read_number_attribute(const std::string& name) const;
  bool has_attribute(const std::string& name) const;

 private:
  enum class Kind { float32, float64, int32, int64, uint64 };
  template <class T>
  static constexpr Kind kind() {
    if constexpr (std::is_same_v<T, float>) return Kind::float32;
    if constexpr (std::is_same_v<T, double>) return Kind::float64;
    if constexpr (std::is_same_v<T, std::int32_t>) return Kind::int32;
    if constexpr (std::is_same_v<T, std::int64_t>) return Kind::int64;
    if constexpr (std::is_same_v<T, std::uint64_t>) return Kind::uint64;
  }
  static hid_t type(Kind kind);

  Hdf5File(std::filesystem::path path, bool is_writable, Checksums checksums = Checksums::off)
      : path_(std::move(path)), is_writable_(is_writable), checksums_(checksums) {}
  /// Returns a handle or status that is not negative, else throws.
  template <class Handle>
  Handle check(Handle result, const char* what, const std::string& name, const char* advice = "") const;

  void write_bytes(const std::string& name, Kind kind, const void* values, std::size_t count,
                   const Hdf5Shape& shape);
  void write_values(const std::string& name, hid_t type, const void* values, std::size_t count,
                    const Hdf5Shape& shape);
  void create_rows_of(const std::string& name, Kind kind, std::size_t type_size, const Hdf5Shape& row_shape,
                      hsize_t chunk_rows, const void* fill);
  void append_bytes(const std::string& name, Kind kind, const void* rows, std::size_t count,
                    hsize_t row_count);
  /// Shape of a dataset of this file that is being written.
  Hdf5Shape shape_of(hid_t dataset, const std::string& name) const;
  std::size_t checked_size(const std::string& name, const Hdf5Shape& expected) const;
  void read_bytes(const std::string& name, Kind kind, void* values) const;
  std::size_t checked_row_size(const std::string& name, hsize_t begin, hsize_t count,
                               std::size_t row_size) const;
  void read_row_bytes(const std::string& name, Kind kind, void* values, hsize_t begin, hsize_t count) const;
  void close_space(hsize_t size);

  std::filesystem::path path_;
  hid_t file_ = -1;
  int space_ = -1;  // the same file for reserve
  bool is_writable_ = false;
  Checksums checksums_ = Checksums::off;
  mutable bool is_sound_ = true;  // no call on a file to write has failed
};

}  // namespace isocloth

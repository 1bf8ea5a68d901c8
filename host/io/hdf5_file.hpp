// The part of the HDF5 C interface that results need, with every call checked.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace isocloth {

using Hdf5Shape = std::vector<hsize_t>;

template <class T>
hid_t hdf5_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
}

/// An HDF5 file. A file whose writing failed is abandoned, not closed: the library cannot drop what it could
/// not write, and crashes when it tries again (at exit, too, so its exit handler is turned off). Datasets and
/// attributes are named by path ("garments/name"); groups on the way are created. All members throw FileError
/// naming the file, the dataset and the reason.
class Hdf5File {
 public:
  static Hdf5File create(const std::filesystem::path& path);
  static Hdf5File open(const std::filesystem::path& path);
  ~Hdf5File();
  Hdf5File(Hdf5File&& other) noexcept
      : path_(std::move(other.path_)),
        file_(std::exchange(other.file_, -1)),
        is_writable_(other.is_writable_),
        is_sound_(other.is_sound_) {}
  Hdf5File& operator=(Hdf5File&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void flush();
  /// Nothing may be called afterwards.
  void close();

  template <class T>
  void write(const std::string& name, std::span<const T> values, const Hdf5Shape& shape) {
    write_bytes(name, hdf5_type<T>(), values.data(), values.size(), shape);
  }
  void write_texts(const std::string& name, const std::vector<std::string>& texts);

  /// An empty dataset of shape [0, row_shape...] that append extends.
  template <class T>
  void create_rows(const std::string& name, const Hdf5Shape& row_shape) {
    create_rows_of(name, hdf5_type<T>(), H5Tget_size(hdf5_type<T>()), row_shape);
  }
  template <class T>
  void append_row(const std::string& name, std::span<const T> row) {
    append_bytes(name, hdf5_type<T>(), row.data(), row.size());
  }

  Hdf5Shape shape(const std::string& name) const;
  /// The whole dataset; its shape must be `expected`.
  template <class T>
  std::vector<T> read(const std::string& name, const Hdf5Shape& expected) const {
    std::vector<T> values(checked_size(name, expected));
    read_bytes(name, hdf5_type<T>(), values.data());
    return values;
  }
  /// Row number `row` of a dataset of shape [row_count, row_size...].
  template <class T>
  std::vector<T> read_row(const std::string& name, hsize_t row, std::size_t row_size) const {
    std::vector<T> values(row_size);
    read_row_bytes(name, hdf5_type<T>(), values.data(), row, row_size);
    return values;
  }
  std::vector<std::string> read_texts(const std::string& name, std::size_t expected) const;

  /// Attributes of the file itself.
  void write_attribute(const std::string& name, const std::string& value);
  void write_attribute(const std::string& name, std::uint64_t value);
  std::string read_text_attribute(const std::string& name) const;
  std::uint64_t read_number_attribute(const std::string& name) const;

 private:
  Hdf5File(std::filesystem::path path, bool is_writable)
      : path_(std::move(path)), is_writable_(is_writable) {}
  /// Returns a handle or status that is not negative, else throws.
  template <class Handle>
  Handle check(Handle result, const char* what, const std::string& name) const;

  void write_bytes(const std::string& name, hid_t type, const void* values, std::size_t count,
                   const Hdf5Shape& shape);
  void create_rows_of(const std::string& name, hid_t type, std::size_t type_size, const Hdf5Shape& row_shape);
  void append_bytes(const std::string& name, hid_t type, const void* row, std::size_t count);
  std::size_t checked_size(const std::string& name, const Hdf5Shape& expected) const;
  void read_bytes(const std::string& name, hid_t type, void* values) const;
  void read_row_bytes(const std::string& name, hid_t type, void* values, hsize_t row,
                      std::size_t row_size) const;

  std::filesystem::path path_;
  hid_t file_ = -1;
  bool is_writable_ = false;
  mutable bool is_sound_ = true;  // no call on a file to write has failed
};

}  // namespace isocloth

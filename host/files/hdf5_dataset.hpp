// The one way by which numbers and texts of an HDF5 file are read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "host/files/hdf5_library.hpp"

namespace isocloth {

/// A dataset whose bytes lie in the file itself. HDF5 lets a dataset lie elsewhere: behind a link into
/// another file, in external files of raw bytes, or as a view of datasets of other files (a virtual one). All
/// of these are refused before anything of them is opened, as are filters that the library would load a
/// plugin for. And HDF5 lets a shape promise what nobody stored: whatever is read is compared with the bytes
/// that the file has for it before room is made for it. An Hdf5Call must live as long.
class Hdf5Dataset {
 public:
  /// The dataset `name` ("group/dataset") of an open file. Throws FileError naming `path`, the dataset and
  /// the reason.
  Hdf5Dataset(hid_t file, const std::filesystem::path& path, const std::string& name);

  operator hid_t() const { return dataset_; }
  const Hdf5Shape& shape() const { return shape_; }
  hid_t type() const { return type_; }

  /// Whole rows that the file has bytes for, at most shape()[0]: a run that was killed may have written
  /// fewer. 0 for a single number. Compressed rows are refused: one would cost the decompression of many.
  hsize_t stored_rows() const;

  /// Requires numbers, all in the file. Compressed ones (deflate) must not become more than 256 MiB.
  void require_stored_numbers() const;
  /// Requires `count` rows of `row_size` numbers from row `first` on, in the file and not compressed.
  void require_stored_rows(hsize_t first, hsize_t count, std::size_t row_size) const;
  /// Requires `count` texts of one length, all in the file; returns the length.
  std::size_t require_stored_texts(std::size_t count) const;

 private:
  void read_layout();
  [[noreturn]] void refuse(const std::string& what) const;
  void require_numbers() const;
  void require_plain_rows() const;

  std::string path_, name_;
  Hdf5Handle dataset_, type_;
  Hdf5Shape shape_;
  std::uint64_t stored_ = 0;  ///< what the file stores for the dataset [bytes]
  bool is_compressed_ = false;
};

/// A shape as text: [4, 3].
std::string to_string(const Hdf5Shape& shape);

}  // namespace isocloth

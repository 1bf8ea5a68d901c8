#include "host/files/hdf5_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/hdf5_dataset.hpp"

namespace isocloth {
namespace {

constexpr const char* damaged = "; the file is damaged";

/// Most bytes of a chunk: as many as the library caches of a dataset.
constexpr hsize_t chunk_bytes = 1 << 20;

hsize_t product(const Hdf5Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>());
}

std::string unpadded(const char* begin, std::size_t width) {
  return {begin, std::find(begin, begin + width, '\0')};
}

}  // namespace

template <class Result>
Result Hdf5File::check(Result result, const char* what, const std::string& name, const char* advice) const {
  if (result >= 0) return result;
  is_sound_ = !is_writable_;
  throw FileError(text(path_.string(), ": cannot ", what, name.empty() ? "" : " " + name, ": ",
                       last_hdf5_reason(), advice));
}

Hdf5File Hdf5File::create(const std::filesystem::path& path, Checksums checksums) {
  const Hdf5Call call;
  Hdf5File file(path, true, checksums);
  // From 1.8 on headers carry checksums; the marks of 1.10 would make a killed run's file unreadable.
  const Hdf5Handle access(file.check(H5Pcreate(H5P_FILE_ACCESS), "create", ""));
  file.check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), "create", "");
  file.file_ = file.check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create", "");
  return file;
}

Hdf5File Hdf5File::open(const std::filesystem::path& path) {
  // The library's own messages for the commonest mistakes do not name them.
  if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
    throw FileError(text(path.string(), ": not found, expected an HDF5 file"));
  }
  const Hdf5Call call;
  Hdf5File file(path, false);
  file.file_ = file.check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "read as HDF5", "");
  return file;
}

Hdf5File::~Hdf5File() {
  const Hdf5Lock lock;
  hsize_t size = 0;
  // Without memory to close it the file stays as it was flushed last.
  if (file_ >= 0 && is_sound_ && Hdf5Call::has_memory() &&
      (!is_writable_ || H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0)) {
    H5Fget_filesize(file_, &size);
    H5Fclose(file_);
  }
  close_space(size);
}

void Hdf5File::close_space(hsize_t size) {
  if (space_ < 0) return;
  // Room that was not needed goes back; a file that is larger than it says is valid all the same.
  if (size > 0 && ::ftruncate(space_, static_cast<off_t>(size)) != 0) size = 0;
  ::close(std::exchange(space_, -1));
}

void Hdf5File::flush() {
  const Hdf5Call call;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "write", "");
}

void Hdf5File::close() {
  const Hdf5Call call;
  // Flushed first: a close that fails cannot be undone.
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "write", "");
  hsize_t size = 0;
  check(H5Fget_filesize(file_, &size), "close", "");
  check(H5Fclose(std::exchange(file_, -1)), "close", "");
  close_space(size);
}

void Hdf5File::reserve(std::uint64_t bytes) {
  const Hdf5Call call;
  hsize_t size = 0;
  check(H5Fget_filesize(file_, &size), "write", "");
  if (space_ < 0) space_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  const int error = space_ < 0 ? errno
                               : ::posix_fallocate(space_, static_cast<off_t>(size),
                                                   static_cast<off_t>(std::max<std::uint64_t>(1, bytes)));
  if (error != 0) throw FileError(text(path_.string(), ": cannot write: ", std::strerror(error)));
}

hid_t Hdf5File::type(Kind kind) {
  switch (kind) {
    case Kind::float32:
      return H5T_NATIVE_FLOAT;
    case Kind::float64:
      return H5T_NATIVE_DOUBLE;
    case Kind::int32:
      return H5T_NATIVE_INT32;
    case Kind::int64:
      return H5T_NATIVE_INT64;
    case Kind::uint64:
      break;
  }
  return H5T_NATIVE_UINT64;
}

void Hdf5File::write_bytes(const std::string& name, Kind kind, const void* values, std::size_t count,
                           const Hdf5Shape& shape) {
  const Hdf5Call call;
  write_values(name, type(kind), values, count, shape);
}

void Hdf5File::write_values(const std::string& name, hid_t type, const void* values, std::size_t count,
                            const Hdf5Shape& shape) {
  if (product(shape) != count) {
    throw ShapeError(
        text(path_.string(), ": ", name, ": found ", count, " values, expected ", product(shape)));
  }
  const Hdf5Call call;
  const Hdf5Handle links(check(H5Pcreate(H5P_LINK_CREATE), "write", name));
  check(H5Pset_create_intermediate_group(links, 1), "write", name);
  const Hdf5Handle layout(check(H5Pcreate(H5P_DATASET_CREATE), "write", name));
  if (checksums_ == Checksums::on && count > 0) {
    Hdf5Shape chunk = shape;
    chunk[0] = std::clamp<hsize_t>(chunk_bytes / (H5Tget_size(type) * count / chunk[0]), 1, chunk[0]);
    check(H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data()), "write", name);
    check(H5Pset_fletcher32(layout), "write", name);
  }
  const Hdf5Handle space(
      check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), "write", name));
  const Hdf5Handle dataset(
      check(H5Dcreate2(file_, name.c_str(), type, space, links, layout, H5P_DEFAULT), "write", name));
  if (count > 0) check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write", name);
}

void Hdf5File::write_texts(const std::string& name, const std::vector<std::string>& texts) {
  std::size_t width = 1;
  for (const std::string& each : texts) width = std::max(width, each.size());
  std::string padded;
  for (const std::string& each : texts) padded.append(each).append(width - each.size(), '\0');
  const Hdf5Call call;
  const Hdf5Handle type(hdf5_text_type(width));
  write_values(name, type, padded.data(), texts.size(), {texts.size()});
}

void Hdf5File::create_rows_of(const std::string& name, Kind kind, std::size_t type_size,
                              const Hdf5Shape& row_shape, hsize_t chunk_rows, const void* fill) {
  Hdf5Shape shape{0}, most{H5S_UNLIMITED}, chunk{1};
  for (const hsize_t size : row_shape) {
    shape.push_back(size);
    most.push_back(size);
    chunk.push_back(std::max<hsize_t>(size, 1));
  }
  if (chunk.size() > 1)
    chunk[1] = std::clamp<hsize_t>(chunk_bytes / (type_size * product(chunk) / chunk[1]), 1, chunk[1]);
  chunk[0] = std::clamp<hsize_t>(chunk_bytes / (type_size * product(chunk)), 1, chunk_rows);
  const Hdf5Call call;
  const Hdf5Handle links(check(H5Pcreate(H5P_LINK_CREATE), "write", name));
  check(H5Pset_create_intermediate_group(links, 1), "write", name);
  const Hdf5Handle layout(check(H5Pcreate(H5P_DATASET_CREATE), "write", name));
  check(H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data()), "write", name);
  if (checksums_ == Checksums::on) check(H5Pset_fletcher32(layout), "write", name);
  check(H5Pset_fill_value(layout, type(kind), fill), "write", name);
  const Hdf5Handle space(
      check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data()), "write", name));
  const Hdf5Handle dataset(
      check(H5Dcreate2(file_, name.c_str(), type(kind), space, links, layout, H5P_DEFAULT), "write", name));
}

void Hdf5File::append_bytes(const std::string& name, Kind kind, const void* rows, std::size_t count,
                            hsize_t row_count) {
  const Hdf5Call call;
  const Hdf5Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "write", name));
  Hdf5Shape begin = shape_of(dataset, name), size = begin, extent = begin;
  size[0] = row_count;
  if (product(size) != count) {
    throw ShapeError(text(path_.string(), ": ", name, ": found ", count, " values in ", row_count,
                          " rows, expected ", product(size)));
  }
  extent[0] += row_count;
  std::fill(begin.begin() + 1, begin.end(), 0);
  check(H5Dset_extent(dataset, extent.data()), "write", name);
  if (count == 0) return;
  const Hdf5Handle space(check(H5Dget_space(dataset), "write", name));
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr), "write",
        name);
  const Hdf5Handle memory(
      check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), "write", name));
  check(H5Dwrite(dataset, type(kind), memory, space, H5P_DEFAULT, rows), "write", name);
}

Hdf5Shape Hdf5File::shape_of(hid_t dataset, const std::string& name) const {
  const Hdf5Handle space(check(H5Dget_space(dataset), "write", name));
  Hdf5Shape sizes(static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space), "write", name)));
  check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), "write", name);
  return sizes;
}

bool Hdf5File::is_float64(const std::string& name) const {
  const Hdf5Call call;
  const Hdf5Dataset dataset(file_, path_, name);
  return H5Tget_class(dataset.type()) == H5T_FLOAT && H5Tget_size(dataset.type()) == sizeof(double);
}

Hdf5Shape Hdf5File::shape(const std::string& name) const {
  const Hdf5Call call;
  return Hdf5Dataset(file_, path_, name).shape();
}

hsize_t Hdf5File::stored_rows(const std::string& name) const {
  const Hdf5Call call;
  return Hdf5Dataset(file_, path_, name).stored_rows();
}

std::size_t Hdf5File::checked_size(const std::string& name, const Hdf5Shape& expected) const {
  const Hdf5Call call;
  const Hdf5Dataset dataset(file_, path_, name);
  if (dataset.shape() != expected)
    throw FileError(text(path_.string(), ": ", name, ": found the shape ", to_string(dataset.shape()),
                         ", expected ", to_string(expected)));
  dataset.require_stored_numbers();
  return product(expected);
}

void Hdf5File::read_bytes(const std::string& name, Kind kind, void* values) const {
  const Hdf5Call call;
  const Hdf5Dataset dataset(file_, path_, name);
  check(H5Dread(dataset, type(kind), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "read", name, damaged);
}

std::size_t Hdf5File::checked_row_size(const std::string& name, hsize_t first, hsize_t count,
                                       std::size_t row_size) const {
  const Hdf5Call call;
  Hdf5Dataset(file_, path_, name).require_stored_rows(first, count, row_size);
  return count * row_size;
}

void Hdf5File::read_row_bytes(const std::string& name, Kind kind, void* values, hsize_t first,
                              hsize_t count) const {
  const Hdf5Call call;
  const Hdf5Dataset dataset(file_, path_, name);
  Hdf5Shape begin(dataset.shape().size(), 0), size = dataset.shape();
  begin[0] = first;
  size[0] = count;
  const Hdf5Handle space(check(H5Dget_space(dataset), "read", name));
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr), "read",
        name);
  const Hdf5Handle memory(
      check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), "read", name));
  check(H5Dread(dataset, type(kind), memory, space, H5P_DEFAULT, values), "read", name, damaged);
}

std::vector<std::string> Hdf5File::read_texts(const std::string& name, std::size_t expected) const {
  const Hdf5Call call;
  const Hdf5Dataset dataset(file_, path_, name);
  const std::size_t width = dataset.require_stored_texts(expected);
  const Hdf5Handle type(hdf5_text_type(width));
  std::string padded(expected * width, '\0');
  check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()), "read", name, damaged);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < expected; ++i) texts.push_back(unpadded(&padded[i * width], width));
  return texts;
}

void Hdf5File::write_attribute(const std::string& name, const std::string& value) {
  const Hdf5Call call;
  const Hdf5Handle type(hdf5_text_type(value.size()));
  const Hdf5Handle space(check(H5Screate(H5S_SCALAR), "write", name));
  const Hdf5Handle attribute(
      check(H5Acreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), "write", name));
  check(H5Awrite(attribute, type, value.c_str()), "write", name);
}

void Hdf5File::write_attribute(const std::string& name, std::uint64_t value) {
  const Hdf5Call call;
  const Hdf5Handle space(check(H5Screate(H5S_SCALAR), "write", name));
  const Hdf5Handle attribute(check(
      H5Acreate2(file_, name.c_str(), H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT), "write", name));
  check(H5Awrite(attribute, H5T_NATIVE_UINT64, &value), "write", name);
}

std::string Hdf5File::read_text_attribute(const std::string& name) const {
  const Hdf5Call call;
  const Hdf5Handle attribute(check(H5Aopen(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Hdf5Handle space(check(H5Aget_space(attribute), "read", name));
  const Hdf5Handle file_type(check(H5Aget_type(attribute), "read", name));
  const std::size_t width = hdf5_text_width(file_type);
  if (H5Sget_simple_extent_npoints(space) != 1 || width == 0 || width > H5Aget_storage_size(attribute)) {
    throw FileError(text(path_.string(), ": ", name, ": found other data, expected one text"));
  }
  const Hdf5Handle type(hdf5_text_type(width));
  std::string padded(width, '\0');
  check(H5Aread(attribute, type, padded.data()), "read", name);
  return unpadded(padded.data(), width);
}

bool Hdf5File::has_attribute(const std::string& name) const {
  const Hdf5Call call;
  return check(H5Aexists(file_, name.c_str()), "read", name) > 0;
}

std::uint64_t Hdf5File::read_number_attribute(const std::string& name) const {
  const Hdf5Call call;
  const Hdf5Handle attribute(check(H5Aopen(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Hdf5Handle space(check(H5Aget_space(attribute), "read", name));
  if (H5Sget_simple_extent_npoints(space) != 1)
    throw FileError(text(path_.string(), ": ", name, ": found several numbers, expected one"));
  std::uint64_t value = 0;
  check(H5Aread(attribute, H5T_NATIVE_UINT64, &value), "read", name);
  return value;
}

}  // namespace isocloth

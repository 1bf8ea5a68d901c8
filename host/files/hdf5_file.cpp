#include "host/files/hdf5_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

/// Works only before the library's first use in the process, where it matters.
void turn_off_exit_handler() { [[maybe_unused]] static const herr_t once = H5dont_atexit(); }

/// One thread at a time in the library.
std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// Keeps the library to this thread, and from printing its error stack, while it lives.
class Quiet {
 public:
  Quiet() : lock_(library_mutex()) {
    turn_off_exit_handler();
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  const std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Closes a handle of any kind but a file at the end of its scope.
class Handle {
 public:
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() {
    const Quiet quiet;
    H5Idec_ref(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

/// The innermost reason on the library's error stack, in the operating system's words where it has them.
std::string last_reason() {
  std::string reason = "unknown reason";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* data) -> herr_t {
        if (depth == 0 && error->desc) *static_cast<std::string*>(data) = error->desc;
        return 0;
      },
      &reason);
  const std::string mark = "error message = '";
  const std::size_t begin = reason.find(mark);
  if (begin != std::string::npos) {
    reason = reason.substr(begin + mark.size());
    reason = reason.substr(0, reason.find('\''));
  }
  return printable(reason, 200);
}

constexpr const char* damaged = "; the file is damaged";

/// Most bytes of a chunk: as many as the library caches of a dataset.
constexpr hsize_t chunk_bytes = 1 << 20;

hsize_t product(const Hdf5Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>());
}

/// Texts of fixed length, padded with zeros: those of variable length lie outside what HDF5 puts checksums
/// on.
hid_t text_type(std::size_t width) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, std::max<std::size_t>(width, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

/// 0 when the type is not a text of fixed length.
std::size_t text_width(hid_t type) {
  return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
}

std::string unpadded(const char* begin, std::size_t width) {
  return {begin, std::find(begin, begin + width, '\0')};
}

}  // namespace

template <class Result>
Result Hdf5File::check(Result result, const char* what, const std::string& name, const char* advice) const {
  if (result >= 0) return result;
  is_sound_ = !is_writable_;
  throw FileError(
      text(path_.string(), ": cannot ", what, name.empty() ? "" : " " + name, ": ", last_reason(), advice));
}

Hdf5File Hdf5File::create(const std::filesystem::path& path, Checksums checksums) {
  const Quiet quiet;
  Hdf5File file(path, true, checksums);
  // From 1.8 on headers carry checksums; the marks of 1.10 would make a killed run's file unreadable.
  const Handle access(file.check(H5Pcreate(H5P_FILE_ACCESS), "create", ""));
  file.check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), "create", "");
  file.file_ = file.check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create", "");
  return file;
}

Hdf5File Hdf5File::open(const std::filesystem::path& path) {
  // The library's own messages for the commonest mistakes do not name them.
  if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
    throw FileError(text(path.string(), ": not found, expected an HDF5 file"));
  }
  const Quiet quiet;
  Hdf5File file(path, false);
  file.file_ = file.check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "read as HDF5", "");
  return file;
}

Hdf5File::~Hdf5File() {
  const Quiet quiet;
  hsize_t size = 0;
  if (file_ >= 0 && is_sound_ && (!is_writable_ || H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0)) {
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
  const Quiet quiet;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "write", "");
}

void Hdf5File::close() {
  const Quiet quiet;
  // Flushed first: a close that fails cannot be undone.
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "write", "");
  hsize_t size = 0;
  check(H5Fget_filesize(file_, &size), "close", "");
  check(H5Fclose(std::exchange(file_, -1)), "close", "");
  close_space(size);
}

void Hdf5File::reserve(std::uint64_t bytes) {
  const Quiet quiet;
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
  const Quiet quiet;
  write_values(name, type(kind), values, count, shape);
}

void Hdf5File::write_values(const std::string& name, hid_t type, const void* values, std::size_t count,
                            const Hdf5Shape& shape) {
  if (product(shape) != count) {
    throw ShapeError(
        text(path_.string(), ": ", name, ": found ", count, " values, expected ", product(shape)));
  }
  const Quiet quiet;
  const Handle links(check(H5Pcreate(H5P_LINK_CREATE), "write", name));
  check(H5Pset_create_intermediate_group(links, 1), "write", name);
  const Handle layout(check(H5Pcreate(H5P_DATASET_CREATE), "write", name));
  if (checksums_ == Checksums::on && count > 0) {
    Hdf5Shape chunk = shape;
    chunk[0] = std::clamp<hsize_t>(chunk_bytes / (H5Tget_size(type) * count / chunk[0]), 1, chunk[0]);
    check(H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data()), "write", name);
    check(H5Pset_fletcher32(layout), "write", name);
  }
  const Handle space(
      check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), "write", name));
  const Handle dataset(
      check(H5Dcreate2(file_, name.c_str(), type, space, links, layout, H5P_DEFAULT), "write", name));
  if (count > 0) check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write", name);
}

void Hdf5File::write_texts(const std::string& name, const std::vector<std::string>& texts) {
  std::size_t width = 1;
  for (const std::string& each : texts) width = std::max(width, each.size());
  std::string padded;
  for (const std::string& each : texts) padded.append(each).append(width - each.size(), '\0');
  const Quiet quiet;
  const Handle type(text_type(width));
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
  const Quiet quiet;
  const Handle links(check(H5Pcreate(H5P_LINK_CREATE), "write", name));
  check(H5Pset_create_intermediate_group(links, 1), "write", name);
  const Handle layout(check(H5Pcreate(H5P_DATASET_CREATE), "write", name));
  check(H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data()), "write", name);
  if (checksums_ == Checksums::on) check(H5Pset_fletcher32(layout), "write", name);
  check(H5Pset_fill_value(layout, type(kind), fill), "write", name);
  const Handle space(
      check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data()), "write", name));
  const Handle dataset(
      check(H5Dcreate2(file_, name.c_str(), type(kind), space, links, layout, H5P_DEFAULT), "write", name));
}

void Hdf5File::append_bytes(const std::string& name, Kind kind, const void* rows, std::size_t count,
                            hsize_t row_count) {
  Hdf5Shape begin = shape(name), size = begin;
  size[0] = row_count;
  if (product(size) != count) {
    throw ShapeError(text(path_.string(), ": ", name, ": found ", count, " values in ", row_count,
                          " rows, expected ", product(size)));
  }
  Hdf5Shape extent = begin;
  extent[0] += row_count;
  std::fill(begin.begin() + 1, begin.end(), 0);
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "write", name));
  check(H5Dset_extent(dataset, extent.data()), "write", name);
  if (count == 0) return;
  const Handle space(check(H5Dget_space(dataset), "write", name));
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr), "write",
        name);
  const Handle memory(
      check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), "write", name));
  check(H5Dwrite(dataset, type(kind), memory, space, H5P_DEFAULT, rows), "write", name);
}

bool Hdf5File::is_float64(const std::string& name) const {
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle stored(check(H5Dget_type(dataset), "read", name));
  return H5Tget_class(stored) == H5T_FLOAT && H5Tget_size(stored) == sizeof(double);
}

Hdf5Shape Hdf5File::shape(const std::string& name) const {
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle space(check(H5Dget_space(dataset), "read", name));
  Hdf5Shape sizes(static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space), "read", name)));
  check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), "read", name);
  return sizes;
}

std::size_t Hdf5File::checked_size(const std::string& name, const Hdf5Shape& expected) const {
  const Hdf5Shape found = shape(name);
  if (found != expected) {
    const auto list = [](const Hdf5Shape& sizes) {
      std::string all;
      for (const hsize_t size : sizes) all += text(all.empty() ? "" : ", ", size);
      return "[" + all + "]";
    };
    throw FileError(
        text(path_.string(), ": ", name, ": found the shape ", list(found), ", expected ", list(expected)));
  }
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  // A damaged shape must not become a huge allocation.
  const Handle stored_type(check(H5Dget_type(dataset), "read", name));
  if (product(found) > H5Dget_storage_size(dataset) / std::max<std::size_t>(1, H5Tget_size(stored_type))) {
    throw FileError(
        text(path_.string(), ": ", name, ": found less data than its shape says; the file is damaged"));
  }
  return product(found);
}

void Hdf5File::read_bytes(const std::string& name, Kind kind, void* values) const {
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  check(H5Dread(dataset, type(kind), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "read", name, damaged);
}

void Hdf5File::read_row_bytes(const std::string& name, Kind kind, void* values, hsize_t first, hsize_t count,
                              std::size_t row_size) const {
  Hdf5Shape begin = shape(name), size = begin;
  const hsize_t row_count = begin.empty() ? 0 : begin[0];
  if (!size.empty()) size[0] = 1;
  if (count > row_count || first > row_count - count || product(size) != row_size) {
    throw FileError(text(path_.string(), ": ", name, ": found ", row_count, " rows of ", product(size),
                         ", expected rows ", first, " to ", first + count, " of ", row_size));
  }
  std::fill(begin.begin() + 1, begin.end(), 0);
  begin[0] = first;
  size[0] = count;
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle space(check(H5Dget_space(dataset), "read", name));
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr), "read",
        name);
  const Handle memory(
      check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), "read", name));
  check(H5Dread(dataset, type(kind), memory, space, H5P_DEFAULT, values), "read", name, damaged);
}

std::vector<std::string> Hdf5File::read_texts(const std::string& name, std::size_t expected) const {
  const Hdf5Shape found = shape(name);
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle file_type(check(H5Dget_type(dataset), "read", name));
  const std::size_t width = text_width(file_type);
  if (found != Hdf5Shape{expected} || width == 0 || width > H5Dget_storage_size(dataset)) {
    throw FileError(text(path_.string(), ": ", name, ": found other data, expected ", expected, " texts"));
  }
  const Handle type(text_type(width));
  std::string padded(expected * width, '\0');
  check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()), "read", name, damaged);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < expected; ++i) texts.push_back(unpadded(&padded[i * width], width));
  return texts;
}

void Hdf5File::write_attribute(const std::string& name, const std::string& value) {
  const Quiet quiet;
  const Handle type(text_type(value.size()));
  const Handle space(check(H5Screate(H5S_SCALAR), "write", name));
  const Handle attribute(
      check(H5Acreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), "write", name));
  check(H5Awrite(attribute, type, value.c_str()), "write", name);
}

void Hdf5File::write_attribute(const std::string& name, std::uint64_t value) {
  const Quiet quiet;
  const Handle space(check(H5Screate(H5S_SCALAR), "write", name));
  const Handle attribute(check(
      H5Acreate2(file_, name.c_str(), H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT), "write", name));
  check(H5Awrite(attribute, H5T_NATIVE_UINT64, &value), "write", name);
}

std::string Hdf5File::read_text_attribute(const std::string& name) const {
  const Quiet quiet;
  const Handle attribute(check(H5Aopen(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle space(check(H5Aget_space(attribute), "read", name));
  const Handle file_type(check(H5Aget_type(attribute), "read", name));
  const std::size_t width = text_width(file_type);
  if (H5Sget_simple_extent_npoints(space) != 1 || width == 0 || width > H5Aget_storage_size(attribute)) {
    throw FileError(text(path_.string(), ": ", name, ": found other data, expected one text"));
  }
  const Handle type(text_type(width));
  std::string padded(width, '\0');
  check(H5Aread(attribute, type, padded.data()), "read", name);
  return unpadded(padded.data(), width);
}

bool Hdf5File::has_attribute(const std::string& name) const {
  const Quiet quiet;
  return check(H5Aexists(file_, name.c_str()), "read", name) > 0;
}

std::uint64_t Hdf5File::read_number_attribute(const std::string& name) const {
  const Quiet quiet;
  const Handle attribute(check(H5Aopen(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle space(check(H5Aget_space(attribute), "read", name));
  if (H5Sget_simple_extent_npoints(space) != 1)
    throw FileError(text(path_.string(), ": ", name, ": found several numbers, expected one"));
  std::uint64_t value = 0;
  check(H5Aread(attribute, H5T_NATIVE_UINT64, &value), "read", name);
  return value;
}

}  // namespace isocloth

#include "host/io/hdf5_file.hpp"

#include <algorithm>
#include <numeric>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/io/text_file.hpp"

namespace isocloth {
namespace {

/// Keeps the library from printing its error stack while it lives.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
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

/// Works only before the library's first use in the process, where it matters.
void turn_off_exit_handler() { [[maybe_unused]] static const herr_t once = H5dont_atexit(); }

hsize_t product(const Hdf5Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>());
}

hid_t text_type() {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

}  // namespace

template <class Result>
Result Hdf5File::check(Result result, const char* what, const std::string& name) const {
  if (result >= 0) return result;
  is_sound_ = !is_writable_;
  throw FileError(
      text(path_.string(), ": cannot ", what, name.empty() ? "" : " " + name, ": ", last_reason()));
}

Hdf5File Hdf5File::create(const std::filesystem::path& path) {
  turn_off_exit_handler();
  const Quiet quiet;
  Hdf5File file(path, true);
  file.file_ = file.check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create", "");
  return file;
}

Hdf5File Hdf5File::open(const std::filesystem::path& path) {
  // The library's own messages for the commonest mistakes do not name them.
  if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
    throw FileError(text(path.string(), ": not found, expected an HDF5 file"));
  }
  turn_off_exit_handler();
  const Quiet quiet;
  Hdf5File file(path, false);
  file.file_ = file.check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "read as HDF5", "");
  return file;
}

Hdf5File::~Hdf5File() {
  const Quiet quiet;
  if (file_ >= 0 && is_sound_ && (!is_writable_ || H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0)) H5Fclose(file_);
}

void Hdf5File::flush() {
  const Quiet quiet;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "write", "");
}

void Hdf5File::close() {
  const Quiet quiet;
  // Flushed first: a close that fails cannot be undone.
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "write", "");
  check(H5Fclose(std::exchange(file_, -1)), "close", "");
}

void Hdf5File::write_bytes(const std::string& name, hid_t type, const void* values, std::size_t count,
                           const Hdf5Shape& shape) {
  if (product(shape) != count) {
    throw ShapeError(
        text(path_.string(), ": ", name, ": found ", count, " values, expected ", product(shape)));
  }
  const Quiet quiet;
  const Handle links(check(H5Pcreate(H5P_LINK_CREATE), "write", name));
  check(H5Pset_create_intermediate_group(links, 1), "write", name);
  const Handle space(
      check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), "write", name));
  const Handle dataset(
      check(H5Dcreate2(file_, name.c_str(), type, space, links, H5P_DEFAULT, H5P_DEFAULT), "write", name));
  if (count > 0) check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write", name);
}

void Hdf5File::write_texts(const std::string& name, const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& each : texts) pointers.push_back(each.c_str());
  const Handle type(text_type());
  write_bytes(name, type, pointers.data(), pointers.size(), {pointers.size()});
}

void Hdf5File::create_rows_of(const std::string& name, hid_t type, std::size_t type_size,
                              const Hdf5Shape& row_shape) {
  constexpr hsize_t chunk_bytes = 1 << 16;
  Hdf5Shape shape{0}, most{H5S_UNLIMITED}, chunk{1};
  for (const hsize_t size : row_shape) {
    shape.push_back(size);
    most.push_back(size);
    chunk.push_back(std::clamp<hsize_t>(size, 1, chunk_bytes));
  }
  chunk[0] = std::max<hsize_t>(1, chunk_bytes / (type_size * product(chunk)));
  const Quiet quiet;
  const Handle links(check(H5Pcreate(H5P_LINK_CREATE), "write", name));
  check(H5Pset_create_intermediate_group(links, 1), "write", name);
  const Handle layout(check(H5Pcreate(H5P_DATASET_CREATE), "write", name));
  check(H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data()), "write", name);
  const Handle space(
      check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data()), "write", name));
  const Handle dataset(
      check(H5Dcreate2(file_, name.c_str(), type, space, links, layout, H5P_DEFAULT), "write", name));
}

void Hdf5File::append_bytes(const std::string& name, hid_t type, const void* row, std::size_t count) {
  Hdf5Shape begin = shape(name), size = begin;
  size[0] = 1;
  if (product(size) != count) {
    throw ShapeError(
        text(path_.string(), ": ", name, ": found a row of ", count, ", expected ", product(size)));
  }
  Hdf5Shape extent = begin;
  extent[0] += 1;
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
  check(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, row), "write", name);
}

Hdf5Shape Hdf5File::shape(const std::string& name) const {
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle space(check(H5Dget_space(dataset), "read", name));
  Hdf5Shape sizes(static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space), "read", name)));
  check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), "read", name);
  return sizes;
}

std::size_t Hdf5File::checked_size(const std::string& name, std::size_t type_size,
                                   const Hdf5Shape& expected) const {
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
  if (product(found) > H5Dget_storage_size(dataset) / type_size + type_size) {
    throw FileError(
        text(path_.string(), ": ", name, ": found less data than its shape says; the file is damaged"));
  }
  return product(found);
}

void Hdf5File::read_bytes(const std::string& name, hid_t type, void* values) const {
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "read", name);
}

void Hdf5File::read_row_bytes(const std::string& name, hid_t type, void* values, hsize_t row,
                              std::size_t row_size) const {
  Hdf5Shape begin = shape(name), size = begin;
  const hsize_t row_count = begin.empty() ? 0 : begin[0];
  if (!size.empty()) size[0] = 1;
  if (row >= row_count || product(size) != row_size) {
    throw FileError(text(path_.string(), ": ", name, ": found ", row_count, " rows of ", product(size),
                         ", expected row ", row, " of ", row_size));
  }
  std::fill(begin.begin() + 1, begin.end(), 0);
  begin[0] = row;
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle space(check(H5Dget_space(dataset), "read", name));
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr), "read",
        name);
  const Handle memory(
      check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), "read", name));
  check(H5Dread(dataset, type, memory, space, H5P_DEFAULT, values), "read", name);
}

std::vector<std::string> Hdf5File::read_texts(const std::string& name, std::size_t expected) const {
  if (shape(name) != Hdf5Shape{expected}) {
    throw FileError(text(path_.string(), ": ", name, ": found another number of texts, expected ", expected));
  }
  const Quiet quiet;
  const Handle dataset(check(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), "read", name));
  const Handle space(check(H5Dget_space(dataset), "read", name));
  const Handle type(text_type());
  std::vector<char*> pointers(expected, nullptr);
  if (expected == 0) return {};
  check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), "read", name);
  std::vector<std::string> texts;
  for (const char* each : pointers) texts.emplace_back(each ? each : "");
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
  return texts;
}

void Hdf5File::write_attribute(const std::string& name, const std::string& value) {
  const Quiet quiet;
  const Handle type(text_type());
  const Handle space(check(H5Screate(H5S_SCALAR), "write", name));
  const Handle attribute(
      check(H5Acreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), "write", name));
  const char* const pointer = value.c_str();
  check(H5Awrite(attribute, type, &pointer), "write", name);
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
  const Handle type(text_type());
  if (H5Sget_simple_extent_npoints(space) != 1)
    throw FileError(text(path_.string(), ": ", name, ": found several texts, expected one"));
  char* pointer = nullptr;
  check(H5Aread(attribute, type, &pointer), "read", name);
  const std::string value = pointer ? pointer : "";
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, &pointer);
  return value;
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

#include "host/files/hdf5_dataset.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

/// Most bytes that compressed numbers may become: half a second of a bomb.
constexpr std::uint64_t most_inflated = std::uint64_t{256} << 20;

constexpr const char* repack = "h5repack -f NONE FROM TO writes it without";

/// The product, or the largest number where it is not below that.
std::uint64_t bounded_product(std::span<const hsize_t> sizes, std::uint64_t product = 1) {
  if (std::ranges::find(sizes, hsize_t{0}) != sizes.end()) return 0;
  for (const hsize_t size : sizes) {
    if (size > std::numeric_limits<std::uint64_t>::max() / product)
      return std::numeric_limits<std::uint64_t>::max();
    product *= size;
  }
  return product;
}

[[noreturn]] void refuse_reading(const std::string& path, const std::string& name, const std::string& why) {
  throw FileError(text(path, ": cannot read ", name, ": ", why));
}

hid_t checked(hid_t handle, const std::string& path, const std::string& name) {
  if (handle < 0) refuse_reading(path, name, last_hdf5_reason());
  return handle;
}

/// Opens a dataset after its way there: every link must be one to something in this file, or opening would
/// follow it.
hid_t open_own(hid_t file, const std::string& path, const std::string& name) {
  const Hdf5Call call;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = name.find('/', end + 1);
    const std::string part = name.substr(0, end);
    H5L_info_t link;
    if (H5Lget_info(file, part.c_str(), &link, H5P_DEFAULT) < 0)
      refuse_reading(path, name, last_hdf5_reason());
    if (link.type != H5L_TYPE_HARD)
      throw FileError(text(path, ": ", part, ": found a link",
                           link.type == H5L_TYPE_EXTERNAL ? " to another file" : "",
                           ", expected the dataset itself; copy it into the file"));
  }
  return checked(H5Dopen2(file, name.c_str(), H5P_DEFAULT), path, name);
}

}  // namespace

std::string to_string(const Hdf5Shape& shape) {
  std::string all;
  for (const hsize_t size : shape) all += text(all.empty() ? "" : ", ", size);
  return "[" + all + "]";
}

Hdf5Dataset::Hdf5Dataset(hid_t file, const std::filesystem::path& path, const std::string& name)
    : path_(path.string()),
      name_(name),
      dataset_(open_own(file, path_, name)),
      type_(checked(H5Dget_type(dataset_), path_, name)) {
  read_layout();
  const Hdf5Handle space(checked(H5Dget_space(dataset_), path_, name_));
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0) refuse_reading(path_, name_, last_hdf5_reason());
  shape_.resize(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, shape_.data(), nullptr);
  hsize_t file_size = 0;
  if (H5Fget_filesize(file, &file_size) < 0) refuse_reading(path_, name_, last_hdf5_reason());
  // Chunks may claim the same bytes many times over.
  stored_ = std::min<std::uint64_t>(H5Dget_storage_size(dataset_), file_size);
}

void Hdf5Dataset::refuse(const std::string& what) const {
  throw FileError(text(path_, ": ", name_, ": ", what));
}

void Hdf5Dataset::read_layout() {
  const Hdf5Handle creation(checked(H5Dget_create_plist(dataset_), path_, name_));
  const H5D_layout_t layout = H5Pget_layout(creation);
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
    refuse(text("found ", layout == H5D_VIRTUAL ? "a view of other datasets" : "an unknown layout",
                ", expected numbers in the file itself; copy them into it"));
  if (H5Pget_external_count(creation) != 0)
    refuse("found numbers that lie in another file, expected them in this one; copy them into it");
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
      refuse(text("found the filter ", filter, ", expected none or deflate; ", repack));
    is_compressed_ = is_compressed_ || filter == H5Z_FILTER_DEFLATE;
  }
  if (layout != H5D_CHUNKED) return;
  hsize_t chunk[H5S_MAX_RANK];
  const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
  // The library makes room for a whole chunk, whatever of it is asked for.
  const std::uint64_t bytes = bounded_product(
      std::span<const hsize_t>(chunk, static_cast<std::size_t>(std::max(rank, 0))), H5Tget_size(type_));
  if (bytes > most_inflated)
    refuse(text("found chunks of ", bytes, " bytes, expected at most ", most_inflated, "; ", repack));
}

hsize_t Hdf5Dataset::stored_rows() const {
  require_plain_rows();
  if (shape_.empty()) return 0;
  const std::uint64_t row = bounded_product(std::span(shape_).subspan(1), H5Tget_size(type_));
  return row == 0 ? shape_[0] : std::min<hsize_t>(shape_[0], stored_ / row);
}

void Hdf5Dataset::require_plain_rows() const {
  if (is_compressed_) refuse(text("found compressed rows, expected others; ", repack));
}

void Hdf5Dataset::require_numbers() const {
  const H5T_class_t kind = H5Tget_class(type_);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) refuse("found other data, expected numbers");
}

void Hdf5Dataset::require_stored_numbers() const {
  require_numbers();
  const std::size_t size = H5Tget_size(type_);
  const std::uint64_t bytes = bounded_product(shape_, is_compressed_ ? std::max(size, sizeof(double)) : size);
  if (is_compressed_ && bytes > most_inflated)
    refuse(
        text("found ", bytes, " bytes that are compressed, expected at most ", most_inflated, "; ", repack));
  if (!is_compressed_ && bytes > stored_) refuse("found less data than its shape says; the file is damaged");
}

void Hdf5Dataset::require_stored_rows(hsize_t first, hsize_t count, std::size_t row_size) const {
  require_numbers();
  const hsize_t rows = shape_.empty() ? 0 : shape_[0];
  const std::uint64_t row = shape_.empty() ? 0 : bounded_product(std::span(shape_).subspan(1));
  if (count > rows || first > rows - count || row != row_size)
    refuse(text("found ", rows, " rows of ", row, ", expected rows ", first, " to ", first + count, " of ",
                row_size));
  require_plain_rows();
  const hsize_t sizes[] = {count, row, H5Tget_size(type_)};
  if (bounded_product(sizes) > stored_) refuse("found less data than its shape says; the file is damaged");
}

std::size_t Hdf5Dataset::require_stored_texts(std::size_t count) const {
  const std::size_t width = hdf5_text_width(type_);
  const hsize_t sizes[] = {count, width};
  if (shape_ != Hdf5Shape{count} || width == 0 || is_compressed_ || bounded_product(sizes) > stored_)
    refuse(text("found other data, expected ", count, " texts"));
  return width;
}

}  // namespace isocloth

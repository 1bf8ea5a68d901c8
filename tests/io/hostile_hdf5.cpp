#include "tests/io/hostile_hdf5.hpp"

#include <numeric>

#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

using Shape = std::vector<hsize_t>;
namespace fs = std::filesystem;

hid_t space_of(const Shape& shape) {
  return H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
}

/// Creates a dataset of doubles by a creation list that `prepare` fills.
template <class Prepare>
hid_t create(hid_t file, const char* name, const Shape& shape, const Prepare& prepare,
             hid_t type = H5T_NATIVE_DOUBLE) {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE),
              space = space_of(shape);
  H5Pset_create_intermediate_group(links, 1);
  prepare(creation, space);
  const hid_t dataset = H5Dcreate2(file, name, type, space, links, creation, H5P_DEFAULT);
  H5Sclose(space);
  H5Pclose(links);
  H5Pclose(creation);
  return dataset;
}

void put_external_storage(hid_t file, const char* name, const Shape& shape, const fs::path& folder) {
  H5Dclose(create(file, name, shape, [&](hid_t creation, hid_t) {
    H5Pset_external(creation, (folder / "canary.bin").c_str(), 0, H5F_UNLIMITED);
  }));
}
void put_external_link(hid_t file, const char* name, const Shape&, const fs::path& folder) {
  H5Lcreate_external((folder / "canary.h5").c_str(), "numbers", file, name, H5P_DEFAULT, H5P_DEFAULT);
}
void put_soft_link(hid_t file, const char* name, const Shape& shape, const fs::path& folder) {
  put_external_link(file, "elsewhere", shape, folder);
  H5Lcreate_soft("/elsewhere", file, name, H5P_DEFAULT, H5P_DEFAULT);
}
void put_virtual(hid_t file, const char* name, const Shape& shape, const fs::path& folder) {
  H5Dclose(create(file, name, shape, [&](hid_t creation, hid_t space) {
    H5Pset_virtual(creation, space, (folder / "canary.h5").c_str(), "numbers", space);
  }));
}
void put_unknown_filter(hid_t file, const char* name, const Shape& shape, const fs::path&) {
  H5Dclose(create(file, name, shape, [&](hid_t creation, hid_t) {
    H5Pset_chunk(creation, static_cast<int>(shape.size()), shape.data());
    H5Pset_scaleoffset(creation, H5Z_SO_FLOAT_DSCALE, 3);
  }));
}
/// 2^61 rows, of which three numbers times eight bytes wrap to what is there.
void put_wrapping_shape(hid_t file, const char* name, const Shape& shape, const fs::path&) {
  Shape wraps = shape, chunk(shape.size(), 1);
  wraps[0] += hsize_t{1} << 61;
  H5Dclose(create(file, name, wraps, [&](hid_t creation, hid_t) {
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  }));
}
/// Ten million rows of which nothing is stored.
void put_nothing_stored(hid_t file, const char* name, const Shape& shape, const fs::path&) {
  Shape large = shape, chunk(shape.size(), 1);
  large[0] += 10'000'000;
  H5Dclose(create(file, name, large, [&](hid_t creation, hid_t) {
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  }));
}
/// 8 GB of zeros in chunks of 8 MiB, compressed a thousand times: one of them is there.
void put_bomb(hid_t file, const char* name, const Shape& shape, const fs::path&) {
  Shape large = shape, chunk(shape.size(), 1);
  const hsize_t row = std::accumulate(shape.begin() + 1, shape.end(), hsize_t{1}, std::multiplies<>());
  large[0] = (hsize_t{1} << 30) / row;
  chunk = large;
  chunk[0] = (hsize_t{1} << 20) / row;
  const hid_t dataset = create(file, name, large, [&](hid_t creation, hid_t) {
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(creation, 1);
  });
  const std::vector<double> zeros(chunk[0] * row, 0);
  const hid_t memory = space_of(chunk), space = H5Dget_space(dataset);
  const Shape begin(shape.size(), 0);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, chunk.data(), nullptr);
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, zeros.data());
  H5Sclose(space);
  H5Sclose(memory);
  H5Dclose(dataset);
}
void put_group(hid_t file, const char* name, const Shape&, const fs::path&) {
  H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}
/// Texts, which lie in a heap of their own.
void put_texts(hid_t file, const char* name, const Shape& shape, const fs::path&) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Dclose(create(
      file, name, shape, [](hid_t, hid_t) {}, type));
  H5Tclose(type);
}
void put_no_dimension(hid_t file, const char* name, const Shape&, const fs::path&) {
  const hid_t space = H5Screate(H5S_SCALAR);
  H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
}

}  // namespace

const std::vector<HostileDataset>& hostile_datasets() {
  static const std::vector<HostileDataset> all = {{"external storage", put_external_storage},
                                                  {"external link", put_external_link},
                                                  {"soft link", put_soft_link},
                                                  {"virtual", put_virtual},
                                                  {"unknown filter", put_unknown_filter},
                                                  {"wrapping shape", put_wrapping_shape},
                                                  {"nothing stored", put_nothing_stored},
                                                  {"bomb", put_bomb},
                                                  {"group", put_group},
                                                  {"texts", put_texts},
                                                  {"no dimension", put_no_dimension}};
  return all;
}

void write_canaries(const fs::path& folder, const Shape& shape) {
  const std::vector<double> numbers(
      std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>()), canary);
  write_whole_file(folder / "canary.bin",
                   {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
  const hid_t file = H5Fcreate((folder / "canary.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t dataset = create(file, "numbers", shape, [](hid_t, hid_t) {});
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
  H5Dclose(dataset);
  H5Fclose(file);
}

bool make_hostile(const fs::path& path, const std::string& name, const HostileDataset& kind) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT), space = H5Dget_space(dataset);
  Shape shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  const bool has_rows = H5Sget_simple_extent_npoints(space) > 0;
  H5Sclose(space);
  H5Dclose(dataset);
  if (has_rows) {
    write_canaries(path.parent_path(), shape);
    H5Ldelete(file, name.c_str(), H5P_DEFAULT);
    kind.put(file, name.c_str(), shape, path.parent_path());
  }
  H5Fclose(file);
  return has_rows;
}

std::vector<std::string> dataset_names(const fs::path& path) {
  std::vector<std::string> names;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Lvisit(
      file, H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t root, const char* name, const H5L_info_t*, void* found) -> herr_t {
        const hid_t object = H5Oopen(root, name, H5P_DEFAULT);
        if (H5Iget_type(object) == H5I_DATASET)
          static_cast<std::vector<std::string>*>(found)->emplace_back(name);
        H5Oclose(object);
        return 0;
      },
      &names);
  H5Fclose(file);
  return names;
}

}  // namespace isocloth

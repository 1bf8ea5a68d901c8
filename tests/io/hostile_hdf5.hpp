// Datasets that lie, or that lie elsewhere than in their file: what HDF5 allows and a reader of a stranger's
// file must not.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <string>
#include <vector>

namespace isocloth {

/// Puts a hostile dataset in the place of another one.
struct HostileDataset {
  const char* name;
  /// Creates the dataset at `name` of an open file whose folder has canary.bin (raw bytes) and canary.h5 (a
  /// dataset `numbers` of `shape`).
  void (*put)(hid_t file, const char* name, const std::vector<hsize_t>& shape,
              const std::filesystem::path& folder);
};

/// All kinds. Shapes are those of what was there, but for those that lie about them.
const std::vector<HostileDataset>& hostile_datasets();

/// All numbers of canary.bin and canary.h5.
inline constexpr double canary = 1234567;

/// Writes canary.bin and canary.h5 of at least this shape.
void write_canaries(const std::filesystem::path& folder, const std::vector<hsize_t>& shape);

/// Replaces the dataset; returns false if it has no rows.
bool make_hostile(const std::filesystem::path& path, const std::string& name, const HostileDataset& kind);

/// Names of all datasets of a file.
std::vector<std::string> dataset_names(const std::filesystem::path& path);

}  // namespace isocloth

// The folder of a sweep while it grows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "host/io/result_folder.hpp"
#include "host/sweep/sweep_table.hpp"

namespace isocloth {

/// One batch that was simulated.
struct SweepBatch {
  std::size_t first = 0, count = 0;  ///< cases
  double wall_seconds = 0;
  double realtime_factor = 0;  ///< simulated seconds of all its cases together per second
};

class SweepFolder {
 public:
  /// Checks the place, creates nothing. Throws FileError: see IfExists, with sweep.json as the mark of a
  /// sweep.
  SweepFolder(const std::filesystem::path& dir, IfExists if_exists);
  /// Removes what it created unless something was saved.
  ~SweepFolder();
  SweepFolder(const SweepFolder&) = delete;
  SweepFolder& operator=(const SweepFolder&) = delete;

  /// Takes over the rows of the sweep to resume. `plan`: what must be the same. Throws FileError naming the
  /// part that differs, or damage.
  void resume(SweepTable& table, const Json& plan);
  /// Creates the folder and the folders above it, with the scene and an empty table.
  void create(const SweepTable& table, const Json& plan, const std::string& scene_text);
  /// The table as far as it is, and what is known of how it came about.
  void save(const SweepTable& table, const Json& plan, const Json& execution);
  void add(const SweepBatch& batch);
  /// sweep.svg and sweep.html.
  void write_pictures(const SweepTable& table, const std::string& title);
  const std::filesystem::path& path() const { return dir_; }

 private:
  std::filesystem::path dir_;
  IfExists if_exists_;
  std::vector<std::filesystem::path> created_;  // from the top down
  bool is_saved_ = false;
  Json batches_ = Json::array();
};

}  // namespace isocloth

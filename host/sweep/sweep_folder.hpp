// The folder of a sweep while it grows.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "host/results/output_folder.hpp"
#include "host/sweep/sweep_table.hpp"

namespace isocloth {

/// One batch that was simulated.
struct SweepBatch {
  std::size_t first = 0, count = 0;  ///< number of the first case, and of cases
  double wall_seconds = 0;
  double realtime_factor = 0;  ///< simulated seconds of all its cases together per second
};

class SweepFolder {
 public:
  /// Checks the place, creates nothing. Throws FileError: see IfExists, with sweep.json as the mark of a
  /// sweep.
  SweepFolder(const std::filesystem::path& dir, IfExists if_exists);

  /// Takes over the rows of the sweep to resume. `plan`: what must be the same. Throws FileError naming the
  /// part that differs, or damage.
  void resume(SweepTable& table, const Json& plan);
  /// Creates the folder and the folders above it, empty; an earlier sweep stays as it is until the first
  /// save. Throws FileError where it cannot, or cannot write there.
  void create(const std::string& scene_text);
  /// Writes the scene and the table as far as it is, and what is known of how it came about.
  void save(const SweepTable& table, const Json& plan, const Json& execution);
  /// Saves as save() does where it is worth its time, as each save writes the whole table, so that a reader
  /// never sees a part of it: when the rows have become a twentieth more, or saving takes less than a
  /// twentieth of the time.
  void save_often(const SweepTable& table, const Json& plan, const Json& execution);
  void add(const SweepBatch& batch);
  /// Number of rows in the table on disk.
  std::size_t saved_rows() const { return saved_rows_; }
  /// Writes sweep.svg and sweep.html.
  void write_pictures(const SweepTable& table, const std::string& title);
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  using Clock = std::chrono::steady_clock;

  OutputFolder folder_;  // which stays where something was saved
  std::string scene_text_;
  std::size_t saved_rows_ = 0;
  Clock::time_point saved_at_{};
  Clock::duration save_took_{};
  Json batches_ = Json::array();
};

}  // namespace isocloth

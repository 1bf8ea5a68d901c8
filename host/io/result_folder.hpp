// The folder that a run leaves behind: summary.json, metrics.csv, trajectory.h5, scene.json, on request
// frames/*.ply and checkpoint.h5.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/io/checkpoint_file.hpp"
#include "host/io/trajectory_file.hpp"

namespace isocloth {

/// What to do with a folder that is already there.
enum class IfExists {
  refuse,     ///< unless it is empty
  overwrite,  ///< a result folder is replaced when the run finishes; anything else is refused
  resume,     ///< a result folder with a checkpoint is continued, and replaced when the run finishes
};

struct ResultOptions {
  IfExists if_exists = IfExists::refuse;
  bool ply_frames = false;                   ///< write frames/000000.ply, ... too
  Precision precision = Precision::float64;  ///< of the run, for resume
  /// Garments, the first ones, whose positions frames keep; none: as many as fit into 256 MiB, one at least.
  /// A resumed run keeps those that it began with.
  std::optional<std::size_t> frames_of = {};
};

/// Writes into DIR.partial-PID beside DIR; `publish` renames it to DIR. Destroyed before that, it removes
/// what it wrote: nothing half done is left, and an earlier DIR stays. A killed run leaves the partial
/// folder, complete up to its last frame; it can be resumed under its own name.
///
///   ResultFolder results(dir, scene, portable_scene_text(scene_path), options);
///   if (const auto& from = results.resumed_from()) ...             // set state, step index and totals
///   results.add_frame(step, time, positions, metrics);             // frame 0 is the start, unless resumed
///   results.save_checkpoint(checkpoint);                           // whenever wanted
///   results.close(summary);                                        // then reports can be written to
///   working_path() results.publish();
class ResultFolder {
 public:
  /// Creates the folders above DIR that are missing. Throws FileError before anything is simulated: DIR
  /// exists (see IfExists), its parent is not writable, frames_of differs from that of the run to resume, the
  /// checkpoint to resume from is missing or does not fit the scene (read_checkpoint). The scene must outlive
  /// the folder.
  ResultFolder(const std::filesystem::path& dir, const Scene& scene, const std::string& scene_text,
               const ResultOptions& options = {});
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  /// The checkpoint that the run continues from; frames up to its step have been carried over.
  const std::optional<Checkpoint>& resumed_from() const { return resumed_from_; }
  std::int64_t frame_count() const { return frame_count_; }
  /// Garments, the first ones, whose positions frames keep.
  std::size_t frames_of() const { return layout_.frames_of(); }
  /// Worst status of a garment in all frames so far.
  StepStatus worst_status(std::size_t garment) const { return worst_[garment]; }
  /// Where files lie until publish.
  const std::filesystem::path& working_path() const { return working_; }

  /// Appends a frame to trajectory.h5, metrics.csv and, on request, frames/. `positions` [m] and `metrics`
  /// have one entry per garment; of positions only the first frames_of() are used; `bodies` of the scene.
  /// Throws NumericalError for a non-finite number (nothing is written), ShapeError, FileError.
  void add_frame(std::int64_t step, double time, const std::vector<std::vector<Vec3d>>& positions,
                 const std::vector<FrameMetrics>& metrics, const std::vector<BodyState>& bodies = {});
  /// Replaces checkpoint.h5.
  void save_checkpoint(const Checkpoint& checkpoint);
  /// Writes summary.json and closes the trajectory; no frame can be added afterwards.
  void close(const RunSummary& summary);
  /// Renames to DIR; call close first.
  void publish();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void check_target() const;
  std::size_t chosen_frames_of() const;
  void create_parents();
  void remove_unpublished();
  void start_files(const std::string& scene_text);
  void carry_over();
  void add_frame(const TrajectoryFrame& frame);
  void write_metrics(const std::string& lines);

  std::filesystem::path dir_, working_;
  std::vector<std::filesystem::path> parents_;  // made for this run, from the top down
  const Scene& scene_;
  ResultOptions options_;
  TrajectoryLayout layout_;
  Mesh mesh_;  // all garments, for frames/
  std::vector<std::string> names_;
  std::vector<StepStatus> worst_;  // shape [garment]
  std::optional<Checkpoint> resumed_from_;
  std::optional<TrajectoryWriter> trajectory_;
  std::unique_ptr<std::FILE, CloseFile> metrics_;
  std::int64_t frame_count_ = 0;
  bool published_ = false;
};

}  // namespace isocloth

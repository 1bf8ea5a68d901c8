// The folder that a run leaves behind: summary.json, metrics.csv, trajectory.h5, scene.json, on request
// frames/*.ply and checkpoint.h5.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/results/checkpoint_file.hpp"
#include "host/results/frame_writer.hpp"
#include "host/results/trajectory_file.hpp"
#include "host/results/trajectory_writer.hpp"
#include "host/results/working_folder.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/measures.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

/// Writes into a WorkingFolder beside DIR; `publish` renames it to DIR. Frames are written by a thread of
/// their own. Destroyed before it is published, it removes what it wrote if that is no more than the start,
/// and an earlier DIR stays; what has been computed stays under working_path(), and a resumed run finds it
/// there, as it finds what a killed one left: frames up to half a second before the end and a checkpoint.
///
///   ResultFolder results(dir, scene, portable_scene_text(scene_path), options);
///   if (const auto& from = results.resumed_from()) ...             // set state, step index and totals
///   results.add_frame(step, time, positions, metrics);             // frame 0 is the start, unless resumed
///   results.save_checkpoint(checkpoint);                           // at the start, and whenever wanted
///   results.close(summary);                                        // then reports can be written to
///   working_path() results.publish();
class ResultFolder {
 public:
  /// Creates the folders above DIR that are missing (created_parents). Throws FileError before anything is
  /// simulated: DIR exists (see IfExists), another run is writing it, its parent is not writable, frames_of
  /// differs from that of the run to resume, nothing to resume from is whole and fits the scene and the
  /// precision (read_checkpoint). The scene must outlive the folder.
  ResultFolder(const std::filesystem::path& dir, const Scene& scene, const std::string& scene_text,
               const ResultOptions& options = {}, Precision precision = Precision::float64);
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  /// The checkpoint that the run continues from; frames up to its step have been carried over.
  const std::optional<Checkpoint>& resumed_from() const { return resumed_from_; }
  /// Where that was found: DIR, or what an earlier run left beside it; empty when nothing is resumed.
  const std::filesystem::path& resumed_folder() const { return resumed_folder_; }
  /// Asked to resume, it found what killed runs left, but nothing to go on from: the run starts anew.
  bool starts_anew() const { return options_.if_exists == IfExists::resume && !resumed_from_; }
  /// DIR: absolute, links followed.
  const std::filesystem::path& path() const { return working_.target(); }
  const std::vector<std::filesystem::path>& created_parents() const { return working_.parents(); }
  std::int64_t frame_count() const { return frame_count_; }
  /// Garments, the first ones, whose positions frames keep.
  std::size_t frames_of() const { return layout_.frames_of(); }
  /// Whether frames keep loads of contacts between cloths.
  bool has_contact_loads() const { return layout_.has_contact_loads; }
  /// Worst status of a garment in all frames so far.
  StepStatus worst_status(std::size_t garment) const { return worst_[garment]; }
  /// Where files lie until publish, and after it.
  const std::filesystem::path& working_path() const { return working_.path(); }

  /// Hands a frame to the thread that appends it to trajectory.h5, metrics.csv and, on request, frames/.
  /// `positions` [m], `metrics` and, where frames keep them, `loads` have one entry per garment; of positions
  /// and loads only the first frames_of() are used; `bodies` of the scene. Throws NumericalError for a
  /// non-finite number (nothing is written), ShapeError, and FileError for this frame or one before.
  void add_frame(std::int64_t step, double time, const std::vector<std::vector<Vec3d>>& positions,
                 const std::vector<FrameMetrics>& metrics, const std::vector<BodyState>& bodies = {},
                 const std::vector<ClothLoads>& loads = {});
  /// Replaces checkpoint.h5 once all frames before it are on the disk.
  void save_checkpoint(const Checkpoint& checkpoint);
  /// Writes summary.json and closes the trajectory; no frame can be added afterwards.
  void close(const RunSummary& summary);
  /// Renames to DIR, and removes the folder that the run was resumed from, and what killed runs left of which
  /// this result has everything; call close first.
  void publish();
  /// Text after an error: what of the run will stay, where, and how to go on from there; "" when nothing
  /// will. No frame can be added afterwards.
  std::string remains();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void find_checkpoint();
  bool supersedes(const std::filesystem::path& leftover) const;
  std::size_t chosen_frames_of() const;
  void start_files();
  void carry_over();
  void push(TrajectoryFrame frame);
  void write(const TrajectoryFrame& frame);
  void flush();

  const Scene& scene_;
  const ResultOptions options_;
  const Precision precision_;  // of the run
  WorkingFolder working_;
  TrajectoryLayout layout_;
  Mesh mesh_;  // all garments, for frames/
  std::vector<std::string> names_;
  std::vector<StepStatus> worst_;  // shape [garment]
  std::optional<std::uint64_t> scene_digest_;
  std::optional<Checkpoint> resumed_from_;
  std::filesystem::path resumed_folder_;
  const std::string scene_text_;
  std::int64_t last_step_ = 0;                       // of checkpoint.h5
  std::int64_t frame_count_ = 0, first_frames_ = 1;  // the start, or what was carried over
  std::optional<double> checkpoint_time_;            // of checkpoint.h5 [s]
  bool published_ = false, has_checkpoint_ = false;  // the latter: of steps of this run
  bool stays_ = false;
  // Of the thread, from here on.
  std::optional<TrajectoryWriter> trajectory_;
  std::unique_ptr<std::FILE, CloseFile> metrics_;
  std::unique_ptr<FrameWriter> writer_;
};

}  // namespace isocloth

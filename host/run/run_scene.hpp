// Runs a scene into a result folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/files/file_access.hpp"
#include "host/results/result_options.hpp"
#include "host/results/run_record.hpp"
#include "host/run/equilibrium_search.hpp"
#include "host/run/sew.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

struct RunRequest {
  std::filesystem::path scene, output;
  ExecutionOptions execution;  ///< options of the simulation; their monitor ends the run
  ResultOptions result;
  std::optional<EquilibriumSettings>
      equilibrium{};  ///< not its motion is wanted, but where it comes to equilibrium
  /// Pause between checkpoints in wall time at most [s]; shorter where that costs next to nothing.
  double checkpoint_every = 60;
  /// Test after every step whether cloth passes through cloth (host/run/certificate.hpp); counts as wall
  /// time.
  bool certify = false;
  FileAccess access{};  ///< access to files that the scene names
};

/// Where a run begins.
struct RunStart {
  std::int64_t step_index = 0, step_count = 0;         ///< steps done before, and steps of the whole run
  double time = 0;                                     ///< time of the scene when the run begins [s]
  std::vector<std::filesystem::path> created_folders;  ///< folders made above the result, from the top down
  /// What the run goes on from, unless that is the result folder itself or nothing.
  std::filesystem::path resumed_folder;
  bool meets_cloth = false;  ///< whether cloth meets cloth, contact.cloth
};

/// Hears of a run, in the thread that runs it; what it throws counts as an error of the run.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// The scene is read; from here on the monitor ends set-up and steps, before it hanging of cloth alone.
  virtual void on_set_up() {}
  /// After each step of sewing, before on_start().
  virtual void on_sewing(const SewingProgress&) {}
  /// After sewing, and the warnings of it.
  virtual void on_sewn(const SewnScene&) {}
  /// A line that RunSummary::warnings has, too.
  virtual void on_warning(const std::string&) {}
  virtual void on_start(const RunStart&) {}
  /// realtime_factor: simulated seconds per second of wall time up to here.
  virtual void on_step([[maybe_unused]] std::int64_t done, [[maybe_unused]] double realtime_factor) {}
  /// The last step is done; checkpoint and report are still to be written.
  virtual void on_last_step() {}
};

/// Simulates, writes frames, and publishes the folder with its report; interrupted, stopped or failed runs
/// too leave a valid folder and a checkpoint: of the state in which they were interrupted, or of the one
/// before the step that missed its tolerance or left the finite numbers. Returns the summary; its status says
/// how it ended. What the monitor says after that step is not heeded, and may be unsaid. Throws Interrupted
/// during set-up, and SceneError, MeshError, FileError, DeviceError before anything is simulated, and leaves
/// nothing then; afterwards FileError for whatever goes wrong, with the place where frames and checkpoint are
/// kept. A report that cannot be written is such an error, too, but the rest is published. observer: null:
/// nobody. Checked in tests/run.
///
/// At rest: frames are steps of the search (EquilibriumSearch), one scene.step apart in time, whatever their
/// length. "stopped" where most_steps do not get there. Not resumed.
RunSummary run_scene(const RunRequest& request, RunObserver* observer = nullptr);

}  // namespace isocloth

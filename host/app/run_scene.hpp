// Runs a scene into a result folder.
#pragma once

#include <filesystem>

#include "host/results/result_folder.hpp"
#include "host/simulation.hpp"

namespace isocloth {

struct RunRequest {
  std::filesystem::path scene, output;
  ExecutionOptions execution;
  ResultOptions result;
  bool quiet = false;            ///< no progress
  double checkpoint_every = 60;  ///< [s] of wall time at most; more often where that costs next to nothing
};

/// Simulates, writes frames, and publishes the folder with its report; interrupted, stopped or failed runs
/// too leave a valid folder and a checkpoint: of the state in which they were interrupted, or of the one
/// before the step that missed its tolerance or left the finite numbers. Returns the summary; its status says
/// how it ended. Throws Interrupted during set-up, and SceneError, MeshError, FileError, DeviceError before
/// anything is simulated, and leaves nothing then; afterwards FileError for whatever goes wrong, with the
/// place where frames and checkpoint are kept. A report that cannot be written is such an error, too, but the
/// rest is published.
RunSummary run_scene(const RunRequest& request);

/// Writes report.html of a result folder of that scene from its trajectory. Throws FileError, ShapeError.
void write_folder_report(const std::filesystem::path& folder, const Scene& scene, const RunSummary& summary);

/// The processor's name.
std::string machine_name();

}  // namespace isocloth

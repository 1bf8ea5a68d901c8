// Runs the cases of a sweep as batches of garments and keeps its table on disk.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/files/file_access.hpp"
#include "host/results/result_folder.hpp"
#include "host/state/execution_options.hpp"
#include "host/sweep/sweep_table.hpp"

namespace isocloth {

/// How many cases of so many bytes each are simulated together: 128, less if they need more than 1 GiB.
std::size_t cases_at_once(std::size_t bytes_each);

struct SweepRequest {
  std::filesystem::path scene, output;
  std::vector<std::string> vary;  ///< numbers that vary and their values, see make_sweep_plan
  std::optional<std::size_t> samples;
  std::uint64_t seed = 0;
  std::vector<std::string> measures;
  std::string against;  ///< "", "base" (the scene as it stands) or a file or folder: ReferencePath
  std::optional<SweepWindow> window;  ///< times of which frames count; none: the whole run
  double case_seconds = 0;            ///< wall time that a case may take [s]; 0: any
  std::size_t batch = 0;              ///< cases simulated together; 0: 128, less if they need more than 1 GiB
  IfExists if_exists = IfExists::refuse;
  ExecutionOptions execution;  ///< options of the simulations; their monitor interrupts the sweep
  FileAccess access{};         ///< access to files that the scene names
};

struct SweepOutcome {
  SweepTable table;
  bool is_complete = false;
  std::vector<std::string> losses;  ///< which cases that were run now failed, with what values, when and why
  std::vector<std::string> warnings;  ///< what else should be known of cases that were run now
};

/// Told between steps: `done` of `total` case steps, simulated seconds of all cases per second of wall time.
using SweepProgress = std::function<void(std::int64_t done, std::int64_t total, double realtime_factor)>;

/// Simulates all cases of a scene with one garment, a case that misses its tolerance or fails beside the
/// others, ends each as a run of it would end (on_violation) or after case_seconds, and writes into the
/// output folder, made with the folders above it: scene.json, sweep.csv and sweep.json after a batch (whole
/// at any moment; after each, but of a large table only where writing takes little of the time), sweep.svg
/// and sweep.html at the end. Every case is read before the first is run. An interrupted sweep drops the
/// batch that it was in; resumed, it goes on after the last one written, and its table is the uninterrupted
/// one byte for byte. The table does not depend on the batch size. Throws SceneError, MeshError, FileError,
/// ShapeError, DeviceError, NumericalError (a reference that missed its tolerance); when it does so before
/// the first batch is done, nothing is left behind, and an earlier sweep is as it was.
SweepOutcome run_sweep(const SweepRequest& request, const SweepProgress& progress);

}  // namespace isocloth

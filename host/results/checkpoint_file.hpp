// checkpoint.h5: everything that a restart needs, bit for bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/model/scene.hpp"
#include "host/results/run_record.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

struct Checkpoint {
  std::int64_t step_index = 0;
  Precision precision = Precision::float64;
  std::vector<GarmentState> garments;
  std::vector<BodyState> bodies;
  /// What the next frame's metrics had counted when the checkpoint was written (measures are not kept), shape
  /// [garment] or empty.
  std::vector<FrameMetrics> since_frame;
  RunSummary summary;  ///< totals of the run so far
};

/// Writes under a temporary name beside `path`, then renames: the old checkpoint stays until the new one is
/// whole. digest: scene_digest(scene), where it is known. Throws ShapeError, NumericalError (a non-finite
/// state) and FileError.
void write_checkpoint(const std::filesystem::path& path, const Scene& scene, const Checkpoint& checkpoint,
                      std::optional<std::uint64_t> digest = {});

/// Throws FileError when the file is missing, damaged, of another version, of another scene (scene_digest) or
/// another precision.
Checkpoint read_checkpoint(const std::filesystem::path& path, const Scene& scene, Precision precision);

}  // namespace isocloth

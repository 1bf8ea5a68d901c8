// What is asked of a result folder.
#pragma once

#include <cstddef>
#include <optional>

namespace isocloth {

/// What to do with a folder that is already there.
enum class IfExists {
  refuse,     ///< an existing folder is refused unless it is empty
  overwrite,  ///< a result folder is replaced when the run finishes; anything else is refused
  resume,     ///< a result folder with a checkpoint is continued, and replaced when the run finishes
};

struct ResultOptions {
  IfExists if_exists = IfExists::refuse;
  bool ply_frames = false;  ///< write frames/000000.ply, ... too
  /// Garments, the first ones, whose positions frames keep; none: as many as fit into 256 MiB, one at least.
  /// A resumed run keeps those that it began with.
  std::optional<std::size_t> frames_of = {};
  /// Metrics have EnergySums (host/energy). A resumed run keeps what it began with.
  bool has_energies = false;
};

}  // namespace isocloth

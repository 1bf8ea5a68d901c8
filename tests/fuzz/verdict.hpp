// What must hold of every outcome, whatever the scene says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/subprocess.hpp"

namespace isocloth {

/// What is wrong: faults of one kind are counted together.
struct Fault {
  std::string kind, detail;
};
using Faults = std::vector<Fault>;

/// Of a command that reads a scene or a folder: no signal, an exit code of 0, 1 or 2 (130 when interrupted),
/// one clear line on standard error when it refuses.
Faults faults_of_command(const Finished& ended, bool is_interrupted = false);

/// Of a run that ended, but not with a refusal: its folder is whole, every number in it is finite, and the
/// figures that it claims hold in its frames.
Faults faults_of_result(const std::filesystem::path& scene, const std::filesystem::path& folder,
                        int exit_code);

}  // namespace isocloth

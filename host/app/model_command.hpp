// Commands of models beside the core.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "host/files/file_access.hpp"
#include "host/results/result_options.hpp"

namespace isocloth {

/// What such a command takes from options that others have, too.
struct SharedOptions {
  FileAccess access{};  ///< to files that the scene names
  IfExists if_exists = IfExists::refuse;
  bool json = false, quiet = false;
  // Of the command `rest`.
  std::filesystem::path scene{}, output{};
  double tolerance = 0;
};

class ModelCommand {
 public:
  virtual ~ModelCommand() = default;
  /// Its own options, which this object must outlive the parsing of.
  virtual void add_options(CLI::App& command) = 0;
  /// Whether the options ask for it.
  virtual bool is_chosen() const { return true; }
  /// Returns the exit code. Throws SceneError, MeshError, FileError, NumericalError, and SceneError where
  /// this build lacks the model.
  virtual int run(const SharedOptions& options) = 0;
};

/// The command `drape`: cloth hung by geometry alone.
std::unique_ptr<ModelCommand> drape_command();
/// Of the command `rest` with --recipe: energies of particles, minimised.
std::unique_ptr<ModelCommand> minimise_command();

/// Where a build lacks one of them, in its place; `option`: that asks for it, empty: the command itself. Its
/// run() throws SceneError that says so.
std::unique_ptr<ModelCommand> missing_command(const std::string& what, const std::string& option);

}  // namespace isocloth

// Errors that say in which file.
#pragma once

#include <filesystem>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

/// What work() returns. What it throws of its input begins with the name of the file that said it, and ends
/// with `after`, as it is then.
template <class Work>
auto in_file(const std::filesystem::path& file, const Work& work, const std::string& after = {}) {
  const auto named = [&](const Error& error) { return text(file.string(), ": ", error.what(), after); };
  try {
    return work();
  } catch (const SceneError& error) {
    throw SceneError(named(error));
  } catch (const MeshError& error) {
    throw MeshError(named(error));
  } catch (const FileError& error) {
    throw FileError(named(error));
  }
}

}  // namespace isocloth

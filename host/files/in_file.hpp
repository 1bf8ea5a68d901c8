// Errors that say in which file.
#pragma once

#include <filesystem>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

/// What work() returns. What it throws of its input is thrown with the message told(error).
template <class Work, class Told>
auto retold(const Work& work, const Told& told) {
  try {
    return work();
  } catch (const SceneError& error) {
    throw SceneError(told(error));
  } catch (const MeshError& error) {
    throw MeshError(told(error));
  } catch (const ShapeError& error) {
    throw ShapeError(told(error));
  } catch (const FileError& error) {
    throw FileError(told(error));
  }
}

/// Returns what work() returns. What it throws of its input is thrown with a message that begins with `file`.
template <class Work>
auto in_file(const std::filesystem::path& file, const Work& work) {
  return retold(work, [&](const Error& error) { return text(file.string(), ": ", error.what()); });
}

}  // namespace isocloth

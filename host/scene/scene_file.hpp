// Scenes from JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/files/file_access.hpp"

namespace isocloth {

/// Reads a scene; files that it names are looked for relative to its own folder, and lie in the tree of that
/// folder or of one of `access`. `scene_schema()` documents the format. Throws SceneError (syntax with line
/// and column, unknown key with the nearest known one, wrong type or range, a selector that selects nothing,
/// everything that validate_scene refuses), MeshError and FileError, each one line that begins with a file
/// name.
Scene read_scene(const std::filesystem::path& path, const FileAccess& access = {});

/// The same; `warnings` receives what the file says that was likely meant otherwise, a line each: pins far
/// from the points that name them, recordings that are shorter than the run.
Scene read_scene(const std::filesystem::path& path, std::vector<std::string>& warnings,
                 const FileAccess& access = {});

/// The text of a scene file for a copy in another folder: the same, with fabrics from files written out and
/// the other files that it names made absolute.
std::string portable_scene_text(const std::filesystem::path& path, const FileAccess& access = {});

/// JSON Schema (draft 2020-12) of the scene format: every key with type, range, default, meaning and unit.
std::string scene_schema();

}  // namespace isocloth

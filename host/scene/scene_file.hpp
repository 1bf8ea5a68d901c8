// Scenes from JSON.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/monitor.hpp"
#include "engine/model/scene.hpp"
#include "engine/model/sewing_plan.hpp"
#include "host/files/file_access.hpp"

namespace isocloth {

/// Reads a scene; files that it names are looked for relative to its own folder, and lie in the tree of that
/// folder or of one of `access`. `scene_schema()` documents the format. Throws SceneError (syntax with line
/// and column, unknown key with the nearest known one, wrong type or range, a selector that selects nothing,
/// everything that validate_scene refuses), MeshError and FileError, each one line that begins with a file
/// name.
Scene read_scene(const std::filesystem::path& path, const FileAccess& access = {});

/// Reads a scene as the first read_scene() does; `warnings` receives what the file says that was likely meant
/// otherwise, a line each: pins far from the points that name them, recordings that are shorter than the run.
/// Throws Interrupted when the monitor says stop.
Scene read_scene(const std::filesystem::path& path, std::vector<std::string>& warnings,
                 const FileAccess& access = {}, const MonitorView& monitor = {});

/// Reads a scene with warnings; `sewing` receives what the seams of each garment are called, and how the file
/// asks for them to be sewn before time begins. The scene itself is unsewn: see sew() of host/run/sew.hpp.
Scene read_scene(const std::filesystem::path& path, std::vector<std::string>& warnings, SewingPlan& sewing,
                 const FileAccess& access = {}, const MonitorView& monitor = {});

/// The text of a scene file for a copy in another folder: the same, with fabrics from files written out and
/// the other files that it names made absolute.
std::string portable_scene_text(const std::filesystem::path& path, const FileAccess& access = {});

/// JSON Schema (draft 2020-12) of the scene format: every key with type, range, default, meaning and unit.
std::string scene_schema();

}  // namespace isocloth

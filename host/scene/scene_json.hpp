// The tree of a scene file, and the files that it names.
#pragma once

#include <filesystem>

#include "host/files/json_text.hpp"

namespace isocloth {

/// The tree of a scene file, with what the files of fabrics have (fabric.file) in the place of their names;
/// keys beside a name come first. Throws SceneError and FileError beginning with the file that is wrong.
Json read_scene_json(const std::filesystem::path& path);

/// Files that a scene names are under the key `file`, whatever they hold. `changed`: set where one was
/// relative.
void make_files_absolute(Json& value, const std::filesystem::path& folder, bool& changed);

}  // namespace isocloth

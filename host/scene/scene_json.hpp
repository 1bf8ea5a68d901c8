// The tree of a scene file, and the files that it names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/files/file_access.hpp"
#include "host/files/json_text.hpp"

namespace isocloth {

/// The tree of a scene file, with what the files of fabrics have (fabric.file) in the place of their names;
/// keys beside a name come first. All files that it names may be read: they lie in the tree of its folder, or
/// `access` has theirs. Old names of keys are replaced by present ones, with a line in `notes` for each.
/// Throws SceneError and FileError beginning with the file that is wrong.
Json read_scene_json(const std::filesystem::path& path, const FileAccess& access,
                     std::vector<std::string>& notes);
Json read_scene_json(const std::filesystem::path& path, const FileAccess& access);

/// Throws SceneError beginning with `source` and the key unless each file that a tree names may be read
/// (require_access of host/files/file_access.hpp): texts under the key `file`, whatever they hold. `key` of
/// the tree, empty: of the whole file.
void require_access(const Json& tree, const std::filesystem::path& folder, const FileAccess& access,
                    const std::string& source, const std::string& key);

/// Files that a scene names are under the key `file`, whatever they hold. `changed`: set where one was
/// relative.
void make_files_absolute(Json& value, const std::filesystem::path& folder, bool& changed);

}  // namespace isocloth

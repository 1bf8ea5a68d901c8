// Which files a scene may read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isocloth {

/// Folders besides the scene's own in whose trees files that it names may lie; "/": any file. Who allows them
/// knows the scene: a scene cannot.
struct FileAccess {
  std::vector<std::filesystem::path> folders;

  /// These folders, after `folder` as the first; the folder of a file is that in which it lies.
  FileAccess with(const std::filesystem::path& folder) const;
};

/// Throws SceneError beginning with `source` and `key` unless the file `name`, relative to `folder`, lies in
/// the tree of a folder of `access` after all links are followed. It need not be there.
void require_access(const std::string& name, const std::filesystem::path& folder, const FileAccess& access,
                    const std::string& source, const std::string& key);

}  // namespace isocloth

#include "host/files/file_access.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

fs::path or_here(const fs::path& folder) { return folder.empty() ? "." : folder; }

/// Without links, ".." and a slash at the end; empty: they cannot be followed.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path found = error ? fs::path() : fs::weakly_canonical(absolute, error);
  if (error) return {};
  return found.has_filename() || found == found.root_path() ? found : found.parent_path();
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace

FileAccess FileAccess::with(const fs::path& folder) const {
  FileAccess more{{or_here(folder)}};
  more.folders.insert(more.folders.end(), folders.begin(), folders.end());
  return more;
}

void require_access(const std::string& name, const fs::path& folder, const FileAccess& access,
                    const std::string& source, const std::string& key) {
  const std::string found = text(source, ": ", key, ": found \"", printable(name, 200), "\"");
  // The system reads names up to the first zero, and would open another file than the one that was checked.
  if (name.find('\0') != std::string::npos)
    throw SceneError(text(found, ", a name with a zero byte, expected one without"));
  const fs::path path = resolved(or_here(folder) / name);
  if (path.empty()) throw SceneError(text(found, ", whose links lead in circles, expected a file"));
  for (const fs::path& root : access.folders)
    if (const fs::path tree = resolved(or_here(root)); !tree.empty() && is_inside(path, tree)) return;
  throw SceneError(
      text(found, ", which is ", path.string(), ", expected a file in the tree of ",
           access.folders.empty() ? "a folder that is allowed" : resolved(access.folders[0]).string(),
           "; if it may be read: --allow ", path.parent_path().string(), ", in Python allow="));
}

}  // namespace isocloth

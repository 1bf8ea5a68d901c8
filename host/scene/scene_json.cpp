#include "host/scene/scene_json.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/in_file.hpp"
#include "host/files/key_reader.hpp"
#include "host/files/renamed_keys.hpp"
#include "host/scene/fabric_keys.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

/// A member of a tree by those above it. Lists may be long, and few members name files: keys are made for
/// these.
struct Place {
  const Place* above;
  const std::string* name;  ///< name of a member of an object; null: it is a member of a list
  std::size_t index = 0;    ///< number of a member of a list

  std::string key() const {
    const std::string before = above ? above->key() : "";
    return name == nullptr ? text(before, "[", index, "]") : before.empty() ? *name : before + "." + *name;
  }
};

/// Throws SceneError unless each file that the tree at `place` names may be read.
void require_files(const Place* place, const Json& tree, const fs::path& folder, const FileAccess& access,
                   const std::string& source) {
  if (tree.is_array()) {
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const Place own{place, nullptr, i};
      if (tree[i].is_structured()) require_files(&own, tree[i], folder, access, source);
    }
    return;
  }
  for (const auto& [name, member] : tree.items()) {
    const Place own{place, &name};
    if (name == "file" && member.is_string())
      require_access(member.get<std::string>(), folder, access, source, own.key());
    else if (member.is_structured())
      require_files(&own, member, folder, access, source);
  }
}

/// An object of a fabric's keys without `file`; `key` of it, for messages.
Json with_fabric_file(Json fabric, const fs::path& folder, const FileAccess& access, const std::string& key,
                      std::vector<std::string>& notes) {
  if (!fabric.is_object() || !fabric.contains("file") || !fabric["file"].is_string()) return fabric;
  const fs::path path = folder / fabric["file"].get<std::string>();
  Json all = read_json(path);
  if (!all.is_object() || all.contains("file"))
    throw SceneError(text(path.string(),
                          ": found no object of a fabric's keys without a file of its own, expected one; ",
                          key, ".file names it"));
  rename_old_fabric_keys(all, path.string(), notes);
  read_root_keys(all, path.string(), [](Keys& keys) {
    GarmentSpec scratch;
    describe_fabric(keys, scratch);
  });
  require_access(all, path.parent_path(), access, path.string(), "");
  bool changed = false;
  make_files_absolute(all, path.parent_path(), changed);
  fabric.erase("file");
  all.update(fabric);
  return all;
}

}  // namespace

Json read_scene_json(const fs::path& path, const FileAccess& others) {
  std::vector<std::string> notes;
  return read_scene_json(path, others, notes);
}

Json read_scene_json(const fs::path& path, const FileAccess& others, std::vector<std::string>& notes) {
  Json root = read_json(path);
  in_file(path, [&] { rename_old_keys(root, notes); });
  const FileAccess access = others.with(path.parent_path());
  if (root.is_structured()) require_access(root, path.parent_path(), access, path.string(), "");
  if (!root.is_object() || !root.contains("garments") || !root["garments"].is_array()) return root;
  for (std::size_t g = 0; g < root["garments"].size(); ++g) {
    Json& garment = root["garments"][g];
    if (garment.is_object() && garment.contains("fabric"))
      garment["fabric"] = with_fabric_file(garment["fabric"], path.parent_path(), access,
                                           text(path.string(), ": garments[", g, "].fabric"), notes);
  }
  return root;
}

void require_access(const Json& tree, const fs::path& folder, const FileAccess& access,
                    const std::string& source, const std::string& key) {
  const Place root{nullptr, &key};
  require_files(key.empty() ? nullptr : &root, tree, folder, access, source);
}

void make_files_absolute(Json& value, const fs::path& folder, bool& changed) {
  for (auto& [key, member] : value.items()) {
    if (key == "file" && value.is_object() && member.is_string()) {
      const fs::path file = member.get<std::string>();
      if (file.is_absolute()) continue;
      member = fs::absolute(folder / file).lexically_normal().string();
      changed = true;
    } else if (member.is_structured()) {
      make_files_absolute(member, folder, changed);
    }
  }
}

}  // namespace isocloth

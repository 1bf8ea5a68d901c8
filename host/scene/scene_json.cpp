#include "host/scene/scene_json.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/key_reader.hpp"
#include "host/scene/fabric_keys.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

/// An object of a fabric's keys without `file`; `key` of it, for messages.
Json with_fabric_file(Json fabric, const fs::path& folder, const std::string& key) {
  if (!fabric.is_object() || !fabric.contains("file") || !fabric["file"].is_string()) return fabric;
  const fs::path path = folder / fabric["file"].get<std::string>();
  Json all = read_json(path);
  if (!all.is_object() || all.contains("file"))
    throw SceneError(text(path.string(),
                          ": found no object of a fabric's keys without a file of its own, expected one; ",
                          key, ".file names it"));
  read_root_keys(all, path.string(), [](Keys& keys) {
    GarmentSpec scratch;
    describe_fabric(keys, scratch);
  });
  bool changed = false;
  make_files_absolute(all, path.parent_path(), changed);
  fabric.erase("file");
  all.update(fabric);
  return all;
}

}  // namespace

Json read_scene_json(const fs::path& path) {
  Json root = read_json(path);
  if (!root.is_object() || !root.contains("garments") || !root["garments"].is_array()) return root;
  for (std::size_t g = 0; g < root["garments"].size(); ++g) {
    Json& garment = root["garments"][g];
    if (garment.is_object() && garment.contains("fabric"))
      garment["fabric"] = with_fabric_file(garment["fabric"], path.parent_path(),
                                           text(path.string(), ": garments[", g, "].fabric"));
  }
  return root;
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

#include "host/io/scene_file.hpp"

#include <map>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/io/garment_maker.hpp"
#include "host/io/key_reader.hpp"
#include "host/io/replicas.hpp"
#include "host/io/text_file.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

/// `root`: what `spec` was read from.
Scene make_scene(const SceneSpec& spec, const Json& root, const fs::path& path) {
  Scene scene = spec.scene;
  if (scene.name.empty()) scene.name = path.stem().string();
  GarmentMaker maker(path.parent_path(), scene.seed);
  std::map<std::string, std::size_t> names;  // and the number of the garment in the file
  for (std::size_t g = 0; g < spec.garments.size(); ++g) {
    const std::string key = text("garments[", g, "]");
    for (const GarmentSpec& replica :
         replicas_of(spec.garments[g], root["garments"][g], key, g, scene.seed)) {
      try {
        scene.garments.push_back(maker.make(replica, key, g));
      } catch (const SceneError& error) {
        if (!spec.garments[g].is_batch()) throw;
        throw SceneError(text(error.what(), "; in ", replica.name));
      } catch (const MeshError& error) {
        if (!spec.garments[g].is_batch()) throw;
        throw MeshError(text(error.what(), "; in ", replica.name));
      }
      const std::string& name = scene.garments.back().name;
      const auto [earlier, is_new] = names.emplace(name, g);
      if (!is_new) {
        throw SceneError(text(key, ".name: found \"", name, "\", already the name of garments[",
                              earlier->second, "], expected another"));
      }
    }
  }
  validate_scene(scene);
  return scene;
}

/// Files that a scene names are under this key, whatever they hold.
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

}  // namespace

Scene read_scene(const fs::path& path) {
  const Json root = parse_json(read_whole_file(path), path.string());
  SceneSpec spec;
  read_root_keys(root, path.string(), [&spec](Keys& keys) { describe_scene(keys, spec); });
  try {
    return make_scene(spec, root, path);
  } catch (const SceneError& error) {
    throw SceneError(text(path.string(), ": ", error.what()));
  } catch (const MeshError& error) {
    throw MeshError(text(path.string(), ": ", error.what()));
  } catch (const FileError& error) {
    throw FileError(text(path.string(), ": ", error.what()));
  } catch (const std::bad_alloc&) {
    throw SceneError(text(path.string(), ": the scene does not fit into memory; use smaller meshes"));
  }
}

std::string portable_scene_text(const fs::path& path) {
  const std::string content = read_whole_file(path);
  Json root = parse_json(content, path.string());
  bool changed = false;
  make_files_absolute(root, path.parent_path(), changed);
  return changed ? root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : content;
}

std::string scene_schema() {
  return schema_of("isocloth scene", [](Keys& keys) {
    SceneSpec spec;
    describe_scene(keys, spec);
  });
}

}  // namespace isocloth

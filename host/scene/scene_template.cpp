#include "host/scene/scene_template.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/scene/scene_file.hpp"

namespace isocloth {
namespace {

constexpr const char* garment_key = "garments[0]";

/// The only garment of the file, read without error before.
const Json& only_garment(const Json& root, const std::string& source) {
  const Json& garments = root.at("garments");
  if (garments.size() != 1) {
    throw SceneError(text(source, ": garments: found ", garments.size(),
                          ", expected one: garments do not touch each other, so sweep one at a time"));
  }
  for (const char* key : {"replicas", "vary"}) {
    if (garments[0].contains(key)) {
      throw SceneError(text(source, ": ", garment_key, ".", key,
                            ": found it in the scene of a sweep, expected none; take it out"));
    }
  }
  return garments[0];
}

}  // namespace

SceneTemplate::SceneTemplate(const std::filesystem::path& path) : SceneTemplate(path, read_json(path)) {}

SceneTemplate::SceneTemplate(const std::filesystem::path& path, const Json& root)
    : path_(path),
      base_(read_scene(path)),
      garment_(only_garment(root, path.string()), garment_key),
      maker_(path.parent_path(), base_.seed) {}

Garment SceneTemplate::garment(const std::vector<NumberValue>& values) {
  std::string where;
  const auto in_file = [&](const std::exception& error) {
    return text(path_.string(), ": ", error.what(), where);
  };
  try {
    const GarmentSpec spec = garment_.with(values);
    where = with_values(values);
    Garment garment = maker_.make(spec, garment_key, 0);
    garment.name = base_.garments[0].name;
    return garment;
  } catch (const SceneError& error) {
    throw SceneError(in_file(error));
  } catch (const MeshError& error) {
    throw MeshError(in_file(error));
  } catch (const FileError& error) {
    throw FileError(in_file(error));
  }
}

}  // namespace isocloth

#include "host/scene/scene_template.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/in_file.hpp"
#include "host/files/text_file.hpp"
#include "host/scene/scene_file.hpp"
#include "host/scene/scene_json.hpp"

namespace isocloth {
namespace {

constexpr const char* garment_key = "garments[0]";

/// The only garment of the file, read without error before.
const Json& only_garment(const Json& root, const std::string& source) {
  const Json& garments = root.at("garments");
  if (garments.size() != 1) {
    throw SceneError(text(source, ": garments: found ", garments.size(),
                          ", expected one: its numbers are varied case by case"));
  }
  for (const char* key : {"replicas", "vary"}) {
    if (garments[0].contains(key)) {
      throw SceneError(
          text(source, ": ", garment_key, ".", key,
               ": found it in a scene whose numbers are varied case by case, expected none; take it out"));
    }
  }
  return garments[0];
}

}  // namespace

SceneTemplate::SceneTemplate(const std::filesystem::path& path, const FileAccess& access)
    : SceneTemplate(path, access, read_scene_json(path, access)) {}

SceneTemplate::SceneTemplate(const std::filesystem::path& path, const FileAccess& access, const Json& root)
    : path_(path),
      access_(access),
      base_(read_scene(path, access)),
      garment_(only_garment(root, path.string()), garment_key),
      maker_(path.parent_path(), base_.seed) {}

Scene SceneTemplate::side_by_side(std::vector<Garment> garments) const {
  Scene scene = base_;
  scene.projection.on_violation = scene.impulse.on_violation = OnViolation::go_on;
  scene.contact.pairs.clear();
  scene.contact.cloth_pairs.clear();
  for (std::size_t g = 0; g < garments.size(); ++g) {
    garments[g].world = static_cast<Index>(g);
    for (FrictionPair pair : base_.contact.pairs) {
      pair.garment = g;
      scene.contact.pairs.push_back(pair);
    }
    for (ClothFrictionPair pair : base_.contact.cloth_pairs) {
      pair.garment = pair.other = g;
      scene.contact.cloth_pairs.push_back(pair);
    }
  }
  for (Keyframes& keyframes : scene.keyframes)
    if (!keyframes.garments.empty())
      for (std::size_t g = 1; g < garments.size(); ++g) keyframes.garments.push_back(g);
  scene.garments = std::move(garments);
  return scene;
}

Json SceneTemplate::json_with(const std::vector<NumberValue>& values) const {
  Json root = parse_json(portable_scene_text(path_, access_), path_.string());
  for (const auto& [path, value] : values)
    set_number(root["garments"][0], find_number(numbers(), path, garment_key), value);
  return root;
}

Garment SceneTemplate::garment(const std::vector<NumberValue>& values) {
  std::string where;
  return retold(
      [&] {
        const GarmentSpec spec = garment_.with(values);
        where = with_values(values);
        Garment garment = maker_.make(spec, garment_key, 0);
        garment.name = base_.garments[0].name;
        return garment;
      },
      [&](const Error& error) { return text(path_.string(), ": ", error.what(), where); });
}

}  // namespace isocloth

// A scene of one garment whose numbers can be replaced, case by case.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/files/file_access.hpp"
#include "host/scene/garment_maker.hpp"
#include "host/scene/replicas.hpp"

namespace isocloth {

class SceneTemplate {
 public:
  /// Throws as read_scene does, and SceneError for more than one garment, replicas or vary.
  explicit SceneTemplate(const std::filesystem::path& path, const FileAccess& access = {});

  /// The scene as it stands.
  const Scene& base() const { return base_; }
  const std::vector<NumberPath>& numbers() const { return garment_.numbers(); }
  const std::filesystem::path& path() const { return path_; }
  /// The garment with other numbers. Throws SceneError, MeshError, FileError, beginning with the file's name.
  Garment garment(const std::vector<NumberValue>& values);
  /// The scene with these garments in the place of its own, each in a world of its own: what the file says of
  /// its garment goes for each of them, and a step that misses its tolerance stops none.
  Scene side_by_side(std::vector<Garment> garments) const;
  /// The tree of the file with other numbers, for a copy in another folder (portable_scene_text).
  Json json_with(const std::vector<NumberValue>& values) const;

 private:
  SceneTemplate(const std::filesystem::path& path, const FileAccess& access, const Json& root);

  std::filesystem::path path_;
  FileAccess access_;
  Scene base_;
  GarmentTemplate garment_;
  GarmentMaker maker_;
};

}  // namespace isocloth

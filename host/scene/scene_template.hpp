// A scene of one garment whose numbers can be replaced, case by case.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/scene/garment_maker.hpp"
#include "host/scene/replicas.hpp"

namespace isocloth {

class SceneTemplate {
 public:
  /// Throws as read_scene does, and SceneError for more than one garment, replicas or vary.
  explicit SceneTemplate(const std::filesystem::path& path);

  /// The scene as it stands.
  const Scene& base() const { return base_; }
  const std::vector<NumberPath>& numbers() const { return garment_.numbers(); }
  /// The garment with other numbers. Throws SceneError, MeshError, FileError, beginning with the file's name.
  Garment garment(const std::vector<NumberValue>& values);

 private:
  SceneTemplate(const std::filesystem::path& path, const Json& root);

  std::filesystem::path path_;
  Scene base_;
  GarmentTemplate garment_;
  GarmentMaker maker_;
};

}  // namespace isocloth

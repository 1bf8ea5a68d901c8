// Scenes that differ from a good one.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "host/files/json_text.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {

class ChangedScene : public ::testing::Test {
 protected:
  explicit ChangedScene(const char* good) : good_(good) {}
  Scene read(const Json& scene) {
    folder_.write("scene.json", scene.dump());
    return read_scene(folder_ / "scene.json");
  }
  /// What is said of the good scene after a change.
  std::string message(const std::function<void(Json&)>& change) {
    Json scene = parse_json(good_, "good");
    change(scene);
    try {
      read(scene);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "accepted";
  }
  TemporaryFolder folder_;

 private:
  const char* good_;
};

}  // namespace isocloth

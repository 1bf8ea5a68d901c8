// The shipped scenes on small meshes and for few steps, and scenes of what those leave out: what is mutated.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace isocloth {

using Json = nlohmann::ordered_json;

struct SeedScene {
  std::string name;
  Json scene;
  std::map<std::string, std::string> files;  ///< that it names, by name
};

/// Of `folder`/*.json, sorted by name, and those made here. Throws FileError.
std::vector<SeedScene> seed_scenes(const std::filesystem::path& folder);

}  // namespace isocloth

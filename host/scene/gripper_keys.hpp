// What a scene file says of grippers, before their files are read, and of the air.
#pragma once

#include <filesystem>
#include <string>

#include "engine/model/scene.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

struct GripperSpec {
  Gripper gripper;         ///< its motion unless recorded
  std::string poses_file;  ///< of recorded poses
};

void describe_gripper(Keys& keys, GripperSpec& spec);
/// Reads the files that it names, relative to `folder`; `number`: among the grippers of its garment.
Gripper make_gripper(const GripperSpec& spec, const std::string& key, std::size_t number,
                     const std::filesystem::path& folder);

void describe_drag(Keys& keys, Drag& drag);
void describe_wind(Keys& keys, Wind& wind);

}  // namespace isocloth

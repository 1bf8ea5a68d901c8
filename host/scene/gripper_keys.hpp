// What a scene file says of grippers, before their files are read, and of the air.
#pragma once

#include <filesystem>
#include <string>

#include "engine/model/scene.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

struct GripperSpec {
  Gripper gripper;         ///< the gripper, with its motion unless that is recorded
  std::string poses_file;  ///< file of recorded poses
};

void describe_gripper(Keys& keys, GripperSpec& spec);
/// Makes a gripper from its keys and the files that these name, relative to `folder`; `number`: among the
/// grippers of its garment.
Gripper make_gripper(const GripperSpec& spec, const std::string& key, std::size_t number,
                     const std::filesystem::path& folder);

void describe_wind(Keys& keys, Wind& wind);

}  // namespace isocloth

// The keys of a fabric, in a scene or in a file of its own.
#pragma once

#include <filesystem>
#include <string>

#include "host/files/json_text.hpp"
#include "host/scene/scene_keys.hpp"

namespace isocloth {

void describe_fabric(Keys& keys, GarmentSpec& garment);

/// An object of these keys without `file`: what the file has, and in its place what the object itself says.
/// `key` of the object, for messages. Throws SceneError and FileError beginning with the file that is wrong.
Json with_fabric_file(Json fabric, const std::filesystem::path& folder, const std::string& key);

/// Files that a scene names are under the key `file`, whatever they hold.
void make_files_absolute(Json& value, const std::filesystem::path& folder, bool& changed);

}  // namespace isocloth

// Keys of scenes that had other names before: old names are read, with a note, until version 1.0.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/files/json_text.hpp"

namespace isocloth {

/// Gives the keys and words of a scene's tree (projection, contact, the fabrics of garments) their present
/// names, and adds a line to `notes` for each old one, where it is found first. Throws SceneError where a key
/// stands under both.
void rename_old_keys(Json& scene, std::vector<std::string>& notes);
/// As rename_old_keys(), of the object of a fabric whose key is `key`.
void rename_old_fabric_keys(Json& fabric, const std::string& key, std::vector<std::string>& notes);

/// The path of a key with its present name at the end: "fabric.kappa" is "fabric.bending_stiffness".
std::string present_path(std::string_view path);

}  // namespace isocloth

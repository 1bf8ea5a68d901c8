// Reads parsed JSON into the values of a description.
#pragma once

#include <string>

#include "host/files/json_text.hpp"
#include "host/files/keys.hpp"

namespace isocloth {

/// Reads a whole file. Throws SceneError naming `source`, the path of the key, what was found and what was
/// expected: unknown keys (with the nearest known one), missing keys, wrong types, numbers out of range.
void read_root_keys(const Json& root, const std::string& source, const Keys::Describe& describe);

/// Reads an object inside a file as read_root_keys() does; messages begin with the object's `path`.
void read_object_keys(const Json& object, const std::string& path, const Keys::Describe& describe);

}  // namespace isocloth

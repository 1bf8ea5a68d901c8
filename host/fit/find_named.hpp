// Things of a scene by their names.
#pragma once

#include <string>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"

namespace isocloth {

/// The place of the one of that name; throws SceneError beginning with `where` and naming the nearest.
template <class Named>
std::size_t find_named(const std::vector<Named>& all, const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const Named& one : all) {
    if (one.name == name) return names.size();
    names.push_back(one.name);
  }
  throw SceneError(
      text(where, ": found \"", printable(name), "\", expected ",
           names.empty() ? "none: the scene has none"
                         : text("a name of the scene; the nearest is \"", nearest_name(name, names), "\"")));
}

}  // namespace isocloth

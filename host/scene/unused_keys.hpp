// Keys of a scene file that its recipe or mesh does not use.
#pragma once

#include <string>
#include <vector>

#include "engine/model/recipe.hpp"
#include "host/files/json_text.hpp"

namespace isocloth {

/// A line "PATH: no effect with ...: ..." for each key that is given in `root`, a scene file that was read,
/// and that nothing answers to: settings of another family of solvers, stiffness of rows that do not stretch,
/// sewing without seams. What a preset or a sheet of figures says does not count.
std::vector<std::string> unused_keys(const Json& root, const Recipe& recipe);

}  // namespace isocloth

#include "engine/model/models.hpp"

namespace isocloth {

std::string not_in_this_build(const std::string& what) {
  return what + ": not in this build; configure with -DISOCLOTH_MODELS=ON";
}

}  // namespace isocloth

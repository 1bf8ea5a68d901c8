// The command `drape`.
#pragma once

#include <memory>

#include "host/app/model_command.hpp"

namespace isocloth {

/// The command `drape`: hangs the cloth and prints how well its lengths and areas are kept, as JSON if asked.
std::unique_ptr<ModelCommand> make_drape_command();

}  // namespace isocloth
